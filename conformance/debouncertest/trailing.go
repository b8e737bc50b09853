package debouncertest

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/internal/verb"
)

// trailingRules are the rules of the trailing edge alone that a difference at the i-th fire breaks, the plainest first.
// Because is why nothing had to fire then, where something did.
func (x *exam) trailingRules(want []edge.Fire, i int, got *conformance.Fire) (rules []string, because string) {
	ended, flushed := x.endRule(want, i, got), x.flushRule(want, i, got)
	switch wait := x.Schedule.Config.Wait; {
	case ended != "":
		return []string{ended}, ""
	case wait == 0:
		return []string{"DB-ZERO"}, ""
	case wait < 0:
		return []string{"DB-NEG"}, ""
	case flushed == "DB-FLUSH0":
		return []string{flushed}, "nothing was pending for the flush"
	case flushed != "":
		return []string{flushed}, ""
	case edge.Missing(want, i, got):
		return x.missingRules(&want[i], got)
	}
	return x.unwantedRules(want, i, got)
}

// missingRules are those that a fire breaks that did not come, came late, or with another payload.
func (x *exam) missingRules(w *edge.Fire, got *conformance.Fire) (rules []string, because string) {
	c := x.called(w.Value)
	late := got != nil && !slices.ContainsFunc(x.Done, func(d conformance.Done) bool {
		return d.Op == verb.Call && d.Began.Seq > c.Began.Seq && d.Began.Seq < got.Began.Seq
	})
	switch cancel := x.newest(c.Began.Seq, verb.Cancel); {
	case got != nil && got.Began.At == w.At:
		return []string{"DB-LAST"}, ""
	case x.steps(verb.Flush, w.At): // whichever of the two went first, one fires it
		return []string{"DB-FLUSH"}, ""
	case late:
		return []string{"DB-EXACT"}, ""
	case cancel != nil:
		return []string{"DB-LIVE", "DB-REUSE"}, edge.Text(
			"call %d at %s came after the cancel at %s, and the wait is %s",
			c.N, c.Began.At, cancel.Began.At, x.Schedule.Config.Wait)
	}
	return []string{"DB-LIVE"}, ""
}

// unwantedRules are those that the i-th fire breaks, which nothing wanted at that instant, and why nothing did.
func (x *exam) unwantedRules(want []edge.Fire, i int, got *conformance.Fire) (rules []string, because string) {
	c, cancel := x.newest(got.Began.Seq, verb.Call), x.newest(got.Began.Seq, verb.Cancel)
	switch by, due := x.discarded(got); {
	case c == nil:
		return []string{"DB-IDLE"}, "no event had come"
	case by != nil:
		return []string{"DB-CANCEL"}, edge.Text("cancel at %s had discarded call %d", by.Began.At, due.N)
	case i < len(want) && want[i].First <= c.Began.At: // it is for an event that had come
		return x.earlyRules(want, i, c)
	case cancel != nil && cancel.Began.Seq > c.Began.Seq:
		return []string{"DB-CANCEL"}, edge.Text("cancel at %s had discarded call %d", cancel.Began.At, c.N)
	case cancel != nil && x.traits.AfterCancel == CancelFinal:
		return []string{"DB-REUSE"}, "cancel is declared final"
	case x.steps(verb.Call, got.Began.At):
		return []string{"DB-TIE"}, edge.Text("call %d met the deadline, at which one burst fires at the most", c.N)
	case i == 0:
		return []string{"DB-IDLE"}, "the events that had come no longer counted"
	}
	return []string{"DB-IDLE"}, edge.Text("the last event, call %d, had fired at %s", c.N, x.Fires[i-1].Began.At)
}

// earlyRules are those that the i-th fire breaks, as it came too early after a call, and why it did.
func (x *exam) earlyRules(want []edge.Fire, i int, c *conformance.Done) (rules []string, because string) {
	at, wait := x.Fires[i].Began.At, x.Schedule.Config.Wait
	rules, because = []string{"DB-QUIET"}, edge.Text("call %d at %s restarts the %s wait", c.N, c.Began.At, wait)
	if x.traits.StaleFire == StaleForbidden && x.steps(verb.Call, at) && c.Ended.Seq < x.Fires[i].Began.Seq {
		rules = append(rules, "DB-NOSTALE")
		because += ", and had returned before the callback started"
	}
	if i+1 < len(x.Fires) && x.Fires[i+1].Began.At == want[i].At {
		rules = append(rules, "DB-ONE")
		because += edge.Text("; the same burst fires again at %s", want[i].At)
	}
	if i > 0 && want[i-1].Kind == edge.Trailing && at-want[i-1].At < wait {
		rules = append(rules, "DB-GAPRATE")
		because += edge.Text("; the fire before it came at %s", want[i-1].At)
	}
	return rules, because
}

// discarded are the cancel and the event that was due when something fired, which may be for it; nil if there is none.
func (x *exam) discarded(got *conformance.Fire) (cancel, c *conformance.Done) {
	if cancel = x.newest(got.Began.Seq, verb.Cancel); cancel == nil {
		return nil, nil
	}
	c = x.newest(cancel.Began.Seq, verb.Call)
	if c == nil || c.Began.At+x.Schedule.Config.Wait != got.Began.At || x.traits.bearsNewest() && got.Value != c.N {
		return nil, nil
	}
	return cancel, c
}

// called is the call with a payload, nil if there is none.
func (x *exam) called(v int) *conformance.Done {
	for i := range x.Done {
		if d := &x.Done[i]; d.Op == verb.Call && d.N == v {
			return d
		}
	}
	return nil
}

// newest is the newest operation of a kind that began before a point of the run, nil if there is none.
func (x *exam) newest(seq int, op conformance.Op) (newest *conformance.Done) {
	for i := range x.Done {
		if d := &x.Done[i]; d.Op == op && d.Began.Seq < seq {
			newest = d
		}
	}
	return newest
}

// steps reports whether an operation raced with what was due at an instant.
func (x *exam) steps(op conformance.Op, at time.Duration) bool {
	return slices.ContainsFunc(x.Done, func(d conformance.Done) bool {
		return d.Op == op && d.Racing && d.Began.At == at
	})
}
