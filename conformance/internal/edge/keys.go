package edge

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// Key is the key of a step, or the number of its instance: 0 if it has none. Keys count from 1.
func Key(s conformance.Step) int {
	switch s.Op {
	case verb.Call, verb.Allow:
		return s.K
	case verb.Cancel, verb.Flush, verb.Reset:
		return s.N
	}
	return 0
}

// WithKey returns the step with another key, if it can have one.
func WithKey(s conformance.Step, key int) conformance.Step {
	switch s.Op {
	case verb.Call, verb.Allow:
		s.K = key
	case verb.Cancel, verb.Flush, verb.Reset:
		s.N = key
	}
	return s
}

// HasKeys reports whether a step of a schedule has a key.
func HasKeys(s conformance.Schedule) bool {
	return slices.ContainsFunc(s.Steps, func(st conformance.Step) bool { return Key(st) != 0 })
}

// LastKey is the highest key of a schedule.
func LastKey(s conformance.Schedule) (last int) {
	for _, st := range s.Steps {
		last = max(last, Key(st))
	}
	return last
}

// AllOrNone judges each key, where operations without one may be for each of them, or for none that has a name.
func AllOrNone(judge func(shared ...conformance.Op) *suite.Violation, ops ...conformance.Op) *suite.Violation {
	v := judge(ops...)
	if v != nil && judge() == nil {
		return nil
	}
	return v
}

// OfKey returns the part of a run that belongs to one key, or to one instance. What ends all of them is
// of each, and so are the operations that are shared.
func OfKey(rec *suite.Recording, key int, shared ...conformance.Op) *suite.Recording {
	own := *rec
	own.Schedule.Steps, own.Fires, own.Done = nil, nil, nil
	mine := map[int]bool{}
	concerns := func(s conformance.Step) bool {
		return Key(s) == key || Key(s) == 0 && (endsAll(s.Op) || slices.Contains(shared, s.Op))
	}
	for _, s := range rec.Schedule.Steps {
		if concerns(s) {
			own.Schedule.Steps = append(own.Schedule.Steps, s)
			mine[s.N] = mine[s.N] || s.Op.Counts()
		}
	}
	for _, d := range rec.Done {
		if concerns(d.Step) {
			own.Done = append(own.Done, d)
		}
	}
	for _, f := range rec.Fires {
		if f.Key == key || f.Key == 0 && mine[f.Value] {
			own.Fires = append(own.Fires, f)
		}
	}
	return &own
}

// OfKeys finds what judge finds of one key first.
func OfKeys(rec *suite.Recording, judge func(own *suite.Recording) *suite.Violation,
	shared ...conformance.Op) *suite.Violation {
	for key := 1; key <= LastKey(rec.Schedule); key++ {
		if v := judge(OfKey(rec, key, shared...)); v != nil {
			v.Headline = fmt.Sprintf("key %d: %s", key, v.Headline)
			return v
		}
	}
	return nil
}

// Beside reports whether an instance does something else beside others than alone: what it does wrong in either case is
// not owing to them.
func Beside(rec *suite.Recording, again suite.Rerun) bool {
	outcome := func(rec *suite.Recording) []string {
		var out []string
		for _, f := range rec.Fires {
			out = append(out, fmt.Sprint(f.Value, f.Began.At))
		}
		slices.Sort(out) // chance orders those of one instant
		for _, d := range rec.Done {
			out = append(out, fmt.Sprint(d.OK))
		}
		return out
	}
	for i := 1; i <= LastKey(rec.Schedule); i++ {
		own := OfKey(rec, i)
		if !slices.Equal(outcome(own), outcome(again(own.Schedule))) {
			return true
		}
	}
	return false
}

// endsAll reports whether an operation without a key ends all keys: a stop, or the end of the input of a stream.
func endsAll(op conformance.Op) bool { return op == verb.Stop || op == verb.Close }

// Needs is the operation that a step needs: one with a key that the implementation has takes its place. Otherwise the
// key is the number of an instance.
func Needs(s *suite.Suite, st conformance.Step, withKey map[conformance.Op]conformance.Op) conformance.Op {
	if op := withKey[st.Op]; Key(st) != 0 && s.Accepts(op) {
		return op
	}
	return st.Op
}

// FamilyOf names the family of a schedule that is run alone: that of keys or of instances if its
// steps have keys. Takes says with which operations the implementation takes a key.
func FamilyOf(schedule conformance.Schedule, takes func(op conformance.Op) bool) string {
	switch {
	case !HasKeys(schedule):
		return "replay"
	case slices.ContainsFunc(schedule.Steps, func(s conformance.Step) bool { return Key(s) != 0 && !takes(s.Op) }):
		return suite.Instances
	}
	return suite.Keys
}

