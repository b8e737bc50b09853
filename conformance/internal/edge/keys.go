package edge

import (
	"fmt"
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
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
