package clocktest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/escapement-go/escapement/synctestcompat"
)

// packageTime is the model of every clock: the bubble's time as the operations of a clock.
func packageTime() Funcs {
	f := Of(synctestcompat.NewClock())
	f.WithTimeout = context.WithTimeout
	f.WithDeadline = context.WithDeadline
	return f
}

// difference is where a clock and package time part.
type difference struct {
	part      int
	at        time.Duration // on package time, negative if it showed nothing more
	want, got []event       // what only the one has shown, of the first group that differs
	agreed    int           // how many of the clock's events came before
}

// compare returns the first difference, nil if there is none. What happened at one instant
// has no order between goroutines, so such groups compare as sets; if the order is not in
// question, so does all that happened in one part.
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

// except lists the events of a that b does not have at the same place of the same
// goroutine.
func except(a, b []event) []event {
	rest := slices.Clone(b)
	var out []event
	for _, e := range a {
		i := slices.IndexFunc(rest, func(r event) bool {
			return r.who == e.who && r.text == e.text && r.part == e.part
		})
		if i < 0 {
			out = append(out, e)
			continue
		}
		rest = slices.Delete(rest, i, i+1)
	}
	return out
}
