package httplimit

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
)

// Each address has its own limit, and each /64.
func TestPerClient(t *testing.T) {
	clock := fakeclock.New()
	h := PerClient(2, time.Minute, WithClock(clock))(servedAtOnce)
	const policy = ` | "default";q=2;w=60`
	for i, step := range []struct {
		wait time.Duration
		from string
		want string
	}{
		{0, "192.0.2.1:1", `OK` + policy + ` | "default";r=1;t=120`},
		{0, "192.0.2.1:2", `OK` + policy + ` | "default";r=0;t=120`},
		{0, "[::ffff:192.0.2.1]:3", `Too Many Requests` + policy + ` | "default";r=0;t=120 | 90`},
		{0, "192.0.2.2:1", `OK` + policy + ` | "default";r=1;t=120`},
		{0, "[2001:db8::1]:1", `OK` + policy + ` | "default";r=1;t=120`},
		{0, "[2001:db8::2]:1", `OK` + policy + ` | "default";r=0;t=120`},
		{0, "[2001:db8:0:1::1]:1", `OK` + policy + ` | "default";r=1;t=120`},
		{90 * time.Second, "192.0.2.1:1", `OK` + policy + ` | "default";r=0;t=90`},
	} {
		clock.Advance(step.wait)
		if got := answer(h, step.from); got != step.want {
			t.Errorf("step %d: %s: %s, want %s", i, step.from, got, step.want)
		}
	}
}

// Memory is bounded: who comes when there is no room gets a 503, until others can be
// forgotten.
func TestPerClient_room(t *testing.T) {
	clock := fakeclock.New()
	var why []string
	h := PerClient(1, time.Minute, WithClock(clock), Clients(2),
		OnThrottle(func(_ *http.Request, err error) { why = append(why, err.Error()) }))(servedAtOnce)
	got := []string{}
	for i := range 4 {
		if i == 3 {
			clock.Advance(2 * time.Minute)
		}
		text, _, _ := strings.Cut(answer(h, fmt.Sprintf("192.0.2.%d:1", i)), " | ")
		got = append(got, text)
	}
	if want := "[OK OK Service Unavailable OK]"; fmt.Sprint(got) != want || len(why) != 1 {
		t.Errorf("answered %s for %s, want %s", got, why, want)
	}
}

// A client costs some 200 bytes and its key, as the comment says.
func TestPerClient_memory(t *testing.T) {
	const clients = 20_000
	h := PerClient(100, time.Minute)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	r, w := httptest.NewRequest("GET", "/", nil), httptest.NewRecorder()
	before := heap()
	for i := range clients {
		r.RemoteAddr = fmt.Sprintf("10.0.%d.%d:1", i/250, i%250)
		h.ServeHTTP(w, r)
	}
	if got := (heap() - before) / clients; got < 100 || got > 400 {
		t.Errorf("a client costs %d bytes", got)
	}
	runtime.KeepAlive(h)
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestByAddress(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:ffff::/48")}
	for _, tt := range []struct {
		remote    string
		forwarded []string
		none, by  string // without and with proxies
	}{
		{"192.0.2.1:1", nil, "192.0.2.1", "192.0.2.1"},
		{"192.0.2.1:1", []string{"203.0.113.9"}, "192.0.2.1", "192.0.2.1"}, // forged
		{"[2001:db8::1%eth0]:1", nil, "2001:db8::/64", "2001:db8::/64"},
		{"10.0.0.1:1", nil, "10.0.0.1", "10.0.0.1"},
		{"10.0.0.1:1", []string{"203.0.113.9"}, "10.0.0.1", "203.0.113.9"},
		{"[::ffff:10.0.0.1]:1", []string{"203.0.113.9"}, "10.0.0.1", "203.0.113.9"},
		{"10.0.0.1:1", []string{"198.51.100.1, 203.0.113.9"}, "10.0.0.1", "203.0.113.9"}, // the first is forged
		{"10.0.0.1:1", []string{"198.51.100.1", "203.0.113.9, 10.1.1.1"}, "10.0.0.1", "203.0.113.9"},
		{"10.0.0.1:1", []string{"10.1.1.2, 10.1.1.1"}, "10.0.0.1", "10.1.1.2"},
		{"10.0.0.1:1", []string{"203.0.113.9, unknown, 10.1.1.1"}, "10.0.0.1", "10.1.1.1"},
		{"10.0.0.1:1", []string{""}, "10.0.0.1", "10.0.0.1"},
		{"10.0.0.1:1", []string{"203.0.113.9:4711"}, "10.0.0.1", "203.0.113.9"},
		{"[2001:db8:ffff::1]:1", []string{"[2001:db8:1:2:3::4]:4711"}, "2001:db8:ffff::/64", "2001:db8:1:2::/64"},
		{"@", []string{"203.0.113.9"}, "@", "@"},
		{"", nil, "", ""},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = tt.remote
		r.Header["X-Forwarded-For"] = tt.forwarded
		if got := ByAddress()(r); got != tt.none {
			t.Errorf("%s, %q: %q, want %q", tt.remote, tt.forwarded, got, tt.none)
		}
		if got := ByAddress(proxies...)(r); got != tt.by {
			t.Errorf("%s, %q: by proxies %q, want %q", tt.remote, tt.forwarded, got, tt.by)
		}
	}
}
