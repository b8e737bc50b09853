package httplimit

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// ByAddress returns the function for [Key] that tells clients apart by their addresses: it is
// [ByPrefix] with 64 bits of an IPv6 address. A client with one IPv6 address usually controls
// its whole /64, so a /64 is one client.
func ByAddress(proxies ...netip.Prefix) func(r *http.Request) string {
	return byPrefix("ByAddress", 64, proxies)
}

// ByPrefix returns the function for [Key] that tells clients apart by their addresses: by so
// many bits of an IPv6 address, such as 56 where providers hand these out, and by all of an
// IPv4 one. An IPv4 address in an IPv6 one is the IPv4 one, both as ::ffff:192.0.2.1 and
// through a NAT64 as 64:ff9b::192.0.2.1. Link-local addresses, which all share one prefix, are
// a client each, together with their zone. Without an address, as on a Unix socket, each text
// that the server gives instead is one client.
//
// The address is that of the connection's other end. If that is one of proxies, it is the last
// in X-Forwarded-For that is none of them: each proxy appends its caller to that header, and
// earlier entries can be forged. Without proxies the header is ignored. Do not name a proxy
// that does not set it, or clients choose their own address. ::ffff:10.0.0.0/104 is
// 10.0.0.0/8. Lookup takes O(log n) steps for n proxies. For another header, pass your own
// function to Key.
//
// It panics if bits is not from 1 to 128, or one of proxies is not valid.
func ByPrefix(bits int, proxies ...netip.Prefix) func(r *http.Request) string {
	if bits < 1 || bits > 128 {
		panic(fmt.Sprintf("httplimit: ByPrefix: bits %d must be from 1 to 128: for IPv4, all 32 count", bits))
	}
	return byPrefix("ByPrefix", bits, proxies)
}

func byPrefix(function string, bits int, proxies []netip.Prefix) func(r *http.Request) string {
	trusted := newPrefixes(function, proxies)
	return func(r *http.Request) string {
		if len(trusted) == 0 {
			if host, ok := plainHost(r.RemoteAddr); ok {
				return host
			}
		}
		addr, ok := parseAddr(r.RemoteAddr)
		if !ok {
			return r.RemoteAddr
		}
		if trusted.contain(addr) {
			addr = trusted.forwarded(addr, r.Header.Values("X-Forwarded-For"))
		}
		return client(addr, bits)
	}
}

// plainHost returns the host of an IPv4 address with a port, which is the text that client
// would make anew, in a quarter of the time. It may report false for any other.
func plainHost(s string) (host string, ok bool) {
	dots, number, first := 0, 0, 0 // first is where number begins
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			if number = number*10 + int(c-'0'); number > 255 || i > first && s[first] == '0' {
				return "", false
			}
		case i == first || c != '.' && c != ':' || (c == ':') != (dots == 3):
			return "", false
		case c == ':':
			return s[:i], isPort(s[i+1:])
		default:
			dots, number, first = dots+1, 0, i+1
		}
	}
	return "", false
}

// isPort reports whether s is a port, without zeros ahead.
func isPort(s string) bool {
	port := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' || port == 0 && i > 0 {
			return false
		}
		if port = port*10 + int(s[i]-'0'); port > 1<<16-1 {
			return false
		}
	}
	return s != ""
}

// nat64 is the prefix in which a NAT64 shows IPv4 addresses (RFC 6052).
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// client names whoever has an address.
func client(addr netip.Addr, bits int) string {
	switch plain := addr.WithZone(""); {
	case nat64.Contains(plain):
		last := plain.As16()
		return netip.AddrFrom4([4]byte(last[12:])).String()
	case addr.Is4() || addr.IsLinkLocalUnicast():
		return addr.String()
	default:
		net, _ := plain.Prefix(bits)
		return net.String()
	}
}

// parseAddr parses an address, with or without a port.
func parseAddr(s string) (netip.Addr, bool) {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap(), true
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"))
	return addr.Unmap(), err == nil
}

// prefixes are sorted by their first addresses, and none is within another.
type prefixes []netip.Prefix

func newPrefixes(function string, all []netip.Prefix) prefixes {
	sorted := make(prefixes, 0, len(all))
	for _, p := range all {
		if !p.IsValid() {
			panic(fmt.Sprintf("httplimit: %s: proxy %v is not valid: make it with netip.ParsePrefix", function, p))
		}
		if p.Addr().Is4In6() && p.Bits() >= 96 {
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
		}
		sorted = append(sorted, p.Masked())
	}
	slices.SortFunc(sorted, func(a, b netip.Prefix) int {
		if c := a.Addr().Compare(b.Addr()); c != 0 {
			return c
		}
		return a.Bits() - b.Bits()
	})
	kept := sorted[:0]
	for _, p := range sorted {
		if len(kept) == 0 || !kept[len(kept)-1].Contains(p.Addr()) {
			kept = append(kept, p)
		}
	}
	return kept
}

// contain reports whether an address is in one of the prefixes.
func (all prefixes) contain(addr netip.Addr) bool {
	addr = addr.WithZone("")
	i, found := slices.BinarySearchFunc(all, addr, func(p netip.Prefix, addr netip.Addr) int {
		return p.Addr().Compare(addr)
	})
	return found || i > 0 && all[i-1].Contains(addr)
}

// forwarded returns the newest address in the header that is in none of the prefixes, or the
// oldest that can be read.
func (all prefixes) forwarded(addr netip.Addr, header []string) netip.Addr {
	chain := strings.Split(strings.Join(header, ","), ",")
	for i := len(chain) - 1; i >= 0 && all.contain(addr); i-- {
		before, ok := parseAddr(strings.TrimSpace(chain[i]))
		if !ok {
			break
		}
		addr = before
	}
	return addr
}
