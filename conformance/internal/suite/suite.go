package suite

import (
	"cmp"
	"math"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/internal/verb"
)

// Suite is what a contract may ask of the engine.
type Suite struct {
	// T is the test that runs the suite.
	T *testing.T
	// Time is how the implementation takes its time.
	Time conformance.TimeSource
	// Bubble says that runs happen in bubbles, where everything can be settled.
	Bubble bool
	// Inexact is why runs cannot be settled exactly, "" if they can.
	Inexact string
	// CannotReenter says that a method called from the callback has blocked for good.
	CannotReenter bool
	// Twice says that Play is to make a second instance and do everything with it first.
	Twice bool
	// Single says that a [conformance.Judge] runs schedules one by one, and nothing is explored.
	Single bool
	// Hung is how many runs outside the exploration hung.
	Hung int
	// Odd lets CANARY fail for why, and the rules judge all the same. It is for a canary.
	Odd string

	profile          Profile
	lab              *lab
	ops              map[conformance.Op]bool
	over             string                      // why nothing more is explored; "" if more is
	explained        bool                        // a rule was found broken that explains what others find
	first            *Hang                       // the first run, if it made no progress
	patient          bool                        // runs wait for goroutines that end late
	halts            halts                       // the runs that made no progress
	givenUp          map[string]string           // why, by family
	undeclared       bool                        // see Undeclared
	optional         bool                        // what is undeclared need not be declared
	recovers         bool                        // see Recovers
	telling, because string                      // see Tells
	attempted        func(j Job, rec *Recording) // is told what is tried, where that is to be known
	explored         int                         // interleavings
	unexplored       map[string]string           // why there are none, by rule

	reached func(family string, guardsAndOutcomes []string) // is told of each run, where that is to be known
}

// Accepts reports whether the implementation has an operation.
func (s *Suite) Accepts(op conformance.Op) bool { return s.ops[op] }

// runs reports whether a step can be run. To be idle is no operation of the implementation.
func (s *Suite) runs(st conformance.Step) bool {
	return st.Op == verb.Idle || s.Accepts(s.needed(st))
}

// needed is the operation that an implementation needs for a step.
func (s *Suite) needed(st conformance.Step) conformance.Op {
	if s.profile.Needs == nil {
		return st.Op
	}
	return s.profile.Needs(s, st)
}

// Supported returns those of the operations that the implementation has.
func (s *Suite) Supported(ops ...conformance.Op) []conformance.Op {
	return slices.DeleteFunc(slices.Clone(ops), func(op conformance.Op) bool { return !s.ops[op] })
}

// Undeclared reports whether a choice is undeclared that everybody must declare. What can be
// opted out of is not judged until then, as TRAITS prints the opt-outs with the other choices.
func (s *Suite) Undeclared() bool { return s.undeclared && !s.optional }

// Unsettled is why the suite cannot wait for what a timer of no duration starts, "" if it
// can.
func (s *Suite) Unsettled() string {
	return If(s.Time == conformance.Injected && !s.Bubble, atOnce)
}

// Livelocks is why timers of package time cannot be armed with no duration, "" if they can:
// on Go 1.25 Timer.Reset then keeps the process busy for ever, which nothing can end, if a
// goroutine is waiting for the timer's channel (go.dev/issue/76052).
func (s *Suite) Livelocks() string {
	return If(s.Time == conformance.PackageTime && strings.HasPrefix(runtime.Version(), "go1.25"),
		"on Go 1.25 Timer.Reset with no duration can keep a bubble busy for ever (go.dev/issue/76052)")
}

// Ended is why nothing more is explored, or else what the first run did that made no progress.
func (s *Suite) Ended() string { return cmp.Or(s.over, s.halts.first) }

// Try runs a schedule n times outside the exploration and returns what was recorded. Where
// a run hangs there are fewer.
func (s *Suite) Try(schedule conformance.Schedule, order inside.Order, n int) []*Recording {
	defer s.aside()()
	var out []*Recording
	jobs := slices.Repeat([]Job{{Schedule: schedule, Order: order}}, n)
	if h := s.lab.run(jobs, func(j Job, rec *Recording) {
		if out = append(out, rec); s.attempted != nil {
			s.attempted(j, rec)
		}
	}); h != nil {
		s.givenUp["traits"] = "a run hung: " + h.Job.Schedule.String()
		s.Hung++
		s.Tells(h.Job.Schedule, "a call never returned")
	}
	return out
}

