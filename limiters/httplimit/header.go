package httplimit

import (
	"math"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/limiters"
)

// mostInteger is the largest integer of a structured field (RFC 8941).
const mostInteger = 999_999_999_999_999

// mostSeconds is what Retry-After says for never: more than any client waits, and few
// enough for all to parse.
const mostSeconds = math.MaxInt32

// A policy is what is said of a limit whatever was decided.
type policy struct {
	limit  int
	window time.Duration
	text   string

	first, empty kept // with one less than the limit, and with nothing left
}

// A kept text says a number of seconds, and is made anew when that is another.
type kept struct{ last atomic.Pointer[said] }

type said struct {
	seconds int64
	text    string
}

func (k *kept) text(seconds int64, text func(seconds int64) string) string {
	s := k.last.Load()
	if s == nil || s.seconds != seconds {
		s = &said{seconds, text(seconds)}
		k.last.Store(s)
	}
	return s.text
}

// newPolicy returns the policy of a decision that has one.
func newPolicy(d *limiters.Decision) *policy {
	text := `"default";q=` + strconv.Itoa(d.Limit)
	if d.Window > 0 && d.Window < limiters.InfDuration {
		text += ";w=" + strconv.FormatInt(seconds(d.Window), 10)
	}
	return &policy{limit: d.Limit, window: d.Window, text: text}
}

// policies has the policy that was said last: mostly it is the next one, too.
type policies struct{ last atomic.Pointer[policy] }

// describe says in fields what there is to say of a decision. It sets them as h.Set does, but
// makes one slice for both.
func (p *policies) describe(h http.Header, d *limiters.Decision, cfg *config) {
	if d.Limit <= 0 || d.Limit == math.MaxInt || int64(d.Limit) > mostInteger {
		return
	}
	said := p.last.Load()
	if said == nil || said.limit != d.Limit || said.window != d.Window {
		said = newPolicy(d)
		p.last.Store(said)
	}
	values := []string{said.text, said.state(d)}
	h["Ratelimit-Policy"], h["Ratelimit"] = values[:1:1], values[1:]
	if cfg.xRateLimit {
		cfg.older(h, d)
	}
}

// older sets the fields of XRateLimit.
func (cfg *config) older(h http.Header, d *limiters.Decision) {
	h.Set("X-RateLimit-Limit", strconv.Itoa(d.Limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(max(d.Remaining, 0)))
	if d.ResetAfter < limiters.InfDuration {
		now := time.Now()
		if cfg.clock != nil {
			now = cfg.clock.Now()
		}
		at := now.Add(max(d.ResetAfter, 0))
		reset := at.Unix()
		if at.Nanosecond() > 0 {
			reset++
		}
		h.Set("X-RateLimit-Reset", strconv.FormatInt(reset, 10))
	}
}

// state says what is left, and when all of it is there again. Two texts are kept, as a request
// mostly is the first of its client in a while, or in a flood of those that are denied.
func (p *policy) state(d *limiters.Decision) string {
	left, reset := min(max(int64(d.Remaining), 0), mostInteger), int64(0)
	if d.ResetAfter > 0 && d.ResetAfter < limiters.InfDuration {
		reset = seconds(d.ResetAfter)
	}
	text := func(reset int64) string { return stateText(left, reset) }
	switch left {
	case 0:
		return p.empty.text(reset, text)
	case int64(p.limit) - 1:
		return p.first.text(reset, text)
	}
	return text(reset)
}

func stateText(left, reset int64) string {
	var room [64]byte
	text := strconv.AppendInt(append(room[:0], `"default";r=`...), left, 10)
	if reset > 0 {
		text = strconv.AppendInt(append(text, ";t="...), reset, 10)
	}
	return string(text)
}

// retryAfter sets Retry-After, unless d is 0, and keeps it in value, which has room for one.
func (cfg *config) retryAfter(h http.Header, d time.Duration, value []string) {
	if d > 0 {
		value[0] = cfg.retries.text(min(seconds(d), mostSeconds), func(n int64) string { return strconv.FormatInt(n, 10) })
		h["Retry-After"] = value
	}
}

// writeLine is http.Error for a line that ends there, and keeps its two fields in values.
func writeLine(w http.ResponseWriter, line []byte, status int, values []string) {
	h := w.Header()
	delete(h, "Content-Length")
	values[0], values[1] = "text/plain; charset=utf-8", "nosniff"
	h["Content-Type"], h["X-Content-Type-Options"] = values[:1:1], values[1:2:2]
	w.WriteHeader(status)
	_, _ = w.Write(line)
}

// seconds is d in whole seconds, rounded up.
func seconds(d time.Duration) int64 {
	n := int64(d / time.Second)
	if d%time.Second > 0 {
		n++
	}
	return n
}
