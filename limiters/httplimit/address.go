package httplimit

import (
	"net/http"
	"net/netip"
	"strings"
)

// ByAddress returns the function for [Key] that tells clients apart by their addresses. Who
// has an IPv6 address has at least the 2^64 of its /64, so these are one client. An IPv4
// address in an IPv6 one is the IPv4 one. All whose address is none, as on a Unix socket,
// are one client for each text that the server has for it.
//
// The address is that of the other end of the connection. If that is one of proxies, it is
// the last in X-Forwarded-For that is none of them: each proxy adds who it was called by at
// the end of that header, and what is further ahead can be forged by anybody. Without
// proxies the header is never looked at. A proxy that does not set it must not be named, or
// clients choose their own address. For another header, give Key a function of your own.
func ByAddress(proxies ...netip.Prefix) func(r *http.Request) string {
	proxies = append([]netip.Prefix(nil), proxies...)
	return func(r *http.Request) string {
		addr, ok := parseAddr(r.RemoteAddr)
		if !ok {
			return r.RemoteAddr
		}
		if within(addr, proxies) {
			addr = forwardedBy(addr, r.Header.Values("X-Forwarded-For"), proxies)
		}
		if addr.Is6() {
			net, _ := addr.Prefix(64)
			return net.String()
		}
		return addr.String()
	}
}

// forwardedBy returns the newest address in the header that is none of proxies, or the
// oldest that can be read.
func forwardedBy(addr netip.Addr, header []string, proxies []netip.Prefix) netip.Addr {
	chain := strings.Split(strings.Join(header, ","), ",")
	for i := len(chain) - 1; i >= 0 && within(addr, proxies); i-- {
		before, ok := parseAddr(strings.TrimSpace(chain[i]))
		if !ok {
			break
		}
		addr = before
	}
	return addr
}

// parseAddr parses an address, with or without a port.
func parseAddr(s string) (netip.Addr, bool) {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap().WithZone(""), true
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"))
	return addr.Unmap().WithZone(""), err == nil
}

func within(addr netip.Addr, proxies []netip.Prefix) bool {
	for _, p := range proxies {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}
