package throttletest

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// bounded judges what holds whatever else is open: in which order an event and the end of an interval come, what a
// flush does to an interval, and from where one counts whose callback takes time. Emissions are the interval apart,
// none comes twice or after a newer one, an event that finds no interval running is emitted at once on the leading
// edge, and the last one is emitted on the trailing edge.
func (x *exam) bounded() *edge.Finding {
	if x.unfinished() {
		return &edge.Finding{}
	}
	races, busy := x.Schedule.RacingSteps() > 0, x.Schedule.Config.Busy > 0
	rule := func(id string) string {
		switch {
		case busy:
			return "TH-BUSY"
		case x.has(verb.Flush):
			return "TH-FLUSH"
		case x.has(verb.Reset) && id == "TH-SPACE":
			return "TH-RESET"
		}
		return id
	}
	if v := x.spaced(x.Fires, 1); v != nil {
		return &edge.Finding{Rule: rule("TH-SPACE"), Violation: v}
	}
	if id, v := x.repeated(); v != nil && (races || busy) {
		return &edge.Finding{Rule: rule(id), Violation: v}
	}
	if races && (x.twice() || x.rows()) {
		return &edge.Finding{}
	}
	v := x.held(false)
	if races || v == nil && !(busy && x.has(verb.Stop)) { // which drops what is pending
		v = x.lost()
	}
	return &edge.Finding{Rule: rule("TH-LAST"), Violation: v}
}

// spaced finds an emission that comes sooner after another than the interval, if no more than most may come in that.
func (x *exam) spaced(fires []conformance.Fire, most int) *suite.Violation {
	for i := most; i < len(fires); i++ {
		f, before := fires[i], fires[i-most]
		if f.Began.At-before.Began.At >= x.shortest() || x.mayFollow(f, before) {
			continue
		}
		interval := x.Schedule.Config.Interval
		if most > 1 {
			return x.broken(f.Began.At, edge.Text("%d events may pass in %s", x.Schedule.Config.K, interval),
				"%d emissions from %s to %s, want %d at most", most+1, before.Began.At, f.Began.At, most)
		}
		because := edge.Text("the emission at %s began an interval of %s", before.Began.At, interval)
		if x.has(verb.Flush) && !x.byFlush(before) {
			because += ", and no flush emitted either of them"
		}
		if busy := x.Schedule.Config.Busy; busy > 0 {
			because += edge.Text("; its callback takes %s", busy)
		}
		return x.broken(f.Began.At, because, "emitted at %s, want %s at the earliest",
			f.Began.At, suite.Sum(before.Began.At, interval))
	}
	return nil
}

// mayFollow reports whether an emission may come at any time after another: both edges emit one event, or there was a
// reset between them, or a flush emits one of them, unless its emission opens an interval.
func (x *exam) mayFollow(f, before conformance.Fire) bool {
	opens := x.traits.AfterFlush == FlushOpensInterval && x.Schedule.Config.Busy == 0
	return x.twice() || x.resetBetween(before, f) || x.byFlush(f) || x.byFlush(before) && !opens
}

// resetBetween reports whether a reset came between two emissions.
func (x *exam) resetBetween(before, f conformance.Fire) bool {
	return slices.ContainsFunc(x.Done, func(d conformance.Done) bool {
		return d.Op == verb.Reset && before.Began.Seq < d.Began.Seq && d.Began.Seq < f.Began.Seq
	})
}

// since lists the emissions since an operation began.
func (x *exam) since(d *conformance.Done) []conformance.Fire {
	return slices.DeleteFunc(slices.Clone(x.Fires), func(f conformance.Fire) bool { return f.Began.Seq < d.Began.Seq })
}

// byFlush reports whether an emission may be that of a flush: it begins with the flush, or with
// the end of a callback that ran then.
func (x *exam) byFlush(f conformance.Fire) bool {
	return slices.ContainsFunc(x.Schedule.Steps, func(s conformance.Step) bool {
		return s.Op == verb.Flush && s.At <= f.Began.At && f.Began.At <= x.runsUntil(s.At)
	})
}