// aside lets runs happen on one processor that count as none of the exploration, until its result is called.
func (s *Suite) aside() (back func()) {
	runs, restore := s.lab.runs, OneProcessor()
	return func() {
		restore()
		s.lab.runs = runs
	}
}

// Tells notes which schedule tells the value that is being observed, and what it shows.
func (s *Suite) Tells(schedule conformance.Schedule, what string) {
	s.telling, s.because = schedule.String(), ", where "+what
}

// Progresses reports whether none of the schedules hangs. It is for those that some implementations
// cannot be driven with, so that a hang is no finding.
func (s *Suite) Progresses(schedules []conformance.Schedule) bool {
	jobs := make([]Job, len(schedules))
	for i := range jobs {
		jobs[i] = Job{Schedule: schedules[i], Order: inside.OrderSettled}
	}
	defer s.aside()()
	ended := 0
	h := s.lab.run(jobs, func(_ Job, rec *Recording) { ended += Number(rec.LeftOut == "" && !rec.Stuck) })
	return h == nil && ended == len(jobs)
}

// TryText is Try with a schedule's text: once, or as often as chance needs where the
// schedule races on package time, or with a receiver.
func (s *Suite) TryText(text string, order inside.Order) []*Recording {
	schedule, n := MustParse(text), 1
	switch {
	case schedule.RacingSteps() > 0 && s.Time == conformance.PackageTime:
		order, n = inside.OrderSampled, Samples
	case order == inside.OrderReceived:
		n = again
	}
	return s.Try(schedule, order, n)
}

// Tried is TryText without the runs in which nothing can be seen: they were refused, left out, or not all was done.
func (s *Suite) Tried(text string, order inside.Order) []*Recording {
	return slices.DeleteFunc(s.TryText(text, order), func(rec *Recording) bool {
		done := len(rec.Done)
		for _, st := range rec.Schedule.Steps {
			done += Number(st.Op == verb.Wall) // which is not done to the implementation
		}
		return rec.Refused != "" || rec.LeftOut != "" || rec.Stuck || done < len(rec.Schedule.Steps)
	})
}

// Settled is Tried for a schedule in which nothing races: it returns the run, nil if nothing can be seen in it.
func (s *Suite) Settled(text string) *Recording {
	for _, rec := range s.Tried(text, inside.OrderSettled) {
		return rec
	}
	return nil
}

// Share returns the share of runs for which pred holds, from 0 to 1; 0 if there are no
// runs.
func Share(runs []*Recording, pred func(*Recording) bool) float64 {
	n := 0
	for _, r := range runs {
		if pred(r) {
			n++
		}
	}
	return float64(n) / float64(max(1, len(runs)))
}

// Play runs something else than the contract's schedules: once, on a stage of its own. It
// returns the hang if it makes no progress.
func (s *Suite) Play(play func(st *Stage)) *Hang { return s.lab.with(play).once() }

// PlayOutside is Play outside bubbles: settling would order what must stay unordered for
// the race detector to see it.
func (s *Suite) PlayOutside(play func(st *Stage)) *Hang {
	l := s.lab.with(play)
	l.bubble = false
	return l.once()
}

// Run runs jobs outside the exploration.
func (s *Suite) Run(jobs []Job, see func(Job, *Recording)) *Hang {
	defer OneProcessor()()
	return s.lab.run(jobs, see)
}

// Rerun plays another schedule on a fresh instance, in the bubble of the run that is judged.
func (s *Suite) Rerun(schedule conformance.Schedule) *Recording {
	j := Job{Schedule: schedule}
	st := newStage(s, j, s.lab.driver(j, s.Bubble))
	s.lab.play(st)
	return st.Rec.finish()
}

// InBubble runs f in a bubble.
func (s *Suite) InBubble(f func()) { s.lab.inBubble(f) }

// Probe is what a rule that judges by runs of its own gets.
type Probe struct {
	*Suite
	rule     string
	explored []conformance.Schedule
	stall    string // why it is inconclusive, "" if it is not
	spent    bool   // time stood still in a run of its own, because its budget was used up

	explorations int // so far
}

