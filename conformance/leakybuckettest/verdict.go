package leakybuckettest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/model"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// exam is one run under judgement, as a queue sees it.
type exam struct {
	*suite.Recording
	traits *Traits
	result func() *model.Result[*state] // what the model says of the run, which is checked once

	items         []*item           // in the order in which they were put
	closing, stop *conformance.Done // the first Close and Stop
	cancels       int               // how many took an item out
	back          time.Duration     // how far the clock was set back
	// judgeable says that the model can judge the run. Unless it is declared what a clock that is set back does, it
	// can judge none in which it is.
	judgeable  bool
	calledBack bool // a callback did something
	crowded    bool // the order of items is chance
	bounded    bool // a backlog is what it says
	// known says that the instants are known at which items leave, and exact that they leave neither later nor
	// sooner.
	known, exact bool
}

// item is an item that was put.
type item struct {
	put       *conformance.Done
	cancelled *conformance.Done  // the cancel that took it out
	left      []conformance.Fire // how it left, once if all is well
	latest    time.Duration      // its turn, if it was accepted and nothing is cancelled
}

// Exam puts a trace in the terms of a queue.
func (c *contract) Exam(tr *Traits, rec *suite.Recording, j suite.Job) *exam {
	x := &exam{Recording: rec, traits: tr, crowded: crowded(rec.Schedule)}
	x.result = suite.Modelled(c.suite, j, buckets, func() (*exam, []model.Event) { return x, x.events() }, nil)
	latest := turns{}
	for i := range x.Done {
		d := &x.Done[i]
		x.calledBack = x.calledBack || d.Inside
		switch d.Op {
		case verb.Put:
			it := &item{put: d}
			if d.OK && tr.FirstItem != 0 {
				it.latest = latest.turn(x, d.Began.At)
			}
			for _, f := range x.Fires {
				if f.Value == d.N {
					it.left = append(it.left, f)
				}
			}
			x.items = append(x.items, it)
		case verb.Cancel:
			if it := x.item(d.N); it != nil && d.OK {
				it.cancelled = cmp.Or(it.cancelled, d)
				x.cancels++
			}
		case verb.Close:
			x.closing = cmp.Or(x.closing, d)
		case verb.Stop:
			x.stop = cmp.Or(x.stop, d)
		}
	}
	x.scope()
	return x
}

// scope says what is known of items that leave.
func (x *exam) scope() {
	cfg, tr := x.Schedule.Config, x.traits
	panicked := slices.ContainsFunc(x.Done, func(d conformance.Done) bool { return d.Panic != "" })
	x.back = back(x.Schedule)
	x.judgeable = x.Refused == "" && !x.Stuck && !panicked && (tr.ClockBack != 0 || x.back == 0)
	// A backlog of 0 may stand for a default, for no bound, or for a bucket that lets nothing through. It does not if
	// the first item is accepted and the second, that comes with it, is refused.
	none := len(x.items) > 1 && x.items[0].put.OK && !x.items[1].put.OK &&
		x.items[0].put.Began.At == x.items[1].put.Began.At
	x.bounded = (cfg.Backlog > 0 || none) && x.back == 0 && tr.FirstItem != 0
	x.known = tr.FirstItem != 0 && !x.calledBack && !x.crowded &&
		(cfg.Busy == 0 || x.back == 0 && x.cancels == 0)
	races := x.Schedule.RacingSteps() > 0 // whether items come before or after the turns of others is open
	if x.exact = x.known && x.steady() && (!races || tr.FirstItem == FirstAtOnce); x.cancels > 0 {
		// An item that finds nothing waiting, and waits itself, may have other turns.
		x.exact = x.exact && tr.Slack == 0 && tr.FirstItem != FirstWaits && !races
	}
}

// delay is by how much a clock that is set back may delay an item.
func (x *exam) delay() time.Duration {
	by, interval := x.back, x.Schedule.Config.Interval
	if by > 0 && x.traits.ClockBack == BackBounded {
		// How long was idle before the clock was set back it cannot know: the slack may be used up.
		by = suite.Times(1+x.traits.Slack, interval)
	}
	if x.back > 0 && x.traits.FirstItem != FirstAtOnce {
		by = suite.Sum(by, interval) // until the period that was under way is over
	}
	return by
}

// item is the item that was put with a number, nil if none was.
func (x *exam) item(n int) *item {
	if i := slices.IndexFunc(x.items, func(it *item) bool { return it.put.N == n }); i >= 0 {
		return x.items[i]
	}
	return nil
}

// before reports whether something was done, and began before a point of the trace.
func before(d *conformance.Done, m conformance.Mark) bool { return d != nil && d.Began.Seq < m.Seq }

// steady reports whether the clock goes forward and items leave in no time.
func (x *exam) steady() bool { return x.back == 0 && x.Schedule.Config.Busy == 0 }

// quiet reports whether the trace is judgeable and steady, and has nothing but puts that no callback did.
func (x *exam) quiet() bool {
	return x.judgeable && x.steady() && len(x.items) == len(x.Done) && !x.calledBack
}

// back is how far a schedule sets the clock back.
func back(s conformance.Schedule) (by time.Duration) {
	for _, st := range s.Steps {
		if st.Op == verb.Wall {
			by -= st.D
		}
	}
	return by
}

