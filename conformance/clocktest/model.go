package clocktest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/escapement-go/escapement/synctestcompat"
)

// packageTime is the model of every clock: package time in a bubble, as the operations of
// a clock.
func packageTime() Funcs {
	f := Of(synctestcompat.NewClock())
	f.WithTimeout = context.WithTimeout
	f.WithDeadline = context.WithDeadline
	return f
}

// difference is the first difference between a clock and package time.
type difference struct {
	part      int
	at        time.Duration // on package time, negative if it showed nothing more
	want, got []event       // what only package time, or only the clock, showed in the first group that differs
	agreed    int           // how many events of the clock came before
}

// compare returns the first difference, nil if there is none. The events of one instant
// have no order between goroutines, so they are compared as a set; if ordered is false, so
// are all events of one part.
func compare(want, got []event, ordered bool) *difference {
	byWho := func(a, b event) int { return cmp.Compare(a.who, b.who) }
	i, j := 0, 0
	for i < len(want) {
		part, at := want[i].part, want[i].at
		end := i
		for end < len(want) && want[end].part == part && (want[end].at == at || !ordered) {
			end++
		}
		stop := j
		for stop < len(got) && stop-j < end-i && got[stop].part <= part {
			stop++
		}
		w, g := slices.Clone(want[i:end]), slices.Clone(got[j:stop])
		slices.SortStableFunc(w, byWho)
		slices.SortStableFunc(g, byWho)
		missing, extra := except(w, g), except(g, w)
		if len(missing) > 0 || len(extra) > 0 {
			if len(missing) > 0 {
				at = missing[0].at
			}
			return &difference{part, at, missing, extra, j}
		}
		i, j = end, stop
		last := i == len(want) || want[i].part != part
		if last && j < len(got) && got[j].part <= part {
			return &difference{got[j].part, at, nil, got[j : j+1], j}
		}
	}
	if j < len(got) {
		return &difference{got[j].part, -1, nil, got[j : j+1], j}
	}
	return nil
}

// except lists the events of a that b does not have at the same position for the same
// goroutine.
func except(a, b []event) []event {
	rest := slices.Clone(b)
	var out []event
	for _, e := range a {
		i := slices.IndexFunc(rest, func(r event) bool {
			return r.who == e.who && r.part == e.part && says(r, e)
		})
		if i < 0 {
			out = append(out, e)
			continue
		}
		rest = slices.Delete(rest, i, i+1)
	}
	return out
}

// says reports whether two events say the same, or what may be said as well.
func says(a, b event) bool {
	return a.text == b.text || slices.Contains(a.also, b.text) || slices.Contains(b.also, a.text)
}
