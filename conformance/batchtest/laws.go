package batchtest

import (
	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// Rules are the laws of a batcher. Those that have neither a Check nor a Probe are guards of the model.
func (c *contract) Rules() []suite.Rule[*Traits, *exam] {
	first := func(_ *suite.Suite, tr *Traits) string {
		return suite.If(tr.Anchor != AnchorFirstItem, "the delay does not count from the first item")
	}
	empties := func(_ *suite.Suite, tr *Traits) string { return suite.If(tr.EmptyBatches, "declared: EmptyBatches") }
	delayed := func(cfg conformance.Config) bool { return cfg.Delay > 0 }
	anchor := []string{"Anchor"}
	of := func(id, text string, absent func(*suite.Suite, *Traits) string,
		has func(cfg conformance.Config) bool) suite.Rule[*Traits, *exam] {
		return suite.Rule[*Traits, *exam]{Rule: suite.Core(id, text), Absent: absent, Declared: anchor,
			About: func(j suite.Job) bool { return j.Schedule.Config.Panics == 0 && has(j.Schedule.Config) }}
	}
	rules := []suite.Rule[*Traits, *exam]{
		{
			Rule: suite.Core("BT-ONCE", "Every accepted item, and no other, MUST be in exactly one batch; a batch "+
				"MUST NOT change while its consumer runs."),
			Check: (*exam).once,
		},
		{
			Rule: suite.Core("BT-ORDER", "Items MUST keep their order, within a batch and from batch to batch."),
		},
		of("BT-FULL", "The item that fills a batch MUST hand it over at once, and no batch may "+
			"have more items.", nil, func(cfg conformance.Config) bool { return cfg.Size > 1 }),
		of("BT-AGE", "A batch that is not full MUST be handed over exactly when its delay ends, "+
			"counted from its first item or as declared.", nil, delayed),
		{
			Rule:   suite.Core("BT-EMPTY", "A batch MUST NOT be empty, unless declared."),
			Unless: empties,
		},
		of("BT-REARM", "The delay of the next batch MUST count from its own first item, even "+
			"after a full batch, a Flush and idle time.", first, delayed),
		of("BT-STALE", "The timer of a batch that was already handed over MUST NOT hand over the "+
			"next one.", first, delayed),
		{
			Rule: suite.Core("BT-MEET", "A batch that becomes full, is flushed or closed just as its delay ends MUST "+
				"be handed over once; an item of that instant MUST be in it or begin the next."),
			Declared: anchor,
			About:    func(j suite.Job) bool { return j.Schedule.RacingSteps() > 0 },
		},
		{
			Rule:     suite.Core("BT-FLUSH", "Flush MUST hand over the current batch at once."),
			Ops:      []conformance.Op{verb.Flush},
			Declared: anchor,
			About:    suite.Has(verb.Flush),
		},
		{
			Rule: suite.Core("BT-FLUSH0", "If no items wait, Flush MUST NOT do anything, now or to the next delay."),
			Ops:  []conformance.Op{verb.Flush}, Declared: anchor,
			Unless: empties,
			About:  suite.Has(verb.Flush),
		},
		{
			Rule: suite.Core("BT-CLOSE", "Close MUST hand over the current batch, at once or as its delay ends, or "+
				"drop it, as declared; later items MUST NOT be handed over, and MUST be refused where items can be."),
			Ops:      []conformance.Op{verb.Close},
			Declared: []string{"CloseFlush"},
			About:    suite.Has(verb.Close),
		},
		{
			Rule: suite.Core("BT-BUSY", "Items that come while the consumer runs MUST be handed over beside it or "+
				"after it, in order; callers wait, or items are refused, only then and only as declared."),
			Declared: []string{"Anchor", "Busy"},
		},
		of("BT-N1", "With a size of 1 each item MUST be handed over at once.",
			nil, func(cfg conformance.Config) bool { return cfg.Size == 1 }),
		of("BT-D0", "With a delay of 0 every batch MUST be handed over at once, or every batch "+
			"only when full, by Flush or by Close.",
			nil, func(cfg conformance.Config) bool { return cfg.Delay == 0 }),
		suite.OneClock[*Traits, *exam](onPackageTime, marks),
		suite.Calls[*Traits]((*exam).calls),
		{
			Rule: suite.Core("X-PANIC", "If the consumer panics, later batches MUST be handed over as if it had "+
				"returned."),
			Declared: []string{"Anchor"},
			About:    func(j suite.Job) bool { return j.Schedule.Config.Panics > 0 },
			Sees:     func(x *exam) bool { return x.Panicked },
		},
		suite.Reentry("Adding and Flush MUST NOT deadlock if the consumer calls them.",
			func(s *suite.Suite, tr *Traits) string { return edge.NoReentry(s, tr.Reentrancy) }, (*exam).Deadlock),
		suite.Leak[*Traits]("No goroutine or armed timer may remain after Close, or while idle.", (*exam).LeftBehind),
		{
			Rule: suite.Core("X-CONC", "Each item of concurrent callers at one instant MUST be in exactly one "+
				"batch, and no batch may exceed its size."),
			Meets: true,
			Probe: c.concurrent,
		},
		suite.Race[*Traits, *exam](c.race, nil),
	}
	for i := range rules {
		r := &rules[i]
		if r.Check == nil && r.Probe == nil {
			r.Check = breaks(r.ID)
		}
		if r.About == nil && r.Check != nil {
			r.About = func(j suite.Job) bool { return j.Schedule.Config.Panics == 0 }
		}
	}
	return rules
}

// once finds batches that changed under their consumer, and what the model says of BT-ONCE.
func (x *exam) once() *suite.Violation {
	if n := x.Detail.(*detail).changed; n > 0 && n <= len(x.Fires) {
		f := x.Fires[n-1]
		return x.broken(f.Ended.At, "the slice belongs to the consumer until it returns",
			"batch %s changed while the consumer ran", batchMark(f.Values))
	}
	return breaks("BT-ONCE")(x)
}

// calls finds operations that panicked or did not return.
func (x *exam) calls() *suite.Violation {
	late := func(d *conformance.Done) bool { return edge.ClosedFirst(x.Recording, d) }
	return x.Misdone(false, late, x.cfg.Busy == 0, x.broken)
}
