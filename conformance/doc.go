// Package conformance is the vocabulary of the packages below it, which hold debouncers,
// throttles, rate limiters, leaky buckets, windows, concurrency limiters and fake clocks to
// the laws that any of them must keep. Import the package of your kind in the test of your
// own type, describe the type in ten lines, and learn in about a second which laws it
// breaks, each with the smallest schedule that breaks it:
//
//   - debouncertest: debouncers
//   - throttletest: throttles
//   - limitertest: token buckets whose tokens are requested, waited for or reserved
//   - leakybuckettest: queues whose items leave an interval apart
//   - quotatest: windows and GCRA
//   - concurrencytest: semaphores, bulkheads and throttling middleware
//   - clocktest: fake clocks
//
// # Terms
//
//   - A [Schedule] is what is done, and when:
//     wait=100ms | call 1 @0 | call 2 @99.999999ms | cancel @150ms
//   - A driver owns time. How an implementation takes its time is declared:
//     [Injected], [PackageTime] or [Explicit]. The subtest CANARY proves it.
//   - A [Trace] is what was done and what came out, each with its instant and its
//     place in the order.
//   - A [Rule] is one law, judged on traces. The function Rules of each package lists
//     its own; RULES.md lists all of them.
//   - A trait is a choice on which correct implementations differ. It is declared,
//     never guessed: see the type Traits of each package.
//
// # What a run does
//
// The function Run of each package enumerates every schedule over a small alphabet, to
// a fixed depth, and adds longer scenarios. Depths and counts are constants: no
// seed, no clock, the same schedules on every machine. Each schedule runs on a
// fresh instance, and every trace is judged by every rule. A rule is a subtest of
// its own, so that -run selects it.
//
// A step normally comes after the timers of its instant. A racing step ("@100ms~")
// meets them as in life. On an injected clock every order is enumerated: the step
// first; the timer fired but its function held until the step has returned;
// the function first. In a bubble the order is chance, and 80 runs on one
// processor see what comes. Racing schedules are judged by the set of legal
// outcomes; a finding that honest code can produce by being overtaken counts only
// if it turns up in one run of seven.
//
// In concurrencytest, after each schedule everything is released, and then as many
// requests come as there are slots and places, and one more, to see what is left. The
// model holds every state that some order of what happens at an instant leads to, so
// where a slot comes free as a wait ends, either outcome will do, but not both and not
// neither.
//
// In clocktest there is no model: each schedule runs on package time in a bubble, and
// then on the clock, which must show the same values, answers and turns of
// functions and goroutines, in the same order. What package time leaves open, such
// as the order of equal deadlines, is compared as a set, or the schedule is not
// judged. Each rule has its own schedules; CK-DIFF has programs with everything in
// them, drawn from fixed seeds and made smaller when they differ.
//
// Verdicts never depend on real time. The only real-time element is a watchdog of
// ten seconds against hangs, two where every goroutine waits for another and one for a
// lock, and it fails nothing by itself: a stack must show a method blocked under its
// own callback, or the rule is inconclusive.
//
// # What a verdict is worth
//
// A rule fails only on a MUST. An operation that is nil and a trait that is
// undeclared skip their rules, with the reason; what is skipped is counted, and a
// run with little left to judge is partial. What is known to fail goes into
// KnownFailing, keyed by rule and smallest schedule: the rule still runs, and
// passing or failing otherwise fails the test.
//
// Environment variables: ESCAPEMENT_SCHEDULE runs one schedule, as the replay line
// of a failure says; ESCAPEMENT_REPORT appends each report to a file, as a line of
// JSON; ESCAPEMENT_LAST names a file for the schedule under way.
//
// A panic on a goroutine of the implementation ends the process, as everywhere
// in Go; run the test again with ESCAPEMENT_LAST to learn which schedule it died of.
// Run must be called outside bubbles. Tests that call it may be parallel: they take
// turns. While racing schedules are sampled the process runs with
// GOMAXPROCS=1, and while calls meet at one instant with 2 at least. With -race on Go
// 1.25 and 1.26, package time in bubbles is used with GOMAXPROCS=1 only: its timers can
// crash there on more (go.dev/issue/78156).
package conformance
