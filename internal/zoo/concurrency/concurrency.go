// Package concurrency has the zoo's concurrency limiters.
package concurrency

import (
	"fmt"

	ct "github.com/escapement-go/escapement/conformance/concurrencytest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// mistakes are those of the queue, each with the rule that must catch it and, if they are
// more than three, the steps that it takes.
var mistakes = []struct {
	name, rule string
	steps      int
}{
	{"lets one more run", "CT-LIMIT", 0},
	{"a request that cannot be cancelled does not wait", "CT-LIMIT", 0},
	{"wakes nobody", "CT-WORK", 0},
	{"wakes one at a time", "CT-WORK", 4},
	{"one place too many", "CT-REJECT", 0},
	{"without a backlog a heavy request waits for light ones", "CT-REJECT", 0},
	{"a request that runs keeps its place", "CT-SEAT", 0},
	{"times out a nanosecond late", "CT-TIME", 0},
	{"times out in whole milliseconds", "CT-TIME", 0},
	{"a timeout of a nanosecond is none", "CT-TIME", 0},
	{"the timeout grows with the limit", "CT-TIME", 5},
	{"nobody times out once more than the limit was asked for", "CT-TIME", 4},
	{"a timeout of 0 rejects everything", "CT-TIME0", 0},
	{"does not look at the context while it waits", "CT-CTX", 0},
	{"a cancelled request keeps its place", "CT-CTX", 0},
	{"a handler waits without its context", "CT-CTX", 0},
	{"looks at the context only while it waits", "CT-CTXPRE", 0},
	{"a deadline is called a cancellation", "CT-CTXERR", 0},
	{"a context ends a wait with an error of its own", "CT-CTXERR", 0},
	{"loses the slot at a tie", "CT-TIE", 0},
	{"gives back one slot when it is cancelled as it gets them", "CT-TIE", 5},
	{"a cancelled request stays in the queue", "CT-NOGHOST", 4},
	{"a request that timed out stays in the queue", "CT-NOGHOST", 4},
	{"gives back one slot only", "CT-RELEASE", 0},
	{"a release too many raises the limit", "CT-OVERREL", 0},
	{permitTwice, "CT-OVERREL", 0},
	{permitOthers, "CT-OVERREL", 5},
	{triedTwice, "CT-OVERREL", 0},
	{"a release looks whether anything is held", "CT-OVERREL", 0},
	{"nobody looks again when the first gives up", "CT-HEAD", 4},
	{"serves the newest first", "CT-FIFO", 0},
	{"a light request overtakes", "CT-FIFO", 0},
	{"who is gone before it comes turns the queue", "CT-FIFO", 7},
	{tryOvertakes, "CT-FIFO", 0},
	{"joins after it has let go of the lock", "CT-NOLOST", 0},
	{rejectsHeavyOnly, "CT-HEAD", 5},
	{rejectsFirst, "CT-HEAD", 5},
	{runsHeavyAlone, "CT-LIMIT", 4},
	{stopsForHeavy, "CT-WORK", 5},
	{rejectsUnheard, "CT-RESIZE", 6},
	{cancelsRejected, "CT-TIE", 5},
	{expiresRejected, "CT-TIE", 5},
	{"a request for more than the limit waits", "CT-OVER", 0},
	{"adds before it compares", "CT-OVER", 0},
	{"keeps its limit in a byte", "CT-WORK", 0},
	{"more than the limit is more than the first one", "CT-OVER", 0},
	{"a lower limit is forgotten", "CT-RESIZE", 0},
	{"a higher limit wakes nobody", "CT-RESIZE", 4},
	{zeroIsNone, "CT-LIMIT", 0},
	{keepsLockBelow, "X-CALLS", 4},
	{"a higher limit wakes as many as it adds", "CT-RESIZE", 9},
	{"a try looks at the first limit", "CT-RESIZE", 0},
	{"calls the hook twice when the backlog is full", "CT-HOOK", 0},
	{"does not call the hook at a timeout", "CT-HOOK", 0},
	{hooksFitting, "CT-HOOK", 0},
	{rejectsSilently, "CT-HOOK", 4},
	{"serves what it has rejected", "CT-CONV", 0},
	{"panics on the third request", "X-CALLS", 0},
	{"keeps a lock when the backlog is full", "X-CALLS", 0},
	{"a panic keeps the slot", "X-PANIC", 0},
	{"calls the hook under the lock", "X-REENT", 0},
	{"calls the hook under the lock at a timeout", "X-REENT", 0},
	{"a wait times out on package time too", "X-CLOCK1", 0},
	{"goroutine left behind", "X-LEAK", 0},
	{leavesTimer, "X-LEAK", 0},
	{"checks without the lock", "X-CONC", 0},
	{"a try checks without the lock", "X-CONC", 0},
}

// Mutants are mistakes, each with the rule that must catch it. They are explored with short
// schedules only, and without those that race unless their rule is about them: whatever fails
// on one of those and on a shorter one too is reported with the shorter one.
func Mutants() []zoo.Mutant {
	var all []zoo.Mutant
	for _, m := range mistakes {
		all = append(all, zoo.Mutant{
			Name: m.name, Rule: m.rule, Spec: queueSpec(m.name, ct.Injected),
			Hangs: m.rule == "X-REENT" || m.name == "keeps a lock when the backlog is full" || m.name == keepsLockBelow,
			Steps: max(3, m.steps), Only: func(family string) bool { return family != "racing" || m.rule == "CT-TIE" },
			Chance: m.rule == "X-CONC" || m.rule == "CT-NOLOST",
		})
	}
	const uncounted = "counts requests without a lock"
	return append(all,
		zoo.Mutant{Name: resizesLater, Rule: "X-EFFECT", Spec: queueSpec(resizesLater, ct.Injected), Steps: 3},
		zoo.Mutant{Name: wholeTimeout, Rule: "CT-TIME", Spec: counterSpec(wholeTimeout), Steps: 5},
		zoo.Mutant{Name: returnsEarly, Rule: "CT-CONV", Spec: workersSpec(returnsEarly, ct.Injected), Steps: 4},
		zoo.Mutant{Name: saysRuns, Rule: "CT-TIE", Spec: ownerSpec(saysRuns), Steps: 4},
		zoo.Mutant{Name: losesWorker, Rule: "X-PANIC", Spec: workersSpec(losesWorker, ct.Injected), Steps: 4},
		zoo.Mutant{Name: givesWhole, Rule: "CT-LIMIT", Spec: clamping(givesWhole, ct.Injected), Steps: 4},
		zoo.Mutant{Name: staysBehind, Rule: "X-LEAK", Spec: helpers(staysBehind, ct.Injected)},
		zoo.Mutant{Name: uncounted, Rule: "X-RACE", Spec: queueSpec(uncounted, ct.Injected)})
}

// Designs are correct limiters of several kinds, on both clocks.
func Designs() []zoo.Design {
	var all []zoo.Design
	for _, source := range []ct.TimeSource{ct.Injected, ct.PackageTime} {
		for _, spec := range []ct.Spec{
			queueSpec("", source), permitsSpec("", source), channel(source), conditionSpec(source), seats(source),
			gate(source, false), gate(source, true), selecting(source), stack(source), light(source), strict(source),
			inTurn(source), aside(source), fitting(source), barging(source), asleep(source), lastly(source),
			helpers("", source), workersSpec("", source), workersSpec(leavesPanics, source), clamping("", source),
		} {
			all = append(all, zoo.Design{Name: fmt.Sprintf("%s %s", spec.Name, source), Spec: spec})
		}
	}
	return append(all, unusual()...)
}

// Chosen are n correct limiters that choose all that may be chosen, drawn from a constant.
func Chosen(n int) []zoo.Design {
	return zoo.Named(chosen(n), func(s ct.Spec) string { return s.Name })
}
