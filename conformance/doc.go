// Package conformance tests debouncers, throttles, rate limiters, leaky buckets, windows,
// concurrency limiters, batchers and fake clocks against the laws of their contracts. Import the
// package of your contract in the test of your own type, describe the type in ten lines, and learn
// which laws it breaks, each with the smallest schedule it tried that shows it. That takes a few seconds,
// with -race half a minute or so.
//
//	debouncertest    debouncers: trailing, leading, both, a bound on the wait, keys, batches, streams
//	throttletest     throttles: leading, trailing, both, k per interval, keys, streams with errors
//	limitertest      token buckets: allow, wait, reserve, cancel, new limits
//	quotatest        windows and GCRA: answers at once, with remaining and retry-after
//	leakybuckettest  queues that let items go at an even pace
//	concurrencytest  semaphores, bulkheads: limit, backlog, timeout, weights
//	batchtest        batchers: items handed over together, by count, by age, or by a flush
//	clocktest        fake clocks, compared with package time in a bubble
//
// Which contract fits a limiter depends on what an empty one does with a rate of 10 per second
// and a burst of 10:
//
//	limitertest      a token each 100ms: token buckets, GCRA as a bucket, a bucket that a ticker
//	                 fills; callers may wait for tokens or reserve them, the rate may be set
//	quotatest        all 10 come back when a window ends, or each a second after it was taken: fixed
//	                 and sliding windows, and limiters that answer with numbers, also GCRA
//	leakybuckettest  requests leave 100ms apart: queues (Put), and pacers that block (Take)
//
// This package is their common vocabulary. Each contract's package re-exports what its
// Spec needs, so a test imports only that one.
//
// # Terms
//
//   - A [Schedule] is a list of operations, each with its instant:
//     wait=100ms | call 1 @0 | call 2 @99.999999ms | cancel @150ms
//   - A driver controls time. The spec declares where an implementation takes its time
//     from: [Injected], [PackageTime] or [Explicit]. The subtest CANARY proves it.
//   - A [Trace] records operations and their effects, each with its instant and its
//     place in the order.
//   - A [Rule] is one law, judged on traces. RULES.md lists them, and so does the function
//     Rules of each contract's package.
//   - A trait is a choice on which correct implementations differ: each contract's package
//     has its Traits, and TRAITS.md lists them.
//   - A decision is a trait that only the author can settle: the observed behaviour is a
//     choice that some make, or a mistake.
//
// # What a run does
//
// Run enumerates every schedule over a small alphabet, to a fixed depth, and adds longer
// scenarios. Depths and counts are constants: no seed, no clock, the same schedules on
// every machine. Each schedule runs on a new instance, and every rule judges every
// trace. Each rule is a subtest, so -run selects it.
//
// A step normally comes after the timers of its instant. A racing step ("@100ms~") competes
// with them. On an injected clock every order is enumerated: the step first; the timer
// fired but its function held until the step has returned; the function first. In a bubble
// the order is chance, and 80 runs on one processor sample it. Racing schedules are judged
// by the set of legal outcomes. Correct code may fire late for a superseded event, or just
// after Cancel or Stop, when its goroutine is overtaken. Such an outcome is a failure only if
// at least 15 % of the runs of its schedule show it, with -race 35 %; a mistake that shows
// less often goes unnoticed.
//
// How concurrent calls interleave is chance as well (X-CONC and similar rules). If the code under
// test is rewritten by the command weave of package synctestcompat/interleave, as verdicts
// -interleave does, both are explored: the orders of two goroutines' calls, of a few requests for
// a semaphore and of racing steps, with at most two preemptions, up to a limit, while time stands
// still. The outcomes are judged, except those that are late only because a goroutine was overtaken; the
// first that breaks a rule is shown with the order of its goroutines, and is the same each time.
// [Report.Interleavings] counts them.
//
// A semaphore's model holds every state that some order of the events of an instant leads
// to: if a slot comes free just as a wait ends, either outcome is right, but not both and
// not neither. A clock needs no model: each schedule runs on package time in a bubble, and
// then on the clock, which must behave the same.
//
// # What a verdict is worth
//
// A rule fails only if a MUST is broken. An operation that is nil skips its rules, with the
// reason; skips are counted, and a run with few rules left is partial.
//
// Undeclared traits are settled before the exploration, and the subtest TRAITS prints them,
// to be pasted. A strict trait gets its strictest value until a run refutes it: Overlap is
// Serial until two callbacks overlap. A nominal one, none of whose values is stricter, gets
// the observed value: Tie, whether an event at the deadline begins a new burst. If a run refutes the strictest
// value, and a weaker one explains every run, TRAITS asks for a decision: it prints the value
// as a comment, with the smallest such run and the rules that it turns off. Until the value
// is declared, or the code is fixed, these rules are undecided and TRAITS fails. Numbers,
// such as a resolution, are always decisions. If no value explains the runs, the code is wrong whatever is declared,
// and a rule that it breaks with the nearest value fails. Of a trait that need not be declared the decision says so.
//
// Known failures go into KnownFailing, by rule and smallest schedule, as the replay line of the failure has them:
//
//	KnownFailing: []conformance.Known{
//		{Rule: "DB-TIE", Schedule: "wait=100ms | call 1 @0 | call 2 @100ms~", Why: "issue 12"},
//	},
//
// The rule still runs, and the test fails if the rule passes, or no longer fails on that schedule.
//
// Environment variables: ESCAPEMENT_SCHEDULE runs one schedule, as the replay line of a failure
// says; ESCAPEMENT_REPORT appends each report as a line of JSON to a file, or in a folder to a
// file for each process. The command conformance/verdicts runs the tests and shows the reports,
// as tables or as a page.
//
// A schedule is judged, left out, or unfinished. It is left out if the constructor or a
// declaration rules it out, if this Go release cannot run it, or if the implementation wakes
// more than 110,000 times; the report counts these. It is unfinished if the run makes no
// progress, though nothing proves that it never would. Then the exploration ends, and the rules
// concerned are inconclusive. Core rules among them fail, with a message that blames nothing and
// prints the entry for KnownFailing. Progress is checked every second. No
// rule is judged by real time; but a run is given up if the stacks of its goroutines prove that
// none can go on, if it has used more processor time than any run needs, or if ten checks find
// the whole process idle. If nothing can be judged, Run skips the test.
//
// A panic on a goroutine of the implementation ends the process, as everywhere in Go: run
// the test again, and it begins with the schedule that panicked. The current schedule is
// kept in a file escapement-* of [os.TempDir], which is removed when the test ends. Run
// specs outside bubbles. Their tests may be parallel: they take turns. While schedules run
// the process has GOMAXPROCS=1 and, if it was the default, GOGC=400; during concurrent
// calls it has GOMAXPROCS=2 at least. With -race on Go 1.25 and 1.26, bubbles with package
// time run with GOMAXPROCS=1 only: otherwise timers can crash those runtimes
// (go.dev/issue/78156). With -race the runtime picks the next goroutine at random, so on
// an injected clock no racing step is tried just after a goroutine has received a timer's
// value: run the suite without -race, too.
package conformance
