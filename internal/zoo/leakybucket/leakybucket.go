// Package leakybucket has the zoo's leaky buckets.
package leakybucket

import (
	"fmt"
	"slices"

	lb "github.com/escapement-go/escapement/conformance/leakybuckettest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// mistake is a mutant of a bucket of some kind.
type mistake struct{ name, rule string }

// mutants are mistakes of buckets that spec makes.
func mutants(spec func(mutant string) lb.Spec, mistakes ...mistake) (all []zoo.Mutant) {
	for _, m := range mistakes {
		all = append(all, zoo.Mutant{
			Name: m.name, Rule: m.rule, Spec: spec(m.name),
			Hangs: m.rule == "X-REENT" || m.name == keepsLock, Chance: m.rule == "X-CONC",
		})
	}
	return all
}

// Mutants are mistakes, each with the rule that must catch it.
func Mutants() []zoo.Mutant {
	injected := func(spec func(mutant string, source lb.TimeSource) lb.Spec) func(mutant string) lb.Spec {
		return func(mutant string) lb.Spec { return spec(mutant, lb.Injected) }
	}
	return slices.Concat(
		mutants(injected(queueSpec), queueMutants...),
		mutants(func(mutant string) lb.Spec { return turnsSpec(mutant, lb.Injected, 3) },
			mistake{"an interval of the slack counts twice", "LB-EXACT"},
			mistake{"the slack is ten times as large", "LB-SPACE"},
			mistake{"no more than three wait", "LB-BOUND"}),
		mutants(slackMutant,
			mistake{"with a slack cancel does nothing", "LB-CANCEL"},
			mistake{"with a slack close lets what waits leave", "LB-CLOSE"},
			mistake{"with a slack stop lets what waits leave", "LB-DROP"}),
		mutants(closeMutant, mistake{"a close that drops keeps the queue and stops the timer", "LB-CLOSE"}),
		mutants(injected(gateSpec),
			mistake{"one more caller may wait", "LB-BOUND"},
			mistake{"who is stopped leaves his timer armed", "X-LEAK"}),
		mutants(injected(sleeper), mistake{sleepsOn, "X-LEAK"}),
		[]zoo.Mutant{{Name: sleepsOn + ", package time", Rule: "X-LEAK", Spec: sleeper(sleepsOn, lb.PackageTime)}},
		mutants(injected(gateSpec), mistake{"a stop lets everybody pass", "LB-SPACE"}),
		mutants(injected(queueSpec), mistake{zoo.LosesTime, "X-READ"}, mistake{"counts without the lock", "X-RACE"}),
	)
}

// queueMutants are the mistakes of the queue.
var queueMutants = []mistake{
	{"the grid lets an item through early", "LB-SPACE"},
	{"a nanosecond early", "LB-SPACE"},
	{"no gap is shorter than a nanosecond", "LB-SPACE"},
	{"the end of an interval is a number of nanoseconds", "LB-SPACE"}, // seen if it is after 2262
	{"rounds the interval to milliseconds", "LB-EXACT"},
	{"no interval is longer than an hour", "LB-SPACE"},
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
	{"a stop as an item leaves lets those behind it leave", "LB-DROP"},
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
	{keepsLock, "X-CALLS"},
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
	{"what comes at the end of the interval needs a place to wait", "LB-BOUND"}, // seen if none may wait
}

// Designs are correct buckets of several kinds, on both clocks.
func Designs() []zoo.Design {
	var all []zoo.Design
	for _, source := range []lb.TimeSource{lb.Injected, lb.PackageTime} {
		for _, spec := range []lb.Spec{
			queueSpec("", source), sleeper("", source), ticker(source),
			periodsSpec(source, false), periodsSpec(source, true),
			turnsSpec("", source, 0), turnsSpec("", source, 3), ticks(source), asleep(source),
			underLock(source), gateSpec("", source), oneByOneSpec(source),
		} {
			all = append(all, zoo.Design{Name: fmt.Sprintf("%s %s", spec.Name, source), Spec: spec})
		}
	}
	return append(all, zoo.Named([]lb.Spec{nearTurns(0), nearTurns(2)}, named)...)
}

// Chosen are n correct buckets that choose all that may be chosen, drawn from a constant.
func Chosen(n int) []zoo.Design {
	return zoo.Named(chosen(n), named)
}

func named(spec lb.Spec) string { return spec.Name }
