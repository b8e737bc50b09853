// Package concurrency has the zoo's concurrency limiters.
package concurrency

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/jonboulle/clockwork"

	ct "github.com/escapement-go/escapement/conformance/concurrencytest"
	"github.com/escapement-go/escapement/internal/zoo"
)

var (
	errFull    = errors.New("full")
	errTimeout = errors.New("timeout")
	errTooBig  = errors.New("too big")
	errGone    = errors.New("gone")
)

// kind is a way to write a limiter.
type kind struct {
	name    string
	choice  string        // what it does on purpose, be it a mistake of others or not
	only    ct.TimeSource // the clock that it takes, if it is only one
	unraced bool          // schedules that race are only for mistakes whose rule is about them
	traits  ct.Traits
	make    func(b base) ct.Funcs
}

// base is what a limiter is made with, its choice, and its mistake, "" for none.
type base struct {
	clock          clockwork.Clock
	cfg            ct.Config
	choice, mutant string
}

func (b *base) is(what string) bool { return b.choice == what || b.mutant == what }

// spec describes a limiter of a kind with a mistake, or with none.
func (k kind) spec(source ct.TimeSource, mutant string) ct.Spec {
	return ct.Spec{
		Name: k.name, Time: cmp.Or(k.only, source), Traits: k.traits,
		New: func(env ct.Env, cfg ct.Config) ct.Funcs { return k.make(base{env.Clock, cfg, k.choice, mutant}) },
	}
}

// that is the kind that chooses something else.
func (k kind) that(name, choice string) kind {
	k.name, k.choice = name, choice
	return k
}

// mistakes are what each kind can have wrong: the rule that must catch it and, if they are
// more than three, the steps that it takes.
var mistakes = []struct {
	kind
	all []mistake
}{
	{queueKind, []mistake{
		{"lets one more run", "CT-LIMIT", 0},
		{"a request that cannot be cancelled does not wait", "CT-LIMIT", 0},
		{"wakes nobody", "CT-WORK", 0},
		{"wakes one at a time", "CT-WORK", 4},
		{"the ninth who waits is forgotten", "CT-WORK", 80},
		{"one place too many", "CT-REJECT", 0},
		{"a backlog of 0 is one of 1", "CT-REJECT", 0},
		{"without a backlog a heavy request waits for light ones", "CT-REJECT", 0},
		{"a request that runs keeps its place", "CT-SEAT", 0},
		{"times out a nanosecond late", "CT-TIME", 0},
		{"times out in whole milliseconds", "CT-TIME", 0},
		{"who comes in 1970 does not time out", "CT-TIME", 0},
		{"behind a handler nobody times out", "CT-TIME", 0},
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
	}},
	{permitsKind, []mistake{
		{"a permit gives its slots back twice", "CT-OVERREL", 0},
		{"a permit that is given back twice gives back another's slots", "CT-OVERREL", 5},
		{"a permit of a try gives its slots back twice", "CT-OVERREL", 0},
	}},
	{queueKind, []mistake{
		{"a release looks whether anything is held", "CT-OVERREL", 0},
		{"nobody looks again when the first gives up", "CT-HEAD", 4},
		{"serves the newest first", "CT-FIFO", 0},
		{"a light request overtakes", "CT-FIFO", 0},
		{"who is gone before it comes turns the queue", "CT-FIFO", 7},
		{"a try takes free slots though others wait", "CT-FIFO", 0},
		{"joins after it has let go of the lock", "CT-NOLOST", 0},
	}},
	{strictKind, []mistake{
		{"who is rejected by a lower limit leaves nobody to be woken", "CT-HEAD", 5},
		{"a lower limit rejects only the first of those who wait for more", "CT-HEAD", 5},
	}},
	{queueKind, []mistake{
		{"who waits for more than a lower limit runs when nothing else does", "CT-LIMIT", 4},
		{"nobody runs while one waits for more than a lower limit", "CT-WORK", 5},
	}},
	{strictKind, []mistake{
		{"who is rejected by a lower limit does not hear of it", "CT-RESIZE", 6},
		{"who is cancelled as a lower limit rejects it leaves its place twice", "CT-TIE", 5},
		{"who times out as a lower limit rejects it leaves its place twice", "CT-TIE", 5},
	}},
	{queueKind, []mistake{
		{"a request for more than the limit waits", "CT-OVER", 0},
		{"adds before it compares", "CT-OVER", 0},
		{"keeps its limit in a byte", "CT-WORK", 0},
		{"more than the limit is more than the first one", "CT-OVER", 0},
		{"a lower limit is forgotten", "CT-RESIZE", 0},
		{"a higher limit wakes nobody", "CT-RESIZE", 4},
		{"a limit that is set to 0 is none", "CT-LIMIT", 0},
		{"a limit below 0 is refused, and a lock kept", "X-CALLS", 4},
		{"a higher limit wakes as many as it adds", "CT-RESIZE", 9},
		{"a try looks at the first limit", "CT-RESIZE", 0},
		{"calls the hook twice when the backlog is full", "CT-HOOK", 0},
		{"does not call the hook at a timeout", "CT-HOOK", 0},
		{"does not call the hook for more than the limit", "CT-HOOK", 0},
	}},
	{strictKind, []mistake{
		{"the hook does not hear of who is rejected by a lower limit", "CT-HOOK", 4},
	}},
	{queueKind, []mistake{
		{"serves what it has rejected", "CT-CONV", 0},
		{"panics on the third request", "X-CALLS", 0},
		{"keeps a lock when the backlog is full", "X-CALLS", 0},
		{"a panic keeps the slot", "X-PANIC", 0},
		{"calls the hook under the lock", "X-REENT", 0},
		{"calls the hook under the lock at a timeout", "X-REENT", 0},
		{"a wait times out on package time too", "X-CLOCK1", 0},
		{"goroutine left behind", "X-LEAK", 0},
		{"whoever has waited leaves the timer of the timeout armed", "X-LEAK", 0},
		{"checks without the lock", "X-CONC", 0},
		{"a try checks without the lock", "X-CONC", 0},
		{"a new limit is set by a goroutine", "X-EFFECT", 0},
	}},
	{counterKind, []mistake{{"who wakes in vain waits for the whole timeout again", "CT-TIME", 5}}},
	{workersKind, []mistake{{"a request whose context ends comes back while its handler runs", "CT-CONV", 4}}},
	{ownerKind, []mistake{{"who is rejected as its context ends is told that it runs", "CT-TIE", 4}}},
	{workersKind, []mistake{{"a handler that leaves by Goexit takes its worker along", "X-PANIC", 4}}},
	{clampingKind, []mistake{{"gives back more than it took", "CT-LIMIT", 4}}},
	{helpersKind, []mistake{{"a helper stays until the next release", "X-LEAK", 9}}},
	{queueKind, []mistake{{"counts requests without a lock", "X-RACE", 0}}},
}

