package leakybuckettest

import (
	"fmt"
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/conformance/internal/trait"
	"github.com/escapement-go/escapement/internal/timeline"
)

// close judges what is put after Close and what waited then, up to a Stop: what a stopped bucket
// does is open.
func (x *exam) close() *suite.Violation {
	v := x.view()
	inside := func(d conformance.Done) bool { return d.Inside }
	if !x.judgeable() || v.closed == nil || v.stoppedBefore(v.closed) || slices.ContainsFunc(x.Done, inside) {
		return nil
	}
	drains := x.traits.CloseFlush == trait.CloseAtDeadline && v.stop == nil && !x.cut()
	because := fmt.Sprintf("the input was closed at %s", timeline.Duration(v.closed.Began.At))
	for i := range v.items {
		it := &v.items[i]
		put := it.put
		switch {
		case put.Began.Seq > v.closed.Began.Seq && put.OK && !v.stoppedBefore(put):
			return x.told(put.Began.At, because, "item %d was accepted, want refused", put.N)
		case !it.waits(v.closed):
		case x.traits.CloseFlush == trait.CloseDrops && it.leftDespite(v.closed):
			at := it.left[0].Began.At
			return x.told(at, because+", and CloseDrops is declared",
				"item %d left at %s, want never", put.N, timeline.Duration(at))
		case drains && len(it.left) == 0 && it.cancelled == nil:
			return x.told(put.Began.At, "it was accepted before "+because+", and CloseAtDeadline is declared",
				"item %d never left (up to %s)", put.N, timeline.Duration(x.End))
		}
	}
	if v.closed.Ended.Seq == 0 && !x.cut() {
		return x.told(v.closed.Began.At, "nothing waited any more", "close at %s had not returned by %s",
			timeline.Duration(v.closed.Began.At), timeline.Duration(x.End))
	}
	return nil
}
