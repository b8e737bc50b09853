// Package leakybucket has the zoo's leaky buckets.
package leakybucket

import (
	"fmt"

	lb "github.com/escapement-go/escapement/conformance/leakybuckettest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// Mutants are mistakes, each with the rule that must catch it.
func Mutants() []zoo.Mutant {
	var all []zoo.Mutant
	for _, m := range []struct{ name, rule string }{
		{"the grid lets an item through early", "LB-SPACE"},
		{"a nanosecond early", "LB-SPACE"},
		{"no gap is shorter than a nanosecond", "LB-SPACE"},
		{countsNanos, "LB-SPACE"},
		{"rounds the interval to milliseconds", "LB-EXACT"},
		{"no interval is longer than an hour", "LB-SPACE"},
		{"a nanosecond late", "LB-EXACT"},
		{"what a slow function holds up leaves in a bunch", "LB-SPACE"},
		{"drains at half the pace", "LB-EXACT"},
		{"the time that the function takes counts twice", "LB-EXACT"},
		{"an idle bucket saves up credit", "LB-IDLE"},
		{"long idle time saves up credit", "LB-IDLE"},
		{"the first item waits", "LB-IDLE"},
		{"an arrival as the last one leaves is free", "LB-SAMEINSTANT"},
		{"a timer that was armed again fires twice", "LB-SAMEINSTANT"},
		{"a timer whose item was cancelled lets another leave", "LB-SAMEINSTANT"},
		{"one more may wait", "LB-BOUND"},
		{"one less may wait", "LB-BOUND"},
		{"what the function runs with holds a place", "LB-BOUND"},
		{"a refused item leaves all the same", "LB-DROP"},
		{"drops every fourth item", "LB-DROP"},
		{"an item stays in the queue", "LB-DROP"},
		{"stop lets what waits leave", "LB-DROP"},
		{"a stop while an item leaves lets what waits leave", "LB-DROP"},
		{keepsQueue, "LB-DROP"},
		{"stop after close lets what waits leave", "LB-DROP"},
		{"what comes while the first leaves is never due", "LB-DROP"},
		{"what comes while an item leaves goes first", "LB-FIFO"},
		{"a late item goes first", "LB-FIFO"},
		{"what comes after close turns the queue", "LB-FIFO"},
		{"overtakes what is due at this instant", "LB-FIFO"},
		{"the last item takes the place of a cancelled one", "LB-FIFO"},
		{"the last item leaves nothing behind", "LB-EMPTY"},
		{"a refused item starts the interval anew", "LB-FRAC"},
		{"cancel does nothing", "LB-CANCEL"},
		{"a cancel costs the others an interval", "LB-CANCEL"},
		{"a cancel of the head begins the interval anew", "LB-CANCEL"},
		{"cancelled items hold their places", "LB-CANCEL"},
		{"a cancel after close does nothing", "LB-CANCEL"},
		{"a cancel brings the next one a nanosecond forward", "LB-SPACE"},
		{"the constructor divides by the backlog less one", "X-CALLS"},
		{"accepts after close", "LB-CLOSE"},
		{"close drops what waits", "LB-CLOSE"},
		{"close drops what is about to leave", "LB-CLOSE"},
		{"a timer that comes too soon is not armed again", "X-BACK"},
		{"a clock that was set back makes a new bucket of it", "LB-SPACE"},
		{"panics on the third item", "X-CALLS"},
		{"keeps a lock where nothing is cancelled", "X-CALLS"},
		{"stop leaves the timer armed", "X-LEAK"},
		{"stop does not stop the timer", "X-LEAK"},
		{"an item leaves on package time too", "X-CLOCK1"},
		{"goroutine left behind", "X-LEAK"},
		{"stop leaves a goroutine if something waits", "X-LEAK"},
		{"a panic leaves it running", "X-PANIC"},
		{"checks the bound without the lock", "X-CONC"},
		{"cancel finds and takes out under two locks", "X-CONC"},
		{"the function runs under the lock", "X-REENT"},
		{"the function of what waited runs under the lock", "X-REENT"},
		{"a timer may be a nanosecond early", "LB-SPACE"},
		{needsPlace, "LB-BOUND"},
	} {
		all = append(all, zoo.Mutant{
			Name:   m.name,
			Rule:   m.rule,
			Spec:   queueSpec(m.name, lb.Injected),
			Hangs:  m.rule == "X-REENT" || m.name == "keeps a lock where nothing is cancelled",
			Chance: m.rule == "X-CONC",
		})
	}
	for _, m := range []struct{ name, rule string }{
		{"an interval of the slack counts twice", "LB-EXACT"},
		{"the slack is ten times as large", "LB-SPACE"},
		{"no more than three wait", "LB-BOUND"},
	} {
		all = append(all, zoo.Mutant{Name: m.name, Rule: m.rule, Spec: turns(lb.Injected, 3, m.name)})
	}
	for _, m := range []struct{ name, rule string }{
		{"with a slack cancel does nothing", "LB-CANCEL"},
		{"with a slack close lets what waits leave", "LB-CLOSE"},
		{"with a slack stop lets what waits leave", "LB-DROP"},
	} {
		all = append(all, zoo.Mutant{Name: m.name, Rule: m.rule, Spec: slackMutant(m.name)})
	}
	all = append(all,
		zoo.Mutant{Name: closesTimer, Rule: "LB-CLOSE", Spec: closeMutant(closesTimer)},
		zoo.Mutant{Name: oneMoreCaller, Rule: "LB-BOUND", Spec: gateSpec(lb.Injected, oneMoreCaller)},
		zoo.Mutant{Name: leavesTimer, Rule: "X-LEAK", Spec: gateSpec(lb.Injected, leavesTimer)},
		zoo.Mutant{Name: sleepsOn, Rule: "X-LEAK", Spec: sleeper(lb.Injected, sleepsOn)},
		zoo.Mutant{Name: sleepsOn + ", package time", Rule: "X-LEAK", Spec: sleeper(lb.PackageTime, sleepsOn)},
		zoo.Mutant{Name: opensAtStop, Rule: "LB-SPACE", Spec: gateSpec(lb.Injected, opensAtStop)})
	loses := queueSpec("", lb.Injected)
	made := loses.New
	loses.New = func(env lb.Env, cfg lb.Config, leave func(int)) lb.Funcs {
		env.Clock = zoo.LosingTime(env.Clock)
		return made(env, cfg, leave)
	}
	all = append(all, zoo.Mutant{Name: zoo.LosesTime, Rule: "X-READ", Spec: loses})
	return append(all, zoo.Mutant{
		Name: "counts without the lock",
		Rule: "X-RACE",
		Spec: queueSpec("counts without the lock", lb.Injected),
	})
}

// Designs are correct buckets of several kinds, on both clocks.
func Designs() []zoo.Design {
	var all []zoo.Design
	for _, source := range []lb.TimeSource{lb.Injected, lb.PackageTime} {
		for _, spec := range []lb.Spec{
			queueSpec("", source), sleeper(source, ""), ticker(source), periods(source, false), periods(source, true),
			turns(source, 0, ""), turns(source, 3, ""), ticks(source), asleep(source),
			underLock(source), gateSpec(source, ""), oneByOneSpec(source),
		} {
			all = append(all, zoo.Design{Name: fmt.Sprintf("%s %s", spec.Name, source), Spec: spec})
		}
	}
	for _, slack := range []int{0, 2} {
		spec := boundedTurns(slack)
		all = append(all, zoo.Design{Name: spec.Name, Spec: spec})
	}
	return all
}

// Chosen are n correct buckets that choose all that may be chosen, drawn from a constant.
func Chosen(n int) []zoo.Design {
	return zoo.Named(chosen(n), func(s lb.Spec) string { return s.Name })
}
