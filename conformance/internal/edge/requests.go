package edge

import (
	"fmt"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// Requests and keys: what the contracts of limiters and quotas share, whose operation is allow.

// ForKeys reports whether a schedule has requests for keys.
func ForKeys(s conformance.Schedule) bool {
	return slices.ContainsFunc(s.Steps, func(st conformance.Step) bool {
		return st.Op == conformance.OpAllow && st.K != 0
	})
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

// EachKey finds what judge finds of one key first.
func EachKey(rec *suite.Recording, judge func(own *suite.Recording) *suite.Violation) *suite.Violation {
	if slices.ContainsFunc(rec.Schedule.Steps, func(s conformance.Step) bool { return s.Op != conformance.OpAllow }) {
		return nil
	}
	for key := 1; key <= LastKey(rec.Schedule); key++ {
		if v := judge(OfKey(rec, key)); v != nil {
			v.Headline = fmt.Sprintf("key %d: %s", key, v.Headline)
			return v
		}
	}
	return nil
}

// KeyedRequests are requests for keys within an interval or window of length t: for two keys in all ways, all n
// at once too if several can be asked for, and for many keys. Each time that one of many is asked for it is
// asked for n.
func KeyedRequests(cfg conformance.Config, t time.Duration, n int, several bool) []conformance.Schedule {
	gaps := []time.Duration{0, t / 2, t}
	asks := []conformance.Step{{Op: conformance.OpAllow, N: 1}}
	out := Keyed(suite.Sequences(cfg, asks, gaps, 4))
	if several && n > 1 {
		asks = append(asks, conformance.Step{Op: conformance.OpAllow, N: n})
		out = append(out, Keyed(suite.Sequences(cfg, asks, gaps, 3))...)
	}
	return append(out, requests(n, ManyKeys(cfg, t/2, 2*t), ComingBack(cfg, t), Throng(cfg, t), Flow(cfg, t/8, 200))...)
}

// SweptRequests are requests for two keys, of which the first comes back late, after a sweep may have forgotten
// it: before it is as good as new, in t.
func SweptRequests(cfg conformance.Config, t time.Duration, n int) []conformance.Schedule {
	return requests(n, Swept(cfg, t)...)
}

// requests makes n requests of each call.
func requests(n int, all ...conformance.Schedule) []conformance.Schedule {
	out := make([]conformance.Schedule, len(all))
	for i, s := range all {
		out[i].Config = s.Config
		for _, st := range s.Steps {
			st.Op, st.N = conformance.OpAllow, 1
			out[i].Steps = append(out[i].Steps, slices.Repeat([]conformance.Step{st}, n)...)
		}
	}
	return out
}
