// Package conformance holds debouncers, throttles, rate limiters, leaky buckets, windows,
// concurrency limiters, batchers and fake clocks to the laws that any of them must keep. Import the
// package of your contract in the test of your own type, describe the type in ten lines, and
// learn in about a second which laws it breaks, each with the smallest of its schedules that
// breaks it.
//
//	debouncertest    debouncers: trailing, leading, both, a bound on the wait, keys, batches, streams
//	throttletest     throttles: leading, trailing, both, k per interval, keys, streams with errors
//	limitertest      token buckets: allow, wait, reserve, cancel, new limits
//	quotatest        windows and GCRA: what answers at once with remaining and retry-after
//	leakybuckettest  queues that let items go at an even pace
//	concurrencytest  semaphores, bulkheads: limit, backlog, timeout, weights
//	batchtest        batchers: items handed over together, by their number, their age, or a flush
//	clocktest        fake clocks, beside package time in a bubble
//
// Which contract fits a limiter depends on what an empty one does with a rate of 10 per second
// and a burst of 10:
//
//	limitertest      a token each 100ms: token buckets, GCRA as a bucket, a bucket that a ticker
//	                 fills; callers may wait for tokens or reserve them, the rate may be set
//	quotatest        all 10 when a window ends, or each a second after it was taken: fixed and
//	                 sliding windows; and what answers with numbers, GCRA as well
//	leakybuckettest  requests leave 100ms apart: queues (Put), and pacers that block (Take)
//
// This package is their common vocabulary. A contract's package re-exports what its Spec
// needs, so that a test imports that one only.
//
// # Terms
//
//   - A [Schedule] is what is done, and when:
//     wait=100ms | call 1 @0 | call 2 @99.999999ms | cancel @150ms
//   - A driver owns time. How an implementation takes its time is declared:
//     [Injected], [PackageTime] or [Explicit]. The subtest CANARY proves it.
//   - A [Trace] is what was done and what came out, each with its instant and its
//     place in the order.
//   - A [Rule] is one law, judged on traces. RULES.md lists them, and so does the function
//     Rules of each contract's package.
//   - A trait is a choice on which correct implementations differ: each contract's package
//     has its Traits, and TRAITS.md lists them.
//   - A decision is a trait that only the author of an implementation can tell: what was
//     seen is a choice that some make, or a mistake.
//
// # What a run does
//
// Run enumerates every schedule over a small alphabet, to a fixed depth, and adds longer
// scenarios. Depths and counts are constants: no seed, no clock, the same schedules on
// every machine. Each schedule runs on a fresh instance, and every trace is judged by
// every rule. A rule is a subtest of its own, so that -run selects it.
//
// A step normally comes after the timers of its instant. A racing step ("@100ms~") meets
// them as in life. On an injected clock every order is enumerated: the step first; the
// timer fired but its function held until the step has returned; the function first. In a
// bubble the order is chance, and 80 runs on one processor see what comes. Racing schedules
// are judged by the set of legal outcomes; a finding that honest code can produce by being
// overtaken counts only if it turns up in 15 % of the runs.
//
// Which calls meet at one instant is chance as well (X-CONC and its like). Where the code under
// test is rewritten by the command weave of package synctestcompat/interleave, as
// verdicts -interleave does, both are explored: the orders of two goroutines' calls, of few
// requests for a semaphore and of racing steps, with at most two preemptions, up to a number of
// them, while time stands still. Each outcome is judged as any other; the first that breaks a
// rule is shown with who went on, and the same one each time. [Report.Interleavings] counts them.
//
// A semaphore's model holds every state that some order of what happens at an instant leads
// to: where a slot comes free as a wait ends, either outcome will do, but not both and not
// neither. A clock needs no model: each schedule runs on package time in a bubble, and then
// on the clock, which must show the same.
//
// # What a verdict is worth
//
// A rule fails only if a MUST is broken. An operation that is nil skips its rules, with the
// reason; what is skipped is counted, and a run with little left to judge is partial.
//
// What is undeclared is settled before anything is explored, and the subtest TRAITS prints
// it, to be pasted. Of a strict trait the value under which most is judged is assumed until a
// run refutes it; of a nominal one, whose values are as good as each other, the one that was
// observed. Where a run refutes what is assumed, and a weaker value explains all that was
// seen, a decision is asked for: the value is printed as a comment, with the smallest such
// run and the rules that it takes out of force. Until it is declared, or the code is mended,
// these rules are undecided and TRAITS fails. Numbers, such as a resolution, are decisions
// always. Where no value explains what was seen, a rule fails.
//
// What is known to fail goes into KnownFailing, keyed by rule and smallest schedule: the rule
// still runs, and the test fails if the rule passes, or fails on another schedule.
//
// Environment variables: ESCAPEMENT_SCHEDULE runs one schedule, as the replay line of a
// failure says; ESCAPEMENT_REPORT appends each report to a file, as a line of JSON, or to one
// of the process if it names a folder. The command conformance/verdicts runs the tests and shows
// what came of them, as tables or as a page.
//
// A schedule is judged, left out, or unfinished. Left out are those that the constructor or a
// declaration rules out, that this Go release cannot run, or in which the implementation
// wakes more than 110,000 times; the report counts them. Unfinished is a run that makes no
// progress, though nothing proves that it never will: it ends the exploration, the rules
// that it concerns are inconclusive, and each core rule among them fails its subtest, with
// words that accuse nobody and the entry for KnownFailing. Progress is looked for every
// second, but no verdict depends on real time: what ends a run is a proof from the stacks,
// processor time, or ten looks at a process in which nothing runs. Where nothing can be
// judged, Run skips the test.
//
// A panic on a goroutine of the implementation ends the process, as everywhere in Go: run
// the test again, and it says first which schedule that was. The schedule under way stands
// in a file escapement-* of [os.TempDir], which is removed when the test ends. Specs must
// be run outside bubbles. Tests that run them may be parallel: they take turns. While
// schedules run the process has GOMAXPROCS=1 and, if it was the default, GOGC=400; while
// calls meet at one instant it has GOMAXPROCS=2 at least. With -race on Go 1.25 and 1.26,
// package time in bubbles is used with GOMAXPROCS=1 only: its timers can crash there on
// more (go.dev/issue/78156). With -race the runtime draws which goroutine goes next, so
// that on an injected clock a racing step is not tried behind the back of who has received
// a timer's value: run the suite without -race, too.
package conformance
