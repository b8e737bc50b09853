package suite

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/internal/verb"
	"github.com/jonboulle/clockwork"
)

// Stage is where one schedule runs on one fresh instance.
type Stage struct {
	*Suite
	Job
	Driver
	Rec *Recorder

	// Blocks says which steps may wait for what only the driver can bring, so that they
	// need a goroutine of their own; nil means none.
	Blocks func(s conformance.Step) bool
	// Rests makes everything settle right after each step, not only before the next one.
	Rests bool
	// After is called with each step when everything has settled after it; only if Rests
	// is set.
	After func(s conformance.Step)
	// Occupied reports whether a step must not be done, because a call is under way that may
	// hold a lock while it waits for its time: no bubble can settle two of these. The run then
	// ends and is left out. Nil is for implementations that hold none.
	Occupied func(rec *Recording, next conformance.Step) bool
	// Alone makes a racing step meet the timers of its own instant only: everything that
	// is due earlier comes and settles first.
	Alone bool
	// Released is the operation of the last step, or of the callback, if it releases everything, and nothing comes for
	// months after it; "" if not.
	Released conformance.Op
	// Waits reports whether a caller waits whom no step of the recording shows; nil means none does.
	Waits func() bool
	// Fresh makes racing steps at 0 with which a schedule begins come right behind the
	// constructor, before what it has started has run.
	Fresh bool

	before crowd        // who was in the bubble of a run that looks for what it leaves
	fate   atomic.Int32 // what has become of the run: playing, judging or givenUp
}

// newStage prepares a run.
func newStage(s *Suite, j Job, d Driver) *Stage {
	st := &Stage{Suite: s, Job: j, Driver: d, Rec: &Recorder{now: d.Now}}
	st.Rec.rec.Schedule, st.Rec.rec.Order = j.Schedule, j.Order
	return st
}

// What becomes of a run.
const (
	playing int32 = iota
	judging
	givenUp
)

// forever never comes. It belongs to no bubble, so that one with goroutines that wait for it does not end.
var forever = make(chan struct{})

// hand hands what was recorded to judge and counts the job as done. It never returns if the run was given up.
func (s *Stage) hand(judge func(Job, *Recording), j Job, next *atomic.Int64) {
	if !s.fate.CompareAndSwap(playing, judging) {
		<-forever
	}
	rec := s.Rec.finish()
	rec.wakes = s.used().wakes
	judge(j, rec)
	next.Add(1)
	if !s.fate.CompareAndSwap(judging, playing) {
		<-forever
	}
}

// ends keeps the calling goroutine for good if the run was given up.
func (s *Stage) ends() {
	if s.fate.Load() == givenUp {
		<-forever
	}
}

// Config is the schedule's.
func (s *Stage) Config() conformance.Config { return s.Schedule.Config }

// Steps are the schedule's.
func (s *Stage) Steps() []conformance.Step { return s.Schedule.Steps }

// Settle is that of the driver. Each is progress: who plays a schedule settles so often only,
// while a run that is stuck never comes to the next.
func (s *Stage) Settle() {
	s.lab.rounds.Add(1)
	s.Driver.Settle()
}

// To is that of the driver. Where that gives up, the run is left out.
func (s *Stage) To(at time.Duration) {
	s.Driver.To(at)
	if s.Spent() {
		s.Rec.Locked(func(rec *Recording) { rec.LeftOut = polls })
	}
}

// Spent reports whether time stands still because the budget of the run is used up.
func (s *Stage) Spent() bool { return s.used().spent }

// Env is what the instance is made in. Its clock recovers the planned panic, and stops an
// implementation that arms timers of no duration without end.
func (s *Stage) Env() conformance.Env { return s.EnvOf(1) }

// late reports whether time has not come, or cannot come, to the next tick of what is as slow as the configuration.
func (s *Stage) late() bool { return s.Spent() || slices.Max(terms(s.Config())) > Century }

// EnvOf is Env for as many instances on one clock.
func (s *Stage) EnvOf(instances int) conformance.Env {
	w := &watched{stage: s, most: Endless * instances}
	var c clockwork.Clock = &arming{ending{s.Clock(), s}, w.armed}
	if s.Config().Panics != 0 {
		c = guarded{c}
	}
	return s.env(c)
}

// Plain is Env with a clock that does neither.
func (s *Stage) Plain() conformance.Env {
	return s.env(ending{s.Clock(), s})
}

func (s *Stage) env(c clockwork.Clock) conformance.Env {
	start := s.Config().Start()
	if b, ok := s.Driver.(*BubbleTime); ok { // a rerun begins later
		start = start.Add(b.start.Sub(start))
	}
	if s.readings != nil {
		reads := readClock{c, start, s.Rec, s.readings}
		c = &arming{reads, reads.armed}
	}
	return conformance.Env{Clock: c, Start: start}
}