// lasts is how long a schedule has to be run until all that waits has left, whatever the traits.
func lasts(s conformance.Schedule) (end time.Duration) {
	puts := 2
	if s.Config.Inside != "" {
		puts++
	}
	for _, st := range s.Steps {
		puts += suite.Number(st.Op == verb.Put)
		end = max(end, st.At)
	}
	return suite.Sum(suite.Sum(end, suite.Times(puts, suite.Sum(s.Config.Interval, s.Config.Busy))), back(s))
}

// cut reports whether the run ended before all that waits has left, as one does whose interval is of
// centuries.
func (x *exam) cut() bool { return x.End < lasts(x.Schedule) }

// whyClosed is why nothing is accepted any more.
func (x *exam) whyClosed() string {
	return fmt.Sprintf("the input was closed at %s", timeline.Duration(x.closing.Began.At))
}

// refuse marks a way with the laws that it breaks, behind which nothing is judged.
func (s *state) refuse(w *ways, because, headline string, laws ...string) (on bool) {
	for _, id := range laws {
		if !w.Law(id, false, headline, "%s", because) {
			return false
		}
	}
	w.Open("the run has broken a law")
	return false
}

// mistimed refuses an item that leaves at another instant than its turn, or never.
func (s *state) mistimed(q entry, due time.Duration, w *ways) (on bool) {
	cfg := s.Schedule.Config
	came, never := timeline.Duration(q.put.Began.At), len(q.left) == 0
	id, because := "LB-EXACT", ""
	switch {
	case s.back > 0:
		id, because = "X-BACK", fmt.Sprintf("the clock was set back by %s", timeline.Duration(s.back))
	case s.cancelled:
		id, because = "LB-CANCEL", "another item was cancelled, and it must leave in its turn or in that of the other"
	case never && s.closed:
		id, because = "LB-CLOSE", "it was accepted before "+s.whyClosed()+", and CloseAtDeadline is declared"
	case never:
		id, because = "LB-DROP", "it was accepted at "+came
	case cfg.Busy > 0:
		because = fmt.Sprintf("it came at %s, and the function of the one before had returned by %s",
			came, timeline.Duration(due-cfg.Interval))
	case q.idle:
		id = "LB-IDLE"
		because = fmt.Sprintf("it came at %s and found an empty queue, and %s is declared",
			came, heads[s.traits.FirstItem-1])
	default:
		because = fmt.Sprintf("item %d waited, and an item leaves every %s while any waits",
			q.put.N, timeline.Duration(cfg.Interval))
		if slack := s.traits.Slack; slack > 0 {
			because += fmt.Sprintf(", once a Slack of %d, which is declared, is used up", slack)
		}
	}
	if never {
		return s.refuse(w, because, fmt.Sprintf("item %d never left (up to %s)", q.put.N, timeline.Duration(s.End)), id)
	}
	return s.refuse(w, because, fmt.Sprintf("item %d left at %s, want %s%s", q.put.N,
		timeline.Duration(q.left[0].Began.At), timeline.Duration(due), suite.If(!s.exact, " at the latest")), id)
}

// breaks finds runs that break a rule before any other.
func breaks(rule string) func(x *exam) *suite.Violation {
	return func(x *exam) *suite.Violation {
		if !x.judgeable {
			return nil
		}
		for _, m := range x.result().Seen {
			if m.Law == rule {
				return x.told(m.At, m.Because, "%s", m.Want)
			}
		}
		return nil
	}
}

// over is the N of what has settled at the end of a run.
const over = -1

// events are the trace in the terms of the model, up to its end. All that comes at one instant is one group: what
// an item that is due then meets is open.
func (x *exam) events() []model.Event {
	out := make([]model.Event, 0, 2*(len(x.Done)+len(x.Fires))+2)
	at := time.Duration(-1)
	for done, fires := 0, 0; done < len(x.Done) || fires < len(x.Fires); {
		e := model.Event{Kind: model.Fire, N: fires, Racing: true}
		if fires == len(x.Fires) || done < len(x.Done) && x.Done[done].Began.Seq < x.Fires[fires].Began.Seq {
			e.Kind, e.N, e.At = model.Call, done, x.Done[done].Began.At
			done++
		} else {
			e.At = x.Fires[fires].Began.At
			fires++
		}
		if at >= 0 && e.At > at {
			out = append(out, model.Event{Kind: model.Settled, At: at})
		}
		out, at = append(out, e), e.At
	}
	if at >= 0 {
		out = append(out, model.Event{Kind: model.Settled, At: at})
	}
	return append(out, model.Event{Kind: model.Settled, At: x.End, N: over})
}

// told makes a violation with the lanes of a leaky bucket.
func (x *exam) told(at time.Duration, because, headline string, args ...any) *suite.Violation {
	refused, want, got := suite.Lane{Name: "refused"}, suite.Lane{Name: "want"}, x.Got()
	wanted := x.quiet() && x.traits.FirstItem != 0
	for _, it := range x.items {
		switch n := it.put.N; {
		case !it.put.OK:
			refused.Marks = append(refused.Marks, suite.Mark{At: it.put.Began.At, Text: fmt.Sprint(n)})
		case wanted:
			want.Marks = append(want.Marks, suite.Mark{At: it.latest, Text: suite.FireMark(n)})
		}
	}
	v := suite.Broken(at, because, headline, args...)
	for _, l := range []suite.Lane{refused, want, got} {
		if len(l.Marks) > 0 {
			v.Lanes = append(v.Lanes, l)
		}
	}
	return v
}
