package quota

import (
	"math"
	"sync"
	"time"

	qt "github.com/escapement-go/escapement/conformance/quotatest"
)

// counter is a SlidingCounter in whole numbers that says when there is room again. Mutant names a mistake, if there
// is one.
func counter(mutant string) qt.Spec {
	return qt.Spec{
		Name: "a counter that says when", Time: qt.Explicit, Kind: qt.SlidingCounter,
		Traits: qt.Traits{Align: qt.AlignEpoch, CountDenied: qt.DeniedFree, BackTime: qt.BackClamp,
			RetryNever: qt.RetryNegative, Fields: qt.FieldRetry | qt.FieldReset | qt.FieldRemaining},
		New: func(_ qt.Env, cfg qt.Config) qt.Funcs {
			if int64(cfg.Limit) > math.MaxInt64/4/int64(cfg.Window) {
				panic("so many in so long a window cannot be counted with")
			}
			c := &twoWindows{limit: int64(cfg.Limit), window: cfg.Window, mutant: mutant}
			return qt.Funcs{TakeAt: c.takeAt}
		},
	}
}

type twoWindows struct {
	limit  int64
	window time.Duration
	mutant string

	mu              sync.Mutex
	newest, start   time.Time
	before, current int64
}

func (c *twoWindows) takeAt(t time.Time, k int) qt.Answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.Before(c.newest) {
		t = c.newest
	}
	c.newest = t
	if start := t.Truncate(c.window); !start.Equal(c.start) {
		if start.Sub(c.start) != c.window {
			c.current = 0
		}
		c.before, c.current, c.start = c.current, 0, start
	}
	w, n := int64(c.window), int64(k)
	left := w - int64(t.Sub(c.start)) // of the window
	room := c.limit - c.current - n   // for what is left of the window before
	a := qt.Answer{}
	switch {
	case n < 0 || n > c.limit:
		a.RetryAfter = -1
	case room >= 0 && c.before*left <= room*w:
		c.current += n
		a.OK = true
	case c.mutant == "retry is now":
	case room >= 0:
		a.RetryAfter = time.Duration(left - room*w/c.before)
	default: // not before the next window has gone on for a while
		a.RetryAfter = time.Duration(left)
		if c.mutant != "retry when the window ends" {
			a.RetryAfter += time.Duration(max(0, w-(c.limit-n)*w/c.current))
		}
	}
	a.Remaining = int(max(0, (c.limit*w-c.before*left)/w-c.current))
	switch {
	case c.current > 0 && c.mutant != "reset when the window ends":
		a.ResetAfter = time.Duration(left + w)
	case c.current+c.before > 0:
		a.ResetAfter = time.Duration(left)
	}
	return a
}
