package httplimit

import (
	"fmt"
	"net/http"
	"net/http/httptest"
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
	h := PerClient(1, time.Minute, WithClock(clock), MaxKeys(2),
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
