// Package properties explores further than package conformance: package rapid draws
// long random schedules for the same contracts, the same rules judge them, and failures
// are shrunk.
//
// # A property test in ten lines
//
// Describe the implementation as for the package of its contract, and check it:
//
//	func TestProperties(t *testing.T) {
//		properties.Check(t, limitertest.Spec{
//			Name: "mine",
//			Time: limitertest.Explicit,
//			New: func(_ limitertest.Env, cfg limitertest.Config) limitertest.Funcs {
//				return limitertest.Funcs{AllowAt: mine.New(cfg.Rate.PerSecond(), cfg.Burst).AllowN}
//			},
//			Traits: limitertest.XTimeRate(),
//		})
//	}
//
// A spec of any contract works: the contract decides what is drawn. [Fuzz] makes it a
// native fuzz target, whose corpus is readable schedules, [FuzzBytes] one for OSS-Fuzz. [Laws] checks metamorphic laws,
// which compare two runs: the same history an hour later has the same outcome, a query
// changes nothing, and so on.
//
// # When conformance is enough
//
// Conformance enumerates every short schedule, smallest first, in the same order on every
// machine, and probes what single schedules cannot show, such as data races. Run it always.
// Properties add length, odd numbers and mixes: state that degrades, counts that overflow, a
// cancel of one of five reservations; and the laws of two runs. They are random: run them
// with your other tests, and for long (-rapid.checks=1000000) after a rewrite. MUTANTS.md,
// in testdata, lists which of our collection of broken implementations each of the two finds.
//
// # Reproducing and shrinking
//
// A failure prints the schedule in one line, with the command that replays it:
//
//	ESCAPEMENT_SCHEDULE='wait=100ms | call 1 @0 | cancel @99ms' go test -run '^TestMine$'
//
// rapid also prints its seed, and writes a fail file under testdata/rapid that is tried
// first from then on; delete it when the mistake is fixed. After rapid, the suite makes the
// schedule smaller still: it removes steps and rounds gaps while the rule stays broken. The
// method Smallest of [conformance.Judge] does that for a schedule of your own.
//
// # Your own law
//
// Draw a schedule, run it, look at the trace:
//
//	judge := spec.Judge(t)
//	schedules := properties.Schedules(judge)
//	rapid.Check(t, func(t *rapid.T) {
//		s := schedules.Draw(t, "schedule")
//		if tr := judge.Trace(s); len(tr.Fires) > len(s.Steps) {
//			t.Fatalf("%d fires", len(tr.Fires))
//		}
//	})
//
// [CheckWith] takes your own generator, and judges by the rules of the contract.
// [MachineLimiter] is a state machine that compares a limiter with an exact model. For
// your own machines, and for properties that start goroutines, see package
// synctestcompat/rapidbubble.
package properties