type mistake struct {
	name, rule string
	steps      int
}

// Mutants are mistakes, each with the rule that must catch it. They are explored with short
// schedules only, and those of the queue without those that race unless their rule is about them: whatever
// fails on one of those and on a shorter one too is reported with the shorter one.
func Mutants() (all []zoo.Mutant) {
	hang := map[string]bool{
		"keeps a lock when the backlog is full": true, "a limit below 0 is refused, and a lock kept": true,
	}
	for _, k := range mistakes {
		for _, m := range k.all {
			all = append(all, zoo.Mutant{
				Name: m.name, Rule: m.rule, Spec: k.spec(ct.Injected, m.name),
				Hangs:  m.rule == "X-REENT" || hang[m.name],
				Chance: m.rule == "X-CONC" || m.rule == "CT-NOLOST", Steps: max(3, m.steps),
				Only: func(family string) bool { return family != "racing" || !k.unraced || m.rule == "CT-TIE" },
			})
		}
	}
	return all
}

// Designs are correct limiters of several kinds, on both clocks, or on one.
func Designs() (all []zoo.Design) {
	stack := queueKind.that("zoo stack", "serves the newest first")
	lightest := queueKind.that("zoo lightest first", "serves the lightest first")
	stack.traits.Fair, lightest.traits.Fair = ct.FairNone, ct.FairNone
	fitting := queueKind.that("zoo queue that reports what fits", "does not call the hook for more than the limit")
	fitting.traits.Hook = ct.HookFits
	// It has the TryAcquire of java.util.concurrent.
	barging := queueKind.that("zoo queue that a try overtakes", "a try takes free slots though others wait")
	barging.traits.TryOvertakes = true
	for _, source := range []ct.TimeSource{ct.Injected, ct.PackageTime} {
		for _, k := range []kind{
			queueKind, permitsKind, channelKind, conditionKind, seatsKind, gateKind(false), gateKind(true), selectKind,
			stack, lightest, strictKind,
			queueKind.that("zoo queue that rejects in turn",
				"who waits for more than a lower limit is rejected when its turn comes"),
			queueKind.that("zoo queue that sets aside", "who waits for more than a lower limit lets others pass"),
			fitting, barging, asleepKind(),
			queueKind.that("zoo queue that looks at the context last", "looks at the context last"),
			helpersKind, workersKind, workersKind.that("zoo workers: panics end the process", "panics end the process"),
			clampingKind,
		} {
			all = append(all, zoo.Design{Name: fmt.Sprintf("%s %s", k.name, source), Spec: k.spec(source, "")})
		}
	}
	add := func(name string, k kind) { all = append(all, zoo.Design{Name: name, Spec: k.spec(ct.Injected, "")}) }
	add("numbered tickets and a condition", ticketsKind)
	add("a goroutine that owns the slots and knows who waits", ownerKind)
	add("a counter without a lock, and a channel that each release closes", counterKind)
	return all
}
