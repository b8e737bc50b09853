package leakybuckettest

import (
	"fmt"

	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/conformance/internal/trait"
	"github.com/escapement-go/escapement/internal/timeline"
)

// close judges what is put after Close and what waited then, up to a Stop: what a stopped bucket
// does is open.
func (x *exam) close() *suite.Violation {
	if x.closed == nil || before(x.stop, x.closed) || x.calledBack() {
		return nil
	}
	drains := x.traits.CloseFlush == trait.CloseAtDeadline && x.stop == nil && !x.cut()
	because := fmt.Sprintf("the input was closed at %s", timeline.Duration(x.closed.Began.At))
	for _, it := range x.items {
		put := it.put
		switch {
		case before(x.closed, put) && put.OK && !before(x.stop, put):
			return x.told(put.Began.At, because, "item %d was accepted, want refused", put.N)
		case !it.waits(x.closed):
		case x.traits.CloseFlush == trait.CloseDrops && it.leftDespite(x.closed):
			return x.leftAnyway(it, because+", and CloseDrops is declared")
		case drains && len(it.left) == 0 && it.cancelled == nil:
			return x.neverLeft(it, "it was accepted before "+because+", and CloseAtDeadline is declared")
		}
	}
	if x.closed.Ended.Seq == 0 && !x.cut() {
		return x.told(x.closed.Began.At, "nothing waited any more", "close at %s had not returned by %s",
			timeline.Duration(x.closed.Began.At), timeline.Duration(x.End))
	}
	return nil
}
