package limitertest

import (
	"context"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// nap is how late a wait may return that looks now and then whether its tokens are there.
func (t *Traits) nap(r Rate) time.Duration {
	if !t.naps {
		return 0
	}
	return max(nap, r.Interval()/2)
}

// naps reports whether one who waits alone is asleep when the token comes, and looks again a little later.
func (o observer) naps() bool {
	if o.s.Inexact() != "" || o.c.trip > 0 || o.c.spec.Traits.Fair == FairFIFO {
		return false
	}
	late := time.Duration(0)
	hang := o.s.Play(func(st *suite.Stage) {
		f, cfg, refused := o.c.first(st.Plain(), 10, 3)
		if refused != "" {
			return
		}
		interval := cfg.Rate.Interval()
		full := time.Duration(cfg.Burst+100) * interval
		wait := func(n int, at time.Duration) {
			st.To(at)
			st.Settle()
			go suite.Catch(func() {
				for range n {
					f.wait(context.Background(), 1, &conformance.Done{})
				}
				late = st.Now() - full - interval
			})
		}
		wait(cfg.Burst, full)
		wait(1, full+interval*7/51)
		st.To(full + time.Duration(cfg.Burst+3)*interval + nap)
		st.Settle()
		_ = suite.Catch(f.end)
		st.Settle()
	})
	return hang == nil && late > 1 && late <= nap
}