// runsUntil returns when the last of the callbacks ends that run at an instant, which is that
// instant if none does.
func (x *exam) runsUntil(at time.Duration) time.Duration {
	end := at
	for _, f := range x.Fires {
		if f.Began.At < at && (f.Ended.Seq == 0 || f.Ended.At > end) {
			end = f.Ended.At
			if f.Ended.Seq == 0 {
				return far
			}
		}
	}
	return end
}

// repeated finds an emission of an event that comes again, or after a newer one. Who emits an event on both edges may
// not do so at one instant. Each call of a row may have a goroutine of its own, so that they come in any order.
func (x *exam) repeated() (rule string, v *suite.Violation) {
	if x.traits.Payload != LastPayload {
		return "", nil
	}
	began := func(value int) int {
		i := slices.IndexFunc(x.Done, func(d conformance.Done) bool { return d.Op == verb.Call && d.N == value })
		return x.Done[max(0, i)].Began.Seq
	}
	races := x.Schedule.RacingSteps() > 0
	for i := 1; i < len(x.Fires); i++ {
		f, before := x.Fires[i], x.Fires[i-1]
		because := edge.Text("event %d had been emitted at %s", before.Value, before.Began.At)
		switch again := f.Value == before.Value; {
		case x.twice() && again && races && f.Began.At == before.Began.At:
			return "TH-SPACE", x.broken(f.Began.At, "both edges of an interval are the interval apart",
				"emitted event %d twice at %s", f.Value, f.Began.At)
		case x.twice() || races && x.rows():
		case again:
			return "TH-NOSPON", x.broken(f.Began.At, because, "emitted event %d again at %s", f.Value, f.Began.At)
		case races && began(f.Value) < began(before.Value):
			return "TH-PAY", x.broken(f.Began.At, because,
				"emitted event %d at %s, want a newer one", f.Value, f.Began.At)
		}
	}
	return "", nil
}

// held finds an event that the leading edge did not emit at once, although within an interval before it nothing came,
// and no callback began or ran; or if intervals count from its start, none began within one or still runs.
func (x *exam) held(start bool) *suite.Violation {
	open := x.Schedule.RacingSteps() > 0 || x.has(verb.Wall) || x.has(verb.Reset)
	if x.edges&Leading == 0 || open {
		return nil
	}
	for i, d := range x.Done {
		since := d.At - x.Schedule.Config.Interval - 1
		ends := since
		if start {
			ends = d.At
		}
		runs := func(f conformance.Fire) bool {
			busy := x.Schedule.Config.Busy > 0 && (f.Ended.Seq == 0 || f.Ended.At >= ends)
			return f.Began.Seq < d.Began.Seq && (f.Began.At >= since || busy)
		}
		comes := func(o conformance.Done) bool { return brings(o) && o.At >= since && !start } // it may have been due
		emitted := func(f conformance.Fire) bool {
			return (f.Value == d.N || x.payload == NoPayload) && f.Began.At == d.At
		}
		if d.Op == verb.Call && !d.Inside && !slices.ContainsFunc(x.Fires, runs) &&
			!slices.ContainsFunc(x.Done[:i], comes) && !slices.ContainsFunc(x.Fires, emitted) {
			because := "no interval was running any more, and no callback"
			if start {
				because = "no interval was running, counted from the start of each callback: AnchorStart is declared"
			}
			return x.broken(d.At, because, "call %d was not emitted at %s", d.N, d.At)
		}
	}
	return nil
}

// lost finds the newest event if the trailing edge should have emitted it and has not. Where emissions have no payload,
// any that begins after the event counts as its own.
func (x *exam) lost() *suite.Violation {
	if x.edges&Trailing == 0 {
		return nil
	}
	for _, last := range slices.Backward(x.Done) {
		if last.Op != verb.Call {
			continue
		}
		own := func(f conformance.Fire) bool {
			if x.traits.Payload == LastPayload {
				return f.Value == last.N
			}
			return f.Began.Seq > last.Began.Seq
		}
		if slices.ContainsFunc(x.Fires, own) || last.Inside && x.Schedule.Config.Busy > 0 {
			return nil
		}
		return x.broken(last.Began.At, "nothing came after it",
			"call %d at %s was not emitted by %s", last.N, last.Began.At, x.End)
	}
	return nil
}
