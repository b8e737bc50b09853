// Package rapidbubble runs properties of package rapid in bubbles: each iteration has
// a bubble of its own, whose clock starts at 2000-01-01 and moves only when everything
// in it is blocked. Shrinking, seeds, fail files, state machines and fuzz targets work
// as they do without bubbles.
//
//	rapidbubble.Check(t, func(t *rapidbubble.T) {
//		wait := time.Duration(rapid.IntRange(1, 1e9).Draw(t.T, "wait"))
//		...
//	})
//
// [T] is the T of package rapid with Cleanup and Context of the bubble; generators
// draw from the T that is embedded in it.
//
// # Failures
//
// Each of these is a failure of rapid, which is shrunk and shows its place:
//
//   - the property or a Cleanup function fails or panics, with the place inside the
//     bubble;
//   - a deadlock, with what each goroutine waits for. Endless timers do not hide it, see
//     [Horizon];
//   - leaked goroutines, with where they are blocked and who started them. A failure of
//     the property itself comes first;
//   - a goroutine waits for a mutex whose holder sleeps, which stops the bubble's time:
//     after ten seconds of real time the stacks must show it twice;
//   - a data race under -race. The detector reports a race once in each process, so rapid
//     cannot reproduce it, unless the test runs with GORACE="suppress_equal_stacks=0
//     suppress_equal_addresses=0". A race of another test at the same time cannot be told
//     apart;
//   - a panic or FailNow in a callback that is wrapped in [T.Guard].
//
// What Go does not allow: to recover a panic on a goroutine that the code under test
// started. It ends the process. Run the test with -rapid.log, and the draws are in the output before the
// crash; a fuzz target keeps the input. A goroutine that never blocks, or waits for
// something outside the bubble, hangs the test as usual.
//
// Hanging, leaked or deadlocked goroutines stay until the process ends.
//
// Bubbles need Go 1.25, or Go 1.24 with GOEXPERIMENT=synctest; elsewhere tests are
// skipped with that reason. With a -timeout under ten seconds rapid does not shrink
// failures. Timers of one instant go in random order from Go 1.25 on: a property that
// depends on it is reported as flaky.
package rapidbubble
