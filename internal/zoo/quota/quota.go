// Package quota has the zoo's quotas.
package quota

import (
	"fmt"

	qt "github.com/escapement-go/escapement/conformance/quotatest"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/escapement-go/escapement/synctestcompat"
)

const (
	idleAddsUp      = "each idle time brings a quarter of an event"
	sinceUnix       = "windows are counted from 1970"
	sumsPastLargest = "the sum with a limit near the largest int overflows"
	deniedSetBack   = "what is denied drops events, and its instant is not the newest"
	roomForOne      = "room for one is room for all"
	setBackAnew     = "a clock that was set back makes a new limiter of it"
)

// Mutants are mistakes, each of a limiter of one kind, with the rule that must catch it.
func Mutants() []zoo.Mutant {
	var all []zoo.Mutant
	for _, m := range []struct {
		name string
		kind qt.Kind
		rule string
	}{
		{"one too many", qt.SlidingLog, "SW-ANY"},
		{roomForOne, qt.SlidingLog, "SW-ANY"},
		{"forgets the whole log", qt.SlidingLog, "SW-ANY"},
		{"the window is cut to whole seconds", qt.SlidingLog, "SW-ANY"},
		{"ages are cut to whole milliseconds", qt.SlidingLog, "SW-WORK"},
		{"an event leaves a nanosecond late", qt.SlidingLog, "SW-EXP"},
		{"the last one is denied", qt.SlidingLog, "SW-WORK"},
		{"a denied request counts", qt.SlidingLog, "SW-DENYCOUNT"},
		{"forgets the window before", qt.SlidingCounter, "SC-APPROX"},
		{"the last of a full window does not fade", qt.SlidingCounter, "SC-APPROX"},
		{"the window before fades twice", qt.SlidingCounter, "SC-APPROX"},
		{"an old instant starts anew", qt.SlidingCounter, "SC-ORDER"},
		{"the window before fades in tenths", qt.SlidingCounter, "SC-APPROX"},
		{"keeps the window before for ever", qt.SlidingCounter, "SC-N1"},
		{"a burst of one is none", qt.SlidingCounter, "SC-N1"},
		{"windows begin with the first request", qt.SlidingCounter, "SC-FIRST"},
		{"one too many", qt.FixedWindow, "FW-ALIGNED"},
		{roomForOne, qt.FixedWindow, "FW-ALIGNED"},
		{"windows begin with the first request", qt.FixedWindow, "FW-ALIGNED"},
		{sinceUnix, qt.FixedWindow, "FW-ALIGNED"},
		{sinceUnix, qt.SlidingCounter, "SC-FIRST"},
		{sumsPastLargest, qt.FixedWindow, "FW-ALIGNED"},
		{sumsPastLargest, qt.SlidingCounter, "SC-APPROX"},
		{"half of the limit carries over", qt.FixedWindow, "FW-2N"},
		{"the window is cut to whole seconds", qt.FixedWindow, "FW-NOEXTEND"},
		{"a hit extends the window", qt.FixedWindow, "FW-NOEXTEND"},
		{"a window begins a nanosecond late", qt.FixedWindow, "FW-EDGE"},
		{"the last one is denied", qt.FixedWindow, "FW-HIT"},
		{"denies everything", qt.FixedWindow, "FW-NOEXTEND"},
		{"a nanosecond early", qt.GCRA, "GC-EQUIV"},
		{"the interval is cut to whole milliseconds", qt.GCRA, "GC-EQUIV"},
		{"retry is cut to whole nanoseconds", qt.GCRA, "GC-RETRY"},
		{"half a billionth of an event is none", qt.GCRA, "GC-EQUIV"},
		{"one too many", qt.GCRA, "GC-BURST"},
		{"the last one is denied", qt.GCRA, "GC-BURST"},
		{roomForOne, qt.GCRA, "GC-BURST"},
		{"idle time builds up", qt.GCRA, "GC-TAT"},
		{idleAddsUp, qt.GCRA, "GC-TAT"},
		{"what begins an epoch does not count", qt.GCRA, "GC-TAT"},
		{"an old instant starts anew", qt.GCRA, "GC-TAT"},
		{"retry is a nanosecond short", qt.GCRA, "GC-RETRY"},
		{"retry is a nanosecond short", qt.SlidingLog, "GC-RETRY"},
		{"retry of what never fits", qt.GCRA, "GC-RETRYNEG"},
		{"remaining counts before", qt.GCRA, "GC-REMAIN"},
		{"remaining counts before", qt.SlidingCounter, "GC-REMAIN"},
		{"remaining forgets the window before", qt.SlidingCounter, "GC-REMAIN"},
		{"remaining of an old instant counts from there", qt.GCRA, "GC-REMAIN"},
		{"reset is one event late", qt.GCRA, "GC-RESET"},
		{"answers from the instants of what came late", qt.SlidingLog, "GC-RESET"},
		{"a denied request counts", qt.GCRA, "GC-DENYPURE"},
		{"a look takes one", qt.GCRA, "GC-PEEKPURE"},
		{"a look lets go a nanosecond early", qt.SlidingLog, "GC-PEEKPURE"},
		{"a negative request gives back", qt.GCRA, "GC-NEG"},
		{"the sum overflows", qt.FixedWindow, "RL-NBIG"},
		{"a large request starts anew", qt.GCRA, "RL-NBIG"},
		{"counts what comes late where it belongs", qt.SlidingLog, "RL-PAST"},
		{"goes back behind a request that was denied", qt.SlidingCounter, "RL-PAST"},
		{"a late request of several counts as one", qt.FixedWindow, "RL-PAST"},
		{"goes back to a window of long ago", qt.FixedWindow, "RL-PAST"},
		{"an instant of long ago is for ever", qt.GCRA, "RL-PAST"},
		{setBackAnew, qt.FixedWindow, "RL-PAST"},
		{setBackAnew, qt.GCRA, "GC-TAT"},
		{"the zero time means new", qt.FixedWindow, "RL-EPOCH"},
		{"the zero time means new", qt.GCRA, "RL-EPOCH"},
		{"panics on the third request", qt.FixedWindow, "X-CALLS"},
		{"the constructor divides by half of the limit", qt.FixedWindow, "X-CALLS"},
		{"keeps a lock when it denies", qt.GCRA, "X-CALLS"},
		{"takes any interval", qt.GCRA, "X-CFG"},
		{"twice the window overflows", qt.SlidingCounter, "X-CFG"},
		{"a burst that is too large denies everything", qt.GCRA, "X-CFG"},
		{"adds what package time has passed", qt.SlidingLog, "X-CLOCK1"},
		{retryUntil, qt.FixedWindow, "X-CLOCK1"},
		{"goroutine left behind", qt.GCRA, "X-LEAK"},
		{"what is given back counts twice", qt.SlidingLog, "CN-WINDOW"},
		{"what is given back counts twice", qt.FixedWindow, "CN-WINDOW"},
		{"what is given back counts twice", qt.GCRA, "CN-WINDOW"},
		{"the oldest are given back", qt.SlidingLog, "CN-WINDOW"},
		{"what is given back was of the window before", qt.SlidingCounter, "CN-WINDOW"},
		{"a reset keeps one", qt.FixedWindow, "GC-FRESH"},
		{"a reset keeps the window before", qt.SlidingCounter, "GC-FRESH"},
		{"decides without the lock", qt.SlidingCounter, "X-CONC"},
		{"counts without the lock", qt.GCRA, "X-RACE"},
	} {
		source := qt.Explicit
		if m.rule == "X-LEAK" || m.rule == "X-CLOCK1" || m.name == setBackAnew {
			source = qt.Injected
		}
		all = append(all, zoo.Mutant{
			Name: m.kind.String() + ": " + m.name, Rule: m.rule, Spec: limiterSpec(m.name, m.kind, source),
			Hangs: m.name == "keeps a lock when it denies", Chance: m.rule == "X-CONC",
		})
	}
	for _, m := range []struct {
		name string
		kind qt.Kind
		rule string
	}{
		{"cut off", qt.GCRA, "GC-RETRY"}, {"cut off", qt.SlidingLog, "GC-RESET"},
		{"a nanosecond early", qt.GCRA, "GC-EQUIV"}, {"an event leaves a nanosecond late", qt.SlidingLog, "SW-EXP"},
	} {
		spec := inSeconds(m.kind, m.name)
		all = append(all, zoo.Mutant{Name: spec.Name + ": " + m.name, Rule: m.rule, Spec: spec})
	}
	for _, m := range []struct{ name, rule string }{
		{sumsPastLargest, "SW-ANY"}, {deniedSetBack, "RL-PAST"},
	} {
		all = append(all, zoo.Mutant{Name: "SlidingLog: " + m.name, Rule: m.rule, Spec: counts(m.name)})
	}
	for _, m := range []struct{ name, rule string }{
		{"retry when the window ends", "GC-RETRY"}, {"retry is now", "GC-RETRY"},
		{"reset when the window ends", "GC-RESET"},
	} {
		all = append(all, zoo.Mutant{Name: "SlidingCounter: " + m.name, Rule: m.rule, Spec: counter(m.name)})
	}
	for _, kind := range []qt.Kind{qt.FixedWindow, qt.SlidingLog, qt.SlidingCounter, qt.GCRA} {
		spec := limiterSpec("", kind, qt.Injected)
		made := spec.New
		spec.New = func(env qt.Env, cfg qt.Config) qt.Funcs {
			env.Clock = zoo.LosingTime(env.Clock)
			return made(env, cfg)
		}
		all = append(all, zoo.Mutant{Name: kind.String() + ": " + zoo.LosesTime, Rule: "X-READ", Spec: spec})
	}
	all = append(all,
		zoo.Mutant{Name: "GCRA: " + deniesLosers, Rule: "X-CONC", Spec: atomicArrival(deniesLosers), Chance: true},
		zoo.Mutant{Name: "FixedWindow: a look opens the window", Rule: "GC-PEEKPURE", Spec: openedByLook()},
		zoo.Mutant{Name: "FixedWindow: " + resetLeaves, Rule: "GC-FRESH", Spec: openedByAny(resetLeaves)})
	if synctestcompat.Available {
		all = append(all, zoo.Mutant{Name: "events are handed out by a goroutine", Rule: "X-ROW", Spec: handed()})
	}
	for _, m := range []struct{ name, rule string }{
		{"fails closed where it should fail open", "X-ERR"}, {"asks again when it is denied", "X-LATENCY"},
	} {
		spec := remote(qt.SlidingLog, qt.PackageTime, m.name)
		all = append(all, zoo.Mutant{Name: spec.Name + ": " + m.name, Rule: m.rule, Spec: spec})
	}
	return append(all, keyedMutants()...)
}