// Make makes an instance. It records what the constructor panics with, and reports whether
// it did not.
func (s *Stage) Make(make func()) bool {
	s.Rec.rec.Refused = Catch(make)
	return s.Rec.rec.Refused == ""
}

// Fake is the fake clock, nil on package time.
func (s *Stage) Fake() *fakeclock.Clock {
	if h, ok := s.Driver.(*FakeTime); ok {
		return h.Fake
	}
	return nil
}

// Exact reports whether the driver can tell when everything that runs on goroutines has
// settled.
func (s *Stage) Exact() bool {
	h, ok := s.Driver.(*FakeTime)
	return !ok || h.Bubble
}

// Each does the steps of the schedule, each at its instant, in the order with its timers
// that the job says. The function row says how many of the steps that are left are done
// without a pause; nil means one. Idle steps let time pass, wall steps set the wall clock
// of a fake clock, and the function do does everything else. It returns the instant of the
// last step.
func (s *Stage) Each(row func(left []conformance.Step) int, do func(st conformance.Step)) (end time.Duration) {
	steps := s.Steps()
	for i, n := 0, 1; i < len(steps) && !s.Rec.LeftOut(); i += n {
		first := steps[i]
		if n = 1; row != nil {
			n = row(steps[i:])
		}
		all := func() {
			for _, st := range steps[i : i+n] {
				do(st)
			}
		}
		switch {
		case i == 0 && s.Fresh && first.Racing && first.At == 0:
			all()
			s.Settle()
		case first.Op == verb.Idle:
			s.To(first.At)
		case first.Op == verb.Wall:
			s.To(first.At)
			if fake := s.Fake(); fake != nil {
				fake.SetWall(fake.Now().Add(first.D))
			}
		default:
			s.one(first, all)
		}
		end = max(end, first.At)
	}
	if s.Look && s.Released != "" && s.Bubble {
		s.lookReleased(end)
	}
	return end
}

// Together is how many of the steps that are left are done without a pause: those that race at one instant.
func Together(left []conformance.Step) int {
	n := 1
	for left[0].Racing && n < len(left) && left[n].Racing && left[n].At == left[0].At {
		n++
	}
	return n
}

// one does the steps that are done without a pause.
func (s *Stage) one(first conformance.Step, all func()) {
	if s.Occupied != nil && s.occupied(first) {
		s.LeaveOut()
		return
	}
	blocks := s.Blocks != nil && s.Blocks(first)
	switch {
	case first.Racing:
		if s.Alone {
			s.To(max(s.Now(), first.At-1))
		}
		s.Race(first.At, s.Order, all)
	case blocks:
		s.To(first.At)
		Start(all)
	default:
		s.To(first.At)
		all()
	}
	if s.Rests || blocks {
		s.Settle()
	}
	if s.After != nil {
		s.After(first)
	}
}

// twoCalls is why a run that Occupied ends is left out.
const twoCalls = "two calls at once, of which one holds a lock while it waits for its time: no bubble settles them"

// LeaveOut leaves the run out because two calls at once would have to be settled.
func (s *Stage) LeaveOut() { s.Rec.Locked(func(rec *Recording) { rec.LeftOut = twoCalls }) }

// occupied asks Occupied about a step when everything before its instant has come.
func (s *Stage) occupied(next conformance.Step) (yes bool) {
	s.To(max(s.Now(), next.At-1))
	s.Settle()
	s.Rec.Locked(func(rec *Recording) { yes = s.Occupied(rec, next) })
	if !yes && !next.Racing { // it may have come at this very instant
		s.To(next.At)
		s.Settle()
	}
	return yes
}

// During does what the callback of a schedule does, after its start was recorded as fire
// i: an operation, some time, a panic. Inside does the operation, in the first callback, and on
// both edges in the second, too, which may be the first of the trailing edge.
func (s *Stage) During(i, key int, inside func(conformance.Step)) {
	callback(func() {
		defer s.Rec.Fired(i)
		cfg := s.Config()
		if key != 0 {
			s.Rec.Locked(func(rec *Recording) { rec.Fires[i].Key = key })
		}
		step := conformance.Step{Op: cfg.Inside, At: s.Now()}
		if step.Op.Counts() {
			step.N = InsideNumber(s.Schedule)
		}
		if i+1 == max(1, cfg.InsideRun) && cfg.Inside != "" && cfg.Busy == 0 {
			inside(step)
		}
		s.Work(i)
		if step.At = s.Now(); cfg.Inside != "" && cfg.Busy > 0 && (i == 0 || !step.Op.Counts()) {
			inside(step) // each does it, so that those do that run at the same time
		}
		if i+1 != cfg.Panics {
			return
		}
		if called, survived := survivable(); survived || s.recovers {
			s.Rec.Locked(func(rec *Recording) { rec.Panicked, rec.Called = true, called })
			panic(PlannedPanic)
		}
	})
}