// Apart reports whether each key of a stage's schedule has an instance of its own. FamilyOf is that of its contract.
func Apart(st *suite.Stage, familyOf func(*suite.Suite, conformance.Schedule) string) bool {
	return HasKeys(st.Schedule) &&
		(st.Family == suite.Instances || familyOf(st.Suite, st.Schedule) == suite.Instances)
}

// OneKey gives all steps of each schedule the key 1.
func OneKey(all []conformance.Schedule) []conformance.Schedule {
	return renamed(all, func(int) int { return 1 })
}

// renamed are the schedules with other keys, or without, if a key becomes 0.
func renamed(all []conformance.Schedule, to func(key int) int) []conformance.Schedule {
	out := make([]conformance.Schedule, len(all))
	for i, s := range all {
		out[i] = conformance.Schedule{Config: s.Config, Steps: slices.Clone(s.Steps)}
		for j, st := range s.Steps {
			out[i].Steps[j] = WithKey(st, to(Key(st)))
		}
	}
	return out
}

// Keyed gives each schedule of two steps and more the keys 1 and 2, in every way that starts with
// 1 and uses both.
func Keyed(all []conformance.Schedule) []conformance.Schedule {
	var out []conformance.Schedule
	for _, s := range all {
		n := len(s.Steps)
		for bits := 1; bits < 1<<(n-1); bits++ {
			steps := slices.Clone(s.Steps)
			for i := range steps {
				key := 1
				if i > 0 && bits>>(i-1)&1 == 1 {
					key = 2
				}
				steps[i] = WithKey(steps[i], key)
			}
			if !slices.ContainsFunc(steps, func(st conformance.Step) bool { return Key(st) == 2 }) {
				continue
			}
			out = append(out, conformance.Schedule{Config: s.Config, Steps: steps})
		}
	}
	return out
}

// Requests and keys: what the contracts of limiters and quotas share, whose operation is allow.

// ForKeys reports whether a schedule has requests for keys.
func ForKeys(s conformance.Schedule) bool {
	for i := range s.Steps { // without a copy of each, as many rules ask of each run
		if s.Steps[i].K != 0 && s.Steps[i].Op == verb.Allow {
			return true
		}
	}
	return false
}

// Unkeyed is about, without what has requests for keys.
func Unkeyed(about func(suite.Job) bool) func(suite.Job) bool {
	return func(j suite.Job) bool { return !ForKeys(j.Schedule) && (about == nil || about(j)) }
}

// ComeBack reports whether a key of a schedule is not asked for so long that a sweep may take it for old.
func ComeBack(s conformance.Schedule) bool {
	last := map[int]time.Duration{}
	for _, st := range s.Steps {
		if at, ok := last[Key(st)]; ok && Key(st) != 0 && st.At-at >= sweepAges[0] {
			return true
		}
		last[Key(st)] = st.At
	}
	return false
}

// NeedsKeys is the operation that a step needs: a request for a key needs keys.
func NeedsKeys(st conformance.Step, keys conformance.Op) conformance.Op {
	if st.Op == verb.Allow && st.K != 0 {
		return keys
	}
	return st.Op
}

// EachKey finds what judge finds of one key first. Some operations are for all keys.
func EachKey(rec *suite.Recording, judge func(own *suite.Recording) *suite.Violation,
	forAll ...conformance.Op) *suite.Violation {
	others := func(s conformance.Step) bool { return s.Op != verb.Allow && !slices.Contains(forAll, s.Op) }
	if slices.ContainsFunc(rec.Schedule.Steps, others) || suite.GoesBack(rec.Schedule) {
		return nil // of which key the newest instant is, or for which a limit is, is open
	}
	return OfKeys(rec, judge, forAll...)
}

// Alone finds a key of which something else is decided than if nobody asks for the others. Some operations are for
// all keys.
func Alone(rec *suite.Recording, again suite.Rerun, forAll ...conformance.Op) *suite.Violation {
	alone := map[string][]conformance.Done{}
	return EachKey(rec, func(own *suite.Recording) *suite.Violation {
		shape := renamed([]conformance.Schedule{own.Schedule}, func(int) int { return 0 })[0].String()
		if alone[shape] == nil {
			alone[shape] = again(own.Schedule).Done
		}
		for i, d := range own.Done {
			if want := alone[shape]; len(want) == len(own.Done) && d.OK != want[i].OK {
				return suite.Broken(d.At, "this is the decision without requests for other keys",
					"allow %d at %s was %s, want %s",
					d.N, timeline.Duration(d.At), suite.Decided(d.OK), suite.Decided(want[i].OK))
			}
		}
		return nil
	}, forAll...)
}

