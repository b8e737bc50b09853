package redislimit

import (
	"fmt"
	"reflect"
	"time"
)

// A Plan is a limit for some keys or for one request: an event per Interval, which is rounded up
// to whole microseconds, and Burst at once. A negative Burst is 0. The zero Plan is no plan.
type Plan struct {
	Interval time.Duration
	Burst    int
}

// longest is the most that burst intervals may be, in microseconds: 73 years, as of a GCRA.
const longest = 1 << 61 / 1000

// rate returns the limit, or why it is none.
func (p Plan) rate() (r rate, why string) {
	if p.Interval <= 0 {
		return r, fmt.Sprintf("interval %v must be > 0: use time.Second/r for r per second", p.Interval)
	}
	r = rate{int64((p.Interval-1)/time.Microsecond) + 1, int64(max(p.Burst, 0))}
	if r.burst > 0 && r.interval > longest/r.burst {
		return r, fmt.Sprintf("%d intervals of %v are more than 73 years: use a smaller burst", p.Burst, p.Interval)
	}
	return r, ""
}

// PerKey gives each key the limit that f returns for it, such as that of the plan of a user; if it
// returns the zero Plan, that of [New]. f is called for each request, by many goroutines at once,
// and should not block. A limit that New would not accept is an error of Take. A nil f changes
// nothing.
func PerKey(f func(key string) Plan) Option {
	return func(cfg *config) { cfg.perKey = f }
}

// isNil reports whether v is nil, or an interface with a nil pointer in it.
func isNil(v any) bool {
	in := reflect.ValueOf(v)
	return !in.IsValid() || in.Kind() == reflect.Pointer && in.IsNil()
}
