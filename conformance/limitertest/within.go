package limitertest

import (
	"fmt"
	"time"

	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
)

// within holds a reservation within a time beside one without, behind as many others: it is made if that one's tokens
// come in time, and takes nothing otherwise. Where they come at the end of the time either is right.
func (c *contract) within(p *suite.Probe) (v *suite.Violation, skip string) {
	const ahead = 3
	delays := func(before int, bound func(f *Funcs) Reservation) (ok bool, out [2]time.Duration) {
		p.PlayToEnd(func(st *suite.Stage) {
			f, cfg, refused := c.first(st.Plain(), 10, 3)
			if skip = refused; skip != "" {
				return
			}
			for range cfg.Burst + before {
				f.reserve(time.Time{}, 1)
			}
			st.To(cfg.Rate.Interval() / 4)
			r := bound(&f)
			if ok = r.ok(); ok {
				out[0] = r.delay(time.Time{}, false)
			}
			out[1] = f.reserve(time.Time{}, 1).delay(time.Time{}, false)
			f.end()
		})
		return ok, out
	}
	for before := range ahead {
		_, free := delays(before, func(f *Funcs) Reservation { return f.reserve(time.Time{}, 1) })
		if skip != "" {
			return nil, skip
		}
		for _, most := range []time.Duration{0, free[0] / 2, free[0] - free[0]/100, free[0] + free[0]/100, time.Hour} {
			ok, got := delays(before, func(f *Funcs) (r Reservation) {
				suite.Promptly(func() { r = f.ReserveWithin(1, most) })
				return r
			})
			want := [2]time.Duration{0, free[0]}
			if most > free[0] {
				want = free
			}
			if most == free[0] || ok == (most > free[0]) && got == want {
				continue
			}
			was := map[bool]string{true: "made", false: "refused"}
			as := fmt.Sprintf("was %s, want it %s", was[ok], was[most > free[0]])
			switch {
			case ok != (most > free[0]):
			case got[0] != want[0]:
				as = fmt.Sprintf("has a delay of %s, want %s", timeline.Duration(got[0]), timeline.Duration(want[0]))
			default:
				as = fmt.Sprintf("was %s, as wanted, but a Reserve after it has a delay of %s, want %s",
					was[ok], timeline.Duration(got[1]), timeline.Duration(want[1]))
			}
			because := "Reserve would get its token in " + timeline.Duration(free[0])
			return suite.Broken(0, because, "with %s waiting, ReserveWithin(1, %s) %s",
				timeline.Count(before, "reservation"), timeline.Duration(most), as), ""
		}
	}
	return nil, ""
}