// KeyRules completes X-ISO, that each key is decided as if there were no others, and X-EVICT, that a key is not
// forgotten too soon, of limiters that have keys. Of returns a run, and whether its keys have to be compared with runs
// of their own, as no model says what is right: the Check of X-ISO is for other runs. Some operations are for all keys.
func KeyRules[T, E any](
	keys conformance.Op, of func(e E) (rec *suite.Recording, alone bool), iso, evict suite.Rule[T, E],
	forAll ...conformance.Op,
) []suite.Rule[T, E] {
	iso.Ops, evict.Ops = []conformance.Op{keys}, []conformance.Op{keys}
	iso.About = func(j suite.Job) bool { return ForKeys(j.Schedule) && !j.Schedule.Config.Has("epoch") }
	evict.About = func(j suite.Job) bool { return ForKeys(j.Schedule) && ComeBack(j.Schedule) }
	check := iso.Check
	iso.Check = func(e E) *suite.Violation {
		if _, alone := of(e); alone {
			return nil
		}
		return check(e)
	}
	iso.Owing = func(e E, again suite.Rerun) bool {
		rec, _ := of(e)
		return Alone(rec, again, forAll...) != nil
	}
	iso.Again = func(e E, again suite.Rerun) *suite.Violation {
		if rec, alone := of(e); alone {
			return Alone(rec, again, forAll...)
		}
		return nil
	}
	return []suite.Rule[T, E]{iso, evict}
}

// KeyedRequests are requests for keys within an interval or window of length t: for two keys in all ways, all n
// at once too if several can be asked for, and for many keys. Each time that one of many is asked for it is
// asked for n.
func KeyedRequests(cfg conformance.Config, t time.Duration, n int, several bool) []conformance.Schedule {
	gaps := slices.Compact([]time.Duration{0, t / 2, t})
	asks := []conformance.Step{{Op: verb.Allow, N: 1}}
	out := Keyed(suite.Sequences(cfg, asks, gaps, 4))
	if several && n > 1 {
		asks = append(asks, conformance.Step{Op: verb.Allow, N: n})
		out = append(out, Keyed(suite.Sequences(cfg, asks, gaps, 3))...)
	}
	out = append(out, neighbours(out)...)
	many := requests(n, n, ManyKeys(cfg, t/2, 2*t), ComingBack(cfg, t), Throng(cfg, t), Flow(cfg, t/8, 200))
	return append(out, many...)
}

// TwoKeys uses up two keys, asks for both again, then for a third one, and for the first one later: within t, the
// time in which one of n comes back, and after all have.
func TwoKeys(cfg conformance.Config, t time.Duration, n int) conformance.Schedule {
	return suite.Plan(cfg, slices.Concat(Ask(0, n, 1, 2), Ask(0, 1, 1, 2), Ask(t/4, 1, 3, 1),
		Ask(time.Duration(n+1)*t, 1, 1, 2))...)
}

// Ask asks for each key at an instant, several times for one at a time.
func Ask(at time.Duration, times int, keys ...int) []conformance.Step {
	var out []conformance.Step
	for _, key := range keys {
		st := conformance.Step{Op: verb.Allow, N: 1, K: key, At: at}
		out = append(out, slices.Repeat([]conformance.Step{st}, times)...)
	}
	return out
}

// KeysElsewhere are requests for one key more than there are, and those of TwoKeys, on clocks that start elsewhere.
func KeysElsewhere(cfg conformance.Config, t time.Duration, n int) []conformance.Schedule {
	var out []conformance.Schedule
	for _, epoch := range suite.Epochs {
		elsewhere := cfg.With("epoch", epoch)
		out = append(out, suite.Plan(elsewhere, Ask(0, n+1, 1)...), TwoKeys(elsewhere, t, n))
	}
	return out
}

// SweptRequests are requests for two keys, of which the first comes back late, after a sweep may have forgotten
// it: before it is as good as new, in t. All n are used up at first, or one at a time; many of them by one request
// if several can be asked for.
func SweptRequests(cfg conformance.Config, t time.Duration, n int, several bool) []conformance.Schedule {
	all := Swept(cfg, t)
	if n > 3 {
		if !several {
			return requests(n, n, all...)
		}
		out := requests(1, 1, all...)
		for _, s := range out {
			for i := range s.Steps {
				s.Steps[i].N = n
			}
		}
		return out
	}
	out := requests(n, n, all...)
	if n > 1 {
		out = append(out, requests(1, n, all...)...)
	}
	return append(out, neighbours(out)...)
}

