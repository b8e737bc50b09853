package batchtest

import (
	"slices"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// Traits are the choices on which correct batchers differ. The zero value of Anchor, CloseFlush and
// Busy is "undeclared".
type Traits struct {
	// Anchor says what the delay of a batch counts from.
	Anchor Anchor
	// CloseFlush says what happens to the open batch at Close. Only with Close.
	CloseFlush CloseFlush
	// Busy says what happens while the consumer runs. With ReentrancyForbidden it is not observed, and need
	// not be declared, as the batcher may hold a lock then.
	Busy Busy
	// EmptyBatches says that a batch is empty if its delay ends without an item.
	EmptyBatches bool
	// Reentrancy is only declared to opt out: Forbidden means that the consumer must not call the
	// batcher, as its documentation says.
	Reentrancy Reentrancy
}

// Anchor says what the delay of a batch counts from.
type Anchor int

// The choices.
const (
	AnchorFirstItem Anchor = iota + 1 // the first item of the batch
	AnchorLastBatch                   // the last hand-over: a ticker that each hand-over starts anew
	AnchorGrid                        // nothing: batches are handed over with the ticks of a ticker
)

// Busy says what happens while the consumer runs.
type Busy int

// The choices.
const (
	BusyOverlaps   Busy = iota + 1 // the next batch is handed over all the same
	BusyQueues                     // batches, or items, wait their turn, and callers do not
	BusyBlocks                     // callers may wait until the consumer has returned
	BusyRefuses                    // items may be refused
	BusyQueuesAnew                 // as BusyQueues, but the delay of items that waited counts from their turn
)

var busies = []string{"BusyOverlaps", "BusyQueues", "BusyBlocks", "BusyRefuses", "BusyQueuesAnew"}

// Traits are those of the spec.
func (c *contract) Traits() (declared, complete *Traits) { return &c.spec.Traits, &c.spec.Traits }

// Table lists the choices.
func (c *contract) Table(s *suite.Suite, tr *Traits) []suite.Choice {
	return []suite.Choice{
		edge.Choice(&tr.Anchor, suite.Choice{
			Name: "Anchor", Order: suite.Ranked(3), Needless: suite.Always, Apart: true, Sure: true,
			Observe: func() int { return int(anchored(s)) },
		},
			"AnchorFirstItem", "a batch is handed over a delay after its first item",
			"AnchorLastBatch", "a batch is handed over a delay, or a multiple of it, after the last hand-over",
			"AnchorGrid", "a batch is handed over at the next tick of a grid that began with the batcher"),
		edge.Choice(&tr.CloseFlush, suite.Choice{
			Name: "CloseFlush", Order: suite.Ranked(3), Apart: true, Sure: true,
			Needless: func() bool { return !s.Accepts(verb.Close) },
			Observe:  func() int { return int(closes(s)) },
		},
			"CloseFires", "Close hands over the current batch",
			"CloseAtDeadline", "after Close the current batch is handed over when its delay ends",
			"CloseDrops", "Close drops the current batch"),
		edge.Flag(&tr.EmptyBatches, suite.Choice{Name: "EmptyBatches", Apart: true},
			func() bool { return handsNothing(s) }, "a delay without items ends with an empty batch"),
		edge.Choice(&tr.Reentrancy, suite.Choice{
			Name: "Reentrancy", Order: suite.Ranked(2), Sure: true, Observe: func() int { return int(reentrancy(s)) },
		},
			"ReentrancyAllowed", "the consumer may use the batcher",
			"ReentrancyForbidden", "the consumer must not use the batcher"),
		edge.Choice(&tr.Busy, suite.Choice{
			Name: "Busy", Values: busies, Order: []int{int(BusyQueues), int(BusyQueuesAnew)}, Apart: true,
			Means: []string{"the next batch is handed over while the consumer still runs",
				"items that come while the consumer runs are handed over after it, and no caller waits",
				"callers wait while the consumer runs", "items are refused while the consumer runs",
				"the delay of an item that came while the consumer ran counts from when that has returned"},
			Needless: func() bool { return tr.Reentrancy == ReentrancyForbidden },
			Observe:  func() int { return int(whileBusy(s)) },
		}),
	}
}

// tried runs a schedule that begins with a size, or runs it without the size if a constructor refuses that. Nothing is
// seen of a run that did not come to its end.
func tried(s *suite.Suite, text string) *suite.Recording {
	if rec := s.Settled(text); rec != nil {
		return rec
	}
	if _, sizeless, ok := strings.Cut(text, " "); ok && strings.HasPrefix(text, "size=") {
		return tried(s, sizeless)
	}
	return &suite.Recording{}
}

// handed returns when item v was handed over, ok = false if it never was.
func handed(rec *suite.Recording, v int) (at time.Duration, ok bool) {
	for _, f := range rec.Fires {
		if slices.Contains(f.Values, v) {
			return f.Began.At, true
		}
	}
	return 0, false
}

// anchored observes what the delay counts from. A second batch begins after the first has shown whether that
// waits for a grid.
func anchored(s *suite.Suite) Anchor {
	rec := tried(s, "size=2 delay=100ms | put 1 @0 | put 2 @30ms | put 3 @60ms")
	if len(rec.Fires) == 1 { // without a size
		rec = tried(s, "delay=100ms | put 3 @60ms")
	}
	at, _ := handed(rec, 3)
	return map[time.Duration]Anchor{
		160 * time.Millisecond: AnchorFirstItem, 130 * time.Millisecond: AnchorLastBatch,
		100 * time.Millisecond: AnchorGrid,
	}[at]
}

// closes observes what becomes of an open batch at Close.
func closes(s *suite.Suite) CloseFlush {
	rec := tried(s, "size=3 delay=100ms | put 1 @0 | close @30ms")
	at, ok := handed(rec, 1)
	if !ok && len(rec.Done) > 0 {
		return CloseDrops
	}
	return map[time.Duration]CloseFlush{30 * time.Millisecond: CloseFires, 100 * time.Millisecond: CloseAtDeadline}[at]
}

// handsNothing reports whether empty batches come by themselves, behind a batch.
func handsNothing(s *suite.Suite) bool {
	rec := tried(s, "size=3 delay=100ms | put 1 @0 | put 2 @450ms")
	return slices.ContainsFunc(rec.Fires, func(f conformance.Fire) bool { return len(f.Values) == 0 })
}

// reentrancy looks for an operation that never returns to the consumer. Close may wait for it.
func reentrancy(s *suite.Suite) Reentrancy {
	var texts []string
	for _, op := range s.Supported(verb.Put, verb.Flush) {
		within := "delay=100ms inside=" + string(op) + " | put 1 @0"
		texts = append(texts, "size=2 "+within+" | put 2 @0 | put 3 @0", "size=1 "+within, "size=2 "+within,
			within) // for those without a size
	}
	return edge.Reentrancy(s, texts...)
}

// whileBusy observes what happens while the consumer runs.
func whileBusy(s *suite.Suite) Busy {
	rec := tried(s, "size=1 delay=100ms busy=250ms | put 1 @0 | put 2 @20ms | put 3 @40ms | put 4 @60ms | put 5 @80ms"+
		" | put 6 @100ms | put 7 @120ms")
	refused := func(d conformance.Done) bool { return !d.OK }
	switch {
	case len(rec.Fires) == 0:
		return 0
	case slices.ContainsFunc(rec.Done, refused):
		return BusyRefuses
	case len(rec.Fires) < 2:
		return 0
	case rec.Fires[1].Began.Seq < rec.Fires[0].Ended.Seq:
		return BusyOverlaps
	}
	for i, d := range rec.Done {
		if i > 0 && d.Ended.At > d.Began.At && !ran(rec, &d) {
			return BusyBlocks
		}
	}
	rec = tried(s, "size=10 delay=100ms busy=80ms | put 1 @0 | put 2 @110ms")
	if at, ok := handed(rec, 2); ok && at == 280*time.Millisecond {
		return BusyQueuesAnew
	}
	return BusyQueues
}

// ran reports whether a consumer began when an operation did, perhaps on its goroutine: one that begins later is what
// the operation waited for.
func ran(rec *suite.Recording, d *conformance.Done) bool {
	return slices.ContainsFunc(rec.Fires, func(f conformance.Fire) bool {
		return f.Began.At == d.Began.At && f.Began.Seq > d.Began.Seq && f.Began.Seq < d.Ended.Seq
	})
}