// Work takes the time that callback i takes.
func (s *Stage) Work(i int) {
	if cfg := s.Config(); cfg.Busy > 0 && (cfg.BusyRuns == 0 || i < cfg.BusyRuns) {
		s.Clock().Sleep(cfg.Busy)
	}
}

// Callback runs what the implementation calls, so that stacks show it.
func (s *Stage) Callback(do func()) { callback(do) }

// InsideNumber is the payload of a call made in a callback: the next after those of the schedule's steps.
func InsideNumber(s conformance.Schedule) int {
	last := 0
	for _, st := range s.Steps {
		if st.Op.Counts() {
			last = max(last, st.N)
		}
	}
	return last + 1
}

// End ends the recording at an instant by which all that the schedule can bring has come,
// and then releases what was made. A run that looks for what is left behind first waits
// for matters, the time in which anything can still happen.
func (s *Stage) End(at, matters time.Duration, release func()) {
	s.To(at)
	s.Settle()
	s.Rec.mu.Lock()
	if !s.Rec.closed {
		s.Rec.rec.End = at
		s.Rec.closed = !s.Look
		s.Rec.late = len(s.Rec.rec.Done)
	}
	s.Rec.mu.Unlock()
	release()
	switch {
	case s.Look:
		s.Settle()
		s.To(Sum(at, matters))
		s.Rec.rec.Armed = s.Armed()
		if s.Bubble && len(s.before.left()) > 0 { // they may end at their next tick, and with them what is armed
			s.pause()
			s.Rec.rec.Armed = s.Rec.rec.Armed && (len(s.before.left()) > 0 || s.Armed())
		}
	case s.patient:
		s.Settle()
		s.pause()
	}
	s.Settle()
}

// pause lets goroutines end that do so at their next tick: until all that is armed has come, or where nobody can
// say what is, for a minute, or as long as the longest time of the configuration.
func (s *Stage) pause() {
	until := s.Now() + max(time.Minute, slices.Max(terms(s.Config())))
	if h, ok := s.Driver.(*FakeTime); ok {
		until = s.Now()
		for _, t := range h.Fake.Timers() {
			until = max(until, t.Deadline.Sub(h.Start))
		}
	}
	s.To(until)
}

// Rest waits, before the run looks for goroutines or the bubble ends, for ten times as
// long as what happened until end can matter to an instance that has no Stop: a goroutine
// that cleans up and ends when nothing is left to clean is no leak. It waits a year at
// most, since package time has a last instant.
func (s *Stage) Rest(end, matters time.Duration) {
	if end < Century && matters > 0 && matters < Year/10 {
		s.To(end + 10*matters)
	}
}

// lookReleased ends the recording an hour after the last step, which releases everything, and looks at
// the goroutines and timers then. Where somebody waits still, the timer may be his, and the recording goes on.
// So it does where a callback was to release it that has not come.
func (s *Stage) lookReleased(last time.Duration) {
	s.To(last + time.Hour)
	s.Settle()
	if s.Waits != nil && s.Waits() {
		return
	}
	left := s.before.left()
	s.Rec.mu.Lock()
	defer s.Rec.mu.Unlock()
	rec := &s.Rec.rec
	inside := func(d conformance.Done) bool { return d.Inside }
	if rec.Schedule.Config.Inside != "" && !slices.ContainsFunc(rec.Done, inside) ||
		slices.ContainsFunc(rec.Done, func(d conformance.Done) bool { return d.Ended.Seq == 0 }) ||
		slices.ContainsFunc(rec.Fires, func(f conformance.Fire) bool { return f.Ended.Seq == 0 }) {
		return
	}
	rec.Left, rec.End, s.Rec.closed = left, s.Now(), true
	rec.Kept = conformance.Op(If(s.Armed(), string(s.Released)))
}

// Await does an operation. If it takes time on an injected clock, the clock is moved from timer to
// timer until it has returned.
func (s *Stage) Await(takes bool, do func()) {
	if !takes || s.Time != conformance.Injected {
		do()
		return
	}
	returned := make(chan struct{})
	Start(func() { do(); close(returned) })
	const most = 1000 // more timers than any operation arms
	for range most {
		s.Settle()
		select {
		case <-returned:
			return
		default:
		}
		fake := s.Fake()
		next, armed := time.Time{}, false
		if fake != nil {
			next, armed = fake.Next()
		}
		if !armed {
			break
		}
		s.To(next.Sub(s.Config().Start()))
	}
	<-returned
}