// neighbours are schedules of two keys that are in one part of a table, however many parts it has: a power of
// two up to 64.
func neighbours(all []conformance.Schedule) []conformance.Schedule {
	return renamed(all, func(key int) int { return 1 + 64*(key-1) })
}

// requests makes requests of each call: n of the last ones, which come at one instant, and before them the
// number first.
func requests(first, n int, all ...conformance.Schedule) []conformance.Schedule {
	out := make([]conformance.Schedule, len(all))
	for i, s := range all {
		out[i].Config = s.Config
		for _, st := range s.Steps {
			times := first
			if st.At == s.Steps[len(s.Steps)-1].At {
				times = n
			}
			st.Op, st.N = verb.Allow, 1
			out[i].Steps = append(out[i].Steps, slices.Repeat([]conformance.Step{st}, times)...)
		}
	}
	return out
}

// Crowd are goroutines that ask limiters at one instant, round after round.
type Crowd struct {
	// Make makes a limiter, and returns what makes request n of goroutine g in a round, and what releases the limiter.
	Make func(env conformance.Env, place int) (ask func(round, g, n int) (granted bool), release func())
	// Each is how often each goroutine asks, and Few how often in every third round; 0 is for Each.
	Each, Few int
	// Before prepares a round, and Pass lets its time pass; nil does nothing.
	Before, Pass func(st *suite.Stage, round int)
	// Wanted is how many requests are to be granted in a round in which each goroutine asks so often, and why.
	Wanted func(times, round int) (want int, why string)
	// Asked says for what they ask so many times.
	Asked func(times int) string
}

// asked is a limiter of a crowd.
type asked struct {
	ask      func(round, g, n int) (granted bool)
	release  func()
	granted  atomic.Int64
	panicked atomic.Value
}

// Meet lets the crowd ask.
func (c Crowd) Meet(p *suite.Probe) (*suite.Violation, string) {
	m := suite.Meeting[*asked]{
		Make: func(env conformance.Env, place int) *asked {
			l := &asked{}
			l.ask, l.release = c.Make(env, place)
			return l
		},
		Each: c.Each, Few: c.Few, Before: c.Before, Pass: c.Pass,
		Call: func(l *asked, round, g, n int) {
			msg := suite.Catch(func() {
				if l.ask(round, g, n) {
					l.granted.Add(1)
				}
			})
			if msg != "" {
				l.panicked.Store(msg)
			}
		},
		Release: func(l *asked) { _ = suite.Catch(l.release) },
	}
	if m.Pass == nil {
		m.Pass = func(*suite.Stage, int) {}
	}
	m.Judge = func(l *asked, _, round int) *suite.Violation {
		granted, times := l.granted.Swap(0), m.Calls(round)
		if msg := l.panicked.Load(); msg != nil {
			return suite.Broken(0, "", "a request panicked: %s", msg)
		}
		want, why := c.Wanted(times, round)
		if granted == int64(want) {
			return nil
		}
		return suite.Broken(0, why, "%d goroutines asking %s were granted %d, want %d",
			suite.Meeters, c.Asked(times), granted, want)
	}
	return suite.Meet(p, m)
}

// MeetNewKeys lets goroutines ask at one instant, each in another order, for keys for which nobody has asked: of
// each of them one request must be granted. Make makes a limiter that grants one of each key, and returns what
// asks in a round and what releases it.
func MeetNewKeys(p *suite.Probe, before func(st *suite.Stage, round int),
	make func(env conformance.Env) (allow func(round, key int) bool, release func())) (*suite.Violation, string) {
	const keys = 10 // in each round
	return Crowd{
		Make: func(env conformance.Env, _ int) (func(round, g, n int) bool, func()) {
			allow, release := make(env)
			return func(round, g, n int) bool { return allow(round, 1+round*keys+(n+g)%keys) }, release
		},
		Each:   keys,
		Before: before,
		Wanted: func(_, round int) (int, string) {
			return keys, "these keys are new (" + suite.InRound(round) + "), and each grants one"
		},
		Asked: func(int) string { return fmt.Sprintf("at one instant for one of each of %d keys", keys) },
	}.Meet(p)
}
