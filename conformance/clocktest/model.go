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

// compare returns the first difference, nil if there is none, and gives what the clock showed up to
// there its instants on package time. The events of one instant have no order between goroutines, so
// they are compared as a set; if ordered is false, so are all events of one part.
func compare(want, got []event, ordered bool) *difference {
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
		if missing, extra := match(want[i:end], got[j:stop]); len(missing) > 0 || len(extra) > 0 {
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

// match gives each event of got the instant of one of want that says the same of the same goroutine, and lists
// the others of both, by who saw them.
func match(want, got []event) (missing, extra []event) {
	missing = slices.Clone(want)
	for n := range got {
		e := &got[n]
		i := slices.IndexFunc(missing, func(w event) bool { return w.who == e.who && w.part == e.part && says(w, *e) })
		if i < 0 {
			extra = append(extra, *e)
			continue
		}
		e.at = missing[i].at
		missing = slices.Delete(missing, i, i+1)
	}
	byWho := func(a, b event) int { return cmp.Compare(a.who, b.who) }
	slices.SortStableFunc(missing, byWho)
	slices.SortStableFunc(extra, byWho)
	return missing, extra
}

// says reports whether two events say the same, or what may be said as well.
func says(a, b event) bool {
	return a.step == b.step &&
		(a.text == b.text || slices.Contains(a.also, b.text) || slices.Contains(b.also, a.text))
}