// Designs are correct limiters of each kind, on each source of time, and of other designs.
func Designs() []zoo.Design {
	var all []zoo.Design
	add := func(spec qt.Spec) {
		all = append(all, zoo.Design{Name: fmt.Sprintf("%s %s", spec.Name, spec.Time), Spec: spec})
	}
	for _, source := range []qt.TimeSource{qt.Explicit, qt.PackageTime, qt.Injected} {
		for _, kind := range []qt.Kind{qt.FixedWindow, qt.SlidingLog, qt.SlidingCounter, qt.GCRA} {
			add(limiterSpec("", kind, source))
			if source == qt.Injected || kind == qt.FixedWindow {
				add(keyed("", kind, source))
			}
		}
	}
	for _, spec := range []qt.Spec{
		clearedByTicker(),
		expiringKey(), openedByAny(""), openedAtOnce(),
		gridFromFirst(0), gridFromFirst(1), expiringIncrement(), ticksFromFirst(),
		keyOfUnix(),
		wholeLog(), counts(""), roundedDown(), counter(""),
		cappedCounter(), janitor(), floatingBucket(), atomicArrival(""),
		inSeconds(qt.GCRA, ""), inSeconds(qt.SlidingLog, ""), inSeconds(qt.FixedWindow, ""),
		toTheSecond(expiringKey()), toTheSecond(counts("")), toTheSecond(counter("")),
		keyedUnits("", qt.FixedWindow, qt.PackageTime), keyedUnits("", qt.GCRA, qt.Explicit),
		oneOnly(), spaced(), buckets(), remote(qt.FixedWindow, qt.PackageTime, ""),
		remote(qt.FixedWindow, qt.Injected, ""), remote(qt.SlidingLog, qt.PackageTime, ""), remote(qt.GCRA,
			qt.Injected, ""),
	} {
		add(spec)
	}
	return all
}

// Chosen are n correct limiters that choose all that may be chosen, drawn from a constant.
func Chosen(n int) []zoo.Design {
	return zoo.Named(chosen(n), func(s qt.Spec) string { return s.Name })
}

// Plain is a correct limiter that makes the first of all choices.
func Plain(kind qt.Kind, source qt.TimeSource) qt.Spec { return limiterSpec("", kind, source) }