// Does says what the runs do that the probe makes, should one of them end the process. Until it is
// called, that is what its rule demands.
func (p *Probe) Does(what string) { p.lab.last.does(p.rule, what) }

// Play is [Suite.Play] for a run that shows nothing if its budget is used up: time stands still
// then, and whatever the probe finds is left out.
func (p *Probe) Play(play func(st *Stage)) *Hang {
	return p.Suite.Play(func(st *Stage) {
		if text := Catch(func() { play(st) }); text != "" {
			p.Stalled("a run that the rule makes for itself panicked: " + text)
		}
		p.spent = p.spent || st.Spent()
	})
}

// PlayToEnd is [Suite.Play] for a run that must come to its end. One that makes no progress
// shows nothing, and false is returned: where the probe then finds neither a violation nor a reason to skip, its
// rule is inconclusive.
func (p *Probe) PlayToEnd(play func(st *Stage)) (ended bool) {
	if p.Play(play) == nil {
		return true
	}
	p.Stalled("a run that the rule makes for itself made no progress")
	return false
}

// Explored counts schedules that the probe runs as explored.
func (p *Probe) Explored(s ...conformance.Schedule) { p.explored = append(p.explored, s...) }

// Stalled says that a run made no progress, so that the rule is inconclusive unless something
// was found.
func (p *Probe) Stalled(why string) { p.stall = why }

// Samples is how often a racing schedule runs where the order is chance, and Chance the
// share of those runs in which a finding must turn up if honest code can produce it by
// being overtaken between its decision and the first instruction of its callback. Sampled
// runs use one processor, on which that takes a preemption at the wrong moment: less than
// one run in a thousand. A missing check shows in about half of them.
const (
	Samples = 80
	Chance  = 0.15
)

// Wait is the wait, interval or timeout of most schedules.
const Wait = 100 * time.Millisecond

// OwnGoroutines is why runs cannot be judged outside a bubble.
const OwnGoroutines = "goroutines of the implementation can only be driven exactly in a bubble"

// OnlyInBubble is why leaks cannot be seen outside a bubble.
const OnlyInBubble = "goroutines can only be told apart in a bubble"

// Unordered is why events in a row are not brought outside a bubble.
const Unordered = "only a bubble can wait for what events in a row have started"

// WithoutRaceDetector is why rules that need it are skipped, "" if it is there.
func WithoutRaceDetector() string {
	return If(!RaceDetector, "data races show only with -race")
}

// If returns why if yes is true, "" otherwise.
func If(yes bool, why string) string {
	if yes {
		return why
	}
	return ""
}

// A constructor may put aside a place for each of the things it is made for, as a channel
// that is filled with tokens does. Asked for 2147483647 of them it takes minutes, or all the
// memory that there is, of which a process dies.
const (
	// Many is how many things [Suite.TakesEach] asks for. What is to hold more is not made if
	// its constructor takes room, a byte or more, or time for each.
	Many      = 1 << 20
	leastTime = Many * time.Nanosecond
	// Whatever else the process and the machine do meanwhile, they do not do each time.
	takes = 5
)

// TakesEach reports whether what make does with [Many] things takes room or time for each of
// them. What it makes is thrown away by the function that it returns.
func (s *Suite) TakesEach(make func(st *Stage, n int) (end func())) bool {
	little, usual := uint64(math.MaxUint64), time.Duration(math.MaxInt64)
	for range takes { // a machine that is busy may hold up one of them for long
		room, took := s.cost(make, 1)
		little, usual = min(little, room), min(usual, took)
	}
	each := func(n int) bool {
		for range takes {
			room, took := s.cost(make, n)
			if room < little+uint64(n) && took < max(leastTime, 10*usual) {
				return false
			}
		}
		return true
	}
	return each(Many/16) || each(Many) // fewer show sooner that they take room
}

// cost is what a run needs in which n things are made. Its time is taken outside the bubble, where
// it is real.
func (s *Suite) cost(make func(st *Stage, n int) func(), n int) (room uint64, took time.Duration) {
	began := time.Now()
	s.Play(func(st *Stage) {
		var end func()
		before := allocated()
		refused := Catch(func() { end = make(st, n) })
		room = allocated() - before
		if refused == "" {
			_ = Catch(end)
		}
		st.Settle()
	})
	return room, time.Since(began)
}

// allocated is how many bytes the process has allocated so far.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
