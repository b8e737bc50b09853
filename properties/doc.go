// Package properties explores further than package conformance: package rapid draws
// long random schedules for the same contracts, the same rules judge them, and what
// fails is made smaller.
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
// A spec of any contract will do: what is drawn is up to the contract. [Fuzz] makes the
// same a native fuzz target, whose corpus is readable schedules, [FuzzBytes] one for OSS-Fuzz. [Laws] holds the
// implementation to metamorphic laws, which compare two runs: that the same history an hour
// later has the same outcome, that a question changes nothing, and so on.
//
// # When conformance is enough
//
// Conformance enumerates every short schedule, smallest first, in the same order on every
// machine, and probes what no single schedule shows, such as data races and what the
// methods do to their callers. Run it always. Properties add length, odd numbers and mixes:
// state that wears out, counts that overflow, a cancel of one of five reservations; and the
// laws of two runs. They are random: run them with the tests as they are, and for long
// (-rapid.checks=1000000) after a rewrite. MUTANTS.md, in testdata, has what each of the two
// finds of all mistakes of the zoo.
//
// # To reproduce and to make smaller
//
// A failure prints the schedule in one line, with the command that replays it:
//
//	ESCAPEMENT_SCHEDULE='wait=100ms | call 1 @0 | cancel @99ms' go test -run '^TestMine$'
//
// rapid also prints its seed, and writes a fail file under testdata/rapid that is tried
// first from then on; delete it when the mistake is gone. What rapid could not make
// smaller is made smaller step by step afterwards, as [conformance.Judge] does for any
// schedule that breaks a rule: see its Smallest.
//
// # A law of one's own
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
// [CheckWith] takes a generator of your own, and judges by the rules of the contract.
// [MachineLimiter] is a state machine that decides as it goes, beside an exact model. For
// machines of your own, and for properties that start goroutines of their own, see package
// synctestcompat/rapidbubble.
package properties
