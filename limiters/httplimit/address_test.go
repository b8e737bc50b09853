package httplimit

import (
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"net/netip"
	"testing"
)

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

// What addresses are that hold another, or belong to one link, and what of an IPv6 address counts.
func TestByPrefix(t *testing.T) {
	for _, tt := range []struct {
		remote, all, half string // by 64 and by 48 bits
	}{
		{"[64:ff9b::192.0.2.1]:1", "192.0.2.1", "192.0.2.1"},
		{"[64:ff9b::192.0.2.2]:1", "192.0.2.2", "192.0.2.2"},
		{"[64:ff9b:1::1]:1", "64:ff9b:1::/64", "64:ff9b:1::/48"}, // for local use: no IPv4 that others know
		{"[::ffff:192.0.2.1]:1", "192.0.2.1", "192.0.2.1"},
		{"[fe80::1%eth0]:1", "fe80::1%eth0", "fe80::1%eth0"},
		{"[fe80::2%eth0]:1", "fe80::2%eth0", "fe80::2%eth0"},
		{"[fe80::1%eth1]:1", "fe80::1%eth1", "fe80::1%eth1"},
		{"[2001:db8:1:2::1]:1", "2001:db8:1:2::/64", "2001:db8:1::/48"},
		{"[2001:db8:1:3::1%eth0]:1", "2001:db8:1:3::/64", "2001:db8:1::/48"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = tt.remote
		if got := ByAddress()(r); got != tt.all {
			t.Errorf("%s: %q, want %q", tt.remote, got, tt.all)
		}
		if got := ByPrefix(48)(r); got != tt.half {
			t.Errorf("%s by 48 bits: %q, want %q", tt.remote, got, tt.half)
		}
	}
}

// A proxy is named by any prefix that has its address.
func TestByAddress_prefixes(t *testing.T) {
	for _, tt := range []struct {
		proxy, remote string
		want          bool
	}{
		{"::ffff:10.0.0.0/104", "10.1.2.3:1", true},
		{"::ffff:10.0.0.0/104", "[::ffff:10.1.2.3]:1", true},
		{"::ffff:10.0.0.0/104", "11.1.2.3:1", false},
		{"::ffff:0.0.0.0/96", "11.1.2.3:1", true},
		{"10.1.2.3/8", "10.9.9.9:1", true}, // what is beyond the bits does not count
		{"fe80::/10", "[fe80::1%eth0]:1", true},
		{"64:ff9b::/96", "[64:ff9b::10.1.2.3]:1", true},
		{"64:ff9b::/96", "10.1.2.3:1", false}, // the prefix names a translator, not all of IPv4
		{"::/0", "10.1.2.3:1", false},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = tt.remote
		r.Header.Set("X-Forwarded-For", "203.0.113.9")
		if got := ByAddress(netip.MustParsePrefix(tt.proxy))(r) == "203.0.113.9"; got != tt.want {
			t.Errorf("a proxy at %s is one of %s: %v, want %v", tt.remote, tt.proxy, got, tt.want)
		}
	}
}

// However prefixes nest, an address is found in them if and only if it is in one.
func TestPrefixes_contain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	draw := func() netip.Addr { // of 64 in 10.0.0.0/8, with all kinds of neighbours
		return netip.AddrFrom4([4]byte{10, byte(r.IntN(2)), 0, byte(r.IntN(8) * 32)})
	}
	for range 2000 {
		all := make([]netip.Prefix, r.IntN(6))
		for i := range all {
			all[i] = netip.PrefixFrom(draw(), r.IntN(33))
		}
		sorted := newPrefixes("", all)
		for range 20 {
			addr, want := draw(), false
			for _, p := range all {
				want = want || p.Contains(addr)
			}
			if got := sorted.contain(addr); got != want {
				t.Fatalf("%v in %v: %v, want %v", addr, all, got, want)
			}
		}
	}
}

// BenchmarkByAddress shows that many proxies cost what few do.
func BenchmarkByAddress(b *testing.B) {
	for _, n := range []int{1, 100_000} {
		proxies := make([]netip.Prefix, n)
		for i := range proxies {
			proxies[i] = netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 32)
		}
		key := ByAddress(proxies...)
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = "192.0.2.1:1"
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				key(r)
			}
		})
	}
}

// An IPv4 address with a port is found to be one without being parsed, and nothing else is.
func TestByAddress_plain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	plain := 0
	for range 200_000 {
		four := netip.AddrFrom4([4]byte{byte(r.Int()), byte(r.Int()), byte(r.IntN(12)), byte(r.Int())})
		s := []byte(netip.AddrPortFrom(four, uint16(r.Int())).String())
		for range r.IntN(3) {
			i := r.IntN(len(s))
			switch c := ".:0123456789[]%x "[r.IntN(17)]; r.IntN(3) {
			case 0:
				s[i] = c
			case 1:
				s = append(s[:i], s[i+1:]...)
			default:
				s = append(s[:i+1], s[i:]...)
				s[i] = c
			}
		}
		host, ok := plainHost(string(s))
		want, err := netip.ParseAddrPort(string(s))
		if ok && (err != nil || host != client(want.Addr().Unmap(), 64)) {
			t.Fatalf("%q: host %q, want %v, %v", s, host, want, err)
		}
		if canonical := err == nil && want.Addr().Is4() && want.String() == string(s); canonical && !ok {
			t.Fatalf("%q: not found to be an address", s)
		}
		if ok {
			plain++
		}
	}
	if plain < 50_000 || plain > 150_000 {
		t.Errorf("%d of 200,000 are addresses with a port, want about a half", plain)
	}
}
