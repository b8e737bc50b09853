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
	for key := 1; key <= LastKey(rec.Schedule); key++ {
		if v := judge(OfKey(rec, key, forAll...)); v != nil {
			v.Headline = fmt.Sprintf("key %d: %s", key, v.Headline)
			return v
		}
	}
	return nil
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

// newcomers is a limiter that grants one of each key, for which several goroutines ask at one instant.
type newcomers struct {
	allow    func(round, key int) bool
	release  func()
	granted  atomic.Int64
	panicked atomic.Value
}

// MeetNewKeys lets goroutines ask at one instant, each in another order, for keys for which nobody has asked: of
// each of them one request must be granted. Make makes a limiter that grants one of each key, and returns what
// asks in a round and what releases it.
func MeetNewKeys(p *suite.Probe, before func(st *suite.Stage, round int),
	make func(env conformance.Env) (allow func(round, key int) bool, release func())) (*suite.Violation, string) {
	const keys = 10 // in each round
	return suite.Meet(p, suite.Meeting[*newcomers]{
		Make: func(env conformance.Env, _ int) *newcomers {
			l := &newcomers{}
			l.allow, l.release = make(env)
			return l
		},
		Each:   keys,
		Before: before,
		Call: func(l *newcomers, round, g, n int) {
			msg := suite.Catch(func() {
				if l.allow(round, 1+round*keys+(n+g)%keys) {
					l.granted.Add(1)
				}
			})
			if msg != "" {
				l.panicked.Store(msg)
			}
		},
		Pass: func(*suite.Stage, int) {},
		Judge: func(l *newcomers, _, round int) *suite.Violation {
			granted := l.granted.Swap(0)
			if msg := l.panicked.Load(); msg != nil {
				return suite.Broken(0, "", "a request panicked: %s", msg)
			}
			if granted == keys {
				return nil
			}
			return suite.Broken(0, "these keys are new ("+suite.InRound(round)+"), and each grants one",
				"%d goroutines asking at one instant for one of each of %d keys were granted %d, want %d",
				suite.Meeters, keys, granted, keys)
		},
		Release: func(l *newcomers) { _ = suite.Catch(l.release) },
	})
}
