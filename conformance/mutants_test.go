package conformance

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/synctestcompat"
)

// catchOf is what the suite made of one mutant.
type catchOf struct {
	mutant, rule, family string
	others               []string
	text                 string // the failure text of its rule
}

var update = flag.Bool("update", false, "rewrite golden files")

// sources are the ways to take time that this toolchain can drive.
func sources(all ...TimeSource) []TimeSource {
	if synctestcompat.Available {
		return all
	}
	return slices.DeleteFunc(all, func(s TimeSource) bool { return s == PackageTime })
}

// fewSources are the sources, only the first with -short and the race detector, which
// finds nothing new in the others.
func fewSources(all ...TimeSource) []TimeSource {
	if raceDetector && testing.Short() {
		return all[:1]
	}
	return sources(all...)
}

// chances are the numbers in what concurrent rules say.
var chances = regexp.MustCompile(`\b(|brought |had |granted |got |and |round |instant |run, )\d+([, ]| of \d+ goroutines)`)

// judgeMutant runs the suite on a mutant and checks that its rule caught it.
func judgeMutant(t *testing.T, c *contract, mutant, rule string) catchOf {
	t.Helper()
	out := catchOf{mutant: mutant, rule: rule}
	for _, v := range c.evaluate().Verdicts {
		switch {
		case v.Status != Fail:
		case v.Rule == rule:
			out.family, out.text = v.Family, v.Text
			if slices.Contains([]string{"TH-ONEOF", "X-CONC", "SL-CONC", "CT-NOLOST", "CK-AWAIT"}, rule) { // how many, and when first, is chance
				out.text = chances.ReplaceAllString(out.text, "${1}N$2")
			}
		default:
			out.others = append(out.others, v.Rule)
		}
	}
	if out.family == "" {
		t.Errorf("%s is not caught by %s; others: %v", mutant, rule, out.others)
	}
	return out
}

// matrix prints which rule catches which mutant, and where: "enumeration" and the
// other exhaustive families need no name, "scenarios" and "polling" are named.
func matrix(rows []catchOf) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-38s %-13s %-16s %s\n", "mutant", "caught by", "first seen in", "and by")
	for _, r := range rows {
		fmt.Fprintf(&b, "%-38s %-13s %-16s %s\n", r.mutant, r.rule, r.family, strings.Join(r.others, " "))
	}
	return b.String()
}

// once skips the i-th of several designs on all drivers of package time and an injected clock but
// one, unless all of them are to be proved.
func once(t *testing.T, i int, source TimeSource) {
	t.Helper()
	if synctestcompat.Available && TimeSource(i%2)+Injected != source {
		prove.Require(t, prove.Suite)
	}
}

// The unmutated zoo passes everything, each design on one driver or with ESCAPEMENT_PROVE=1 on every.
func TestZoo_correctOnesPass(t *testing.T) {
	for _, source := range sources(Injected, PackageTime) {
		for i, spec := range []DebouncerSpec{zooDebouncerSpec("", source), zooEdgesSpec("", source), zooOnCallSpec("", source), zooBatchSpec("", source)} {
			t.Run([]string{"Debouncer", "DebouncerEdges", "DebouncerBoundOnCall", "DebouncerBatch"}[i]+source.String(), func(t *testing.T) {
				once(t, i, source)
				RunDebouncer(t, spec)
			})
		}
	}
	for _, only := range []Edges{Leading, LeadingAndTrailing} {
		t.Run("Debouncer"+only.String(), func(t *testing.T) { RunDebouncer(t, zooEdgeSpec(only)) })
	}
	for _, source := range sources(Injected, PackageTime) {
		for i, spec := range []ThrottleSpec{zooThrottleSpec("", source), zooPlainSpec("", source), zooStreamSpec("", source)} {
			t.Run([]string{"Throttle", "ThrottlePlain", "ThrottleStream"}[i]+source.String(), func(t *testing.T) {
				once(t, i, source)
				RunThrottle(t, spec)
			})
		}
	}
	t.Run("ThrottleExplicit", func(t *testing.T) { RunThrottle(t, zooThrottleSpec("", Explicit, Leading)) })
	for _, source := range fewSources(Injected, PackageTime) {
		for i, spec := range []LeakyBucketSpec{zooBucketSpec("", source), zooSleeper(source), zooTicker(source),
			zooPeriods(source, false), zooPeriods(source, true), zooReserver(source), zooTurns(source, 0, ""), zooTurns(source, 3, "")} {
			t.Run("LeakyBucket"+source.String(), func(t *testing.T) {
				once(t, i, source)
				RunLeakyBucket(t, spec)
			})
		}
	}
	for _, source := range fewSources(Explicit, PackageTime, Injected) {
		for _, kind := range []QuotaKind{FixedWindow, SlidingLog, SlidingCounter, GCRA} {
			t.Run("Quota"+kind.String()+source.String(), func(t *testing.T) {
				if source != Explicit {
					prove.Require(t, prove.Suite)
				}
				RunQuota(t, zooQuotaSpec("", kind, source))
			})
		}
	}
	for _, spec := range quotaZoo() {
		t.Run("Quota", func(t *testing.T) { RunQuota(t, spec) })
	}
	for _, waits := range []ClockWaits{WaitsForAll, WaitsForFunctions} {
		t.Run("Clock", func(t *testing.T) { RunClock(t, zooClock("", waits, nil)) })
	}
	t.Run("ClockThatWaitsForNothing", func(t *testing.T) {
		RunClock(t, zooClock("", WaitsForNothing, func(f *ClockFuncs) {
			afterFunc := f.AfterFunc
			f.AfterFunc = func(d time.Duration, fn func()) clockwork.Timer { return afterFunc(d, func() { go fn() }) }
		}))
	})
	t.Run("ClockWithoutTimerReset", func(t *testing.T) {
		RunClock(t, zooClock("", WaitsForAll, func(f *ClockFuncs) {
			newTimer, afterFunc := f.NewTimer, f.AfterFunc
			f.NewTimer = func(d time.Duration) clockwork.Timer { return noReset{newTimer(d)} }
			f.AfterFunc = func(d time.Duration, fn func()) clockwork.Timer { return noReset{afterFunc(d, fn)} }
			f.NoTimerReset = true
		}))
	})
	for _, source := range sources(Injected, PackageTime, Explicit) {
		t.Run("Limiter"+source.String(), func(t *testing.T) {
			if source != Injected {
				prove.Require(t, prove.Suite)
			}
			RunLimiter(t, zooLimiterSpec("", source))
		})
	}
}

// noReset is a timer that can be stopped only.
type noReset struct{ clockwork.Timer }

func (noReset) Reset(time.Duration) bool { panic("there is no Reset") }

// mutant is a mistake, with the rule that must catch it.
type mutant struct {
	contract, name, rule string
	make                 func(t *testing.T) *contract
}

// mutants lists those of all contracts but the limiter's that are shown a single
// family.
func mutants() []mutant {
	var all []mutant
	add := func(contract, name, rule string, make func(t *testing.T) *contract) {
		all = append(all, mutant{contract, name, rule, make})
	}
	for _, m := range debouncerMutants {
		add("debouncer", m.name, m.rule, func(t *testing.T) *contract { return debouncerContract(t, zooDebouncerSpec(m.name, Injected)) })
	}
	for _, m := range edgeMutants {
		add("debouncer", m.name, m.rule, func(t *testing.T) *contract { return debouncerContract(t, zooEdgesSpec(m.name, Injected)) })
	}
	for _, m := range onCallMutants {
		add("debouncer", "a bound on call: "+m.name, m.rule, func(t *testing.T) *contract { return debouncerContract(t, zooOnCallSpec(m.name, Injected)) })
	}
	for _, m := range batchMutants {
		add("debouncer", m.name, m.rule, func(t *testing.T) *contract { return debouncerContract(t, zooBatchSpec(m.name, Injected)) })
	}
	for _, m := range streamMutants {
		add("throttle", m.name, m.rule, func(t *testing.T) *contract {
			c := throttleContract(t, zooStreamSpec(m.name, Injected))
			c.families = func(c *contract) []family { return ended(c, m.rule) }
			return c
		})
	}
	for _, m := range throttleMutants {
		add("throttle", m.name, m.rule, func(t *testing.T) *contract { return throttleContract(t, zooThrottleSpec(m.name, Injected)) })
	}
	for _, m := range plainMutants {
		add("throttle", m.name, m.rule, func(t *testing.T) *contract { return throttleContract(t, zooPlainSpec(m.name, Injected)) })
	}
	for _, m := range leakyMutants {
		add("leaky bucket", m.name, m.rule, func(t *testing.T) *contract { return leakyContract(t, zooBucketSpec(m.name, Injected)) })
	}
	for _, m := range turnMutants {
		add("leaky bucket", m.name, m.rule, func(t *testing.T) *contract { return leakyContract(t, zooTurns(Injected, 3, m.name)) })
	}
	for _, m := range quotaMutants {
		source := Explicit
		if m.rule == "X-LEAK" {
			source = Injected
		}
		add("quota", m.kind.String()+": "+m.name, m.rule, func(t *testing.T) *contract { return quotaContract(t, zooQuotaSpec(m.name, m.kind, source)) })
	}
	for _, m := range limiterMutants {
		add("limiter", m.name, m.rule, func(t *testing.T) *contract { return limiterContract(t, zooLimiterSpec(m.name, Explicit)) })
	}
	for _, m := range perSecondMutants {
		add("limiter", "so many per second: "+m.name, m.rule, func(t *testing.T) *contract { return limiterContract(t, perSecondSpec(m.name)) })
	}
	const left = "limiter goroutine left behind"
	add("limiter", left, "X-LEAK", func(t *testing.T) *contract { return limiterContract(t, zooLimiterSpec(left, Injected)) })
	for _, m := range concurrencyMutants {
		add("concurrency", m.name, m.rule, func(t *testing.T) *contract {
			c := concurrencyContract(t, zooQueueSpec(m.name, Injected))
			c.families = func(c *contract) []family { return smallest(c, m.rule, max(3, m.steps)) }
			return c
		})
	}
	const late = "takes the signal after its look"
	add("concurrency", late, "CT-NOLOST", func(t *testing.T) *contract {
		c := concurrencyContract(t, zooSignalSpec(late, Injected))
		c.families = func(*contract) []family { return nil }
		return c
	})
	for _, m := range clockMutants {
		add("clock", m.name, m.rule, func(t *testing.T) *contract { return clockContract(t, zooClock(m.name, m.waits, m.mistake)) })
	}
	return all
}

// ended are the families of a throttle's stream that its rule needs. A mutant that leaves
// goroutines after each run leaves few so, which make the looks of later tests long.
func ended(c *contract, rule string) []family {
	op := map[string]Op{"TH-CTX": OpCancel, "TH-CLOSE": OpClose}[rule]
	return slices.DeleteFunc(throttleFamilies(c), func(f family) bool {
		return op != "" && !slices.ContainsFunc(f.schedules, func(s Schedule) bool {
			return slices.ContainsFunc(s.Steps, func(st Step) bool { return st.Op == op })
		})
	})
}

// hangs reports whether a mutant blocks until the watchdog looks.
func (m mutant) hangs() bool {
	return m.rule == "X-REENT" || m.rule == "CK-REENT" || strings.Contains(m.name, "keeps a lock")
}

// everyMutant says that all mutants of a rule are judged, and not only its first.
func everyMutant() bool { return prove.Reaches(prove.Suite) && !testing.Short() || *update }

// Every rule has a mutant that it catches: one of them is judged for each, or with ESCAPEMENT_PROVE=1
// all, until the rule has found it. With ESCAPEMENT_PROVE=all they are explored to the end, and -v
// prints the kill matrix.
func TestMutants(t *testing.T) {
	if !synctestcompat.Available {
		t.Skip("many mutants show only in bubbles: " + synctestcompat.Reason)
	}
	if raceDetector && testing.Short() {
		t.Skip("-short: the race detector finds nothing new in mutants, at five times the cost")
	}
	if !aside(t) {
		return
	}
	full := prove.Reaches(prove.All)
	var rows []catchOf
	caught := map[string]bool{}
	held := heldMutantRows(t, caught) // the quickest for each of their rules
	for _, m := range mutants() {
		key := m.contract + " " + m.rule
		racing := raceDetector && (m.rule == "TH-ONEOF" || m.rule == "X-CONC") // it is a data race as well
		again := !everyMutant() && caught[key]
		caught[key] = true
		if m.hangs() || racing || again {
			continue // see TestMutants_thatHang
		}
		c := m.make(t)
		if !full {
			c.until = m.rule
		}
		rows = append(rows, judgeMutant(t, c, m.name, m.rule))
	}
	rows = append(rows, held...)
	t.Log("\n" + matrix(rows))
	if !full {
		golden(t, rows)
	}
	for _, contract := range Contracts() {
		for _, r := range Rules(contract) {
			if !caught[contract+" "+r.ID] && r.ID != "X-RACE" { // see TestRace
				t.Errorf("%s %s has no mutant", contract, r.ID)
			}
		}
	}
}

// Mutants that hang are judged as soon as the stacks prove it.
func TestMutants_thatHang(t *testing.T) {
	synctestcompat.Require(t)
	if !aside(t) {
		return
	}
	var rows []catchOf
	seen := map[string]bool{}
	for _, m := range mutants() {
		key := m.contract + " " + m.rule
		if !m.hangs() || seen[key] && !everyMutant() {
			continue
		}
		seen[key] = true
		c := m.make(t)
		c.lab.first = soon
		c.until = m.rule
		row := judgeMutant(t, c, m.name, m.rule)
		row.mutant = m.contract + ": " + m.name
		row.text = strings.Replace(row.text, "started by internal/synctest.Run", "started by testing/synctest.testingSynctestTest", 1) // on Go 1.24
		rows = append(rows, row)
	}
	goldenFile(t, "hangs.golden", rows)
}

// Mistakes that show on package time are caught there too, one for every second rule, or
// with ESCAPEMENT_PROVE=all for each.
func TestMutants_packageTime(t *testing.T) {
	synctestcompat.Require(t)
	prove.Require(t, prove.Suite)
	if testing.Short() {
		t.Skip("-short: the same mutants run on the injected clock")
	}
	if !aside(t) {
		return
	}
	seen := map[string]bool{}
	for _, m := range debouncerMutants {
		if seen[m.rule] || m.name == "timer left armed" || slices.Contains([]string{"DB-TIE", "X-REENT", "X-BACK", "X-CLOCK1", "X-PANIC", "X-CONC"}, m.rule) {
			continue // nobody can count package time's timers, order a tie there, set it back or catch a panic; a hang is one on any clock; two locks show in a tie there
		}
		seen[m.rule] = true
		if len(seen)%2 == 0 && !prove.Reaches(prove.All) {
			continue
		}
		c := debouncerContract(t, zooDebouncerSpec(m.name, PackageTime))
		c.until = m.rule
		judgeMutant(t, c, m.name, m.rule)
	}
	for _, m := range edgeMutants {
		if seen[m.rule] {
			continue
		}
		seen[m.rule] = true
		if len(seen)%2 == 0 && !prove.Reaches(prove.All) {
			continue
		}
		c := debouncerContract(t, zooEdgesSpec(m.name, PackageTime))
		c.until = m.rule
		judgeMutant(t, c, m.name, m.rule)
	}
}

// golden compares the failure text of each mutant's rule with the file.
func golden(t *testing.T, rows []catchOf) {
	t.Helper()
	goldenFile(t, "failures.golden", rows)
}

// goldenFile is golden with a file of its own for a test of its own.
func goldenFile(t *testing.T, name string, rows []catchOf) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "# Made by: go test ./conformance -run '^%s$' -update\n", t.Name())
	for _, r := range rows {
		fmt.Fprintf(&b, "\n## %s\n\n%s", r.mutant, r.text)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Some mutants may be left out: compare section by section.
	for _, section := range strings.Split(b.String(), "\n## ")[1:] {
		if !strings.Contains(string(want)+"\n## ", "\n## "+section) {
			t.Errorf("%s does not hold this text; if it is right, run with -update:\n## %s", path, section)
		}
	}
}

// raceMutant makes this process run a mutant of X-RACE, which must fail.
const raceMutant = "CONFORMANCE_RACE_MUTANT"

// raceMutants run the rule on a mutant for each contract, and say why they cannot.
var raceMutants = []struct {
	name string
	run  func(t *testing.T) (*violation, string)
}{
	{"debouncer", func(t *testing.T) (*violation, string) {
		return learned(debouncerContract(t, zooDebouncerSpec("counts before it locks", Injected))).debouncerRace()
	}},
	{"debouncer on package time", func(t *testing.T) (*violation, string) {
		return learned(debouncerContract(t, zooDebouncerSpec("counts before it locks", PackageTime))).debouncerRace()
	}},
	{"throttle", func(t *testing.T) (*violation, string) {
		return learned(throttleContract(t, zooThrottleSpec("checks without the lock", Injected))).throttleRace()
	}},
	{"limiter", func(t *testing.T) (*violation, string) {
		return learned(limiterContract(t, zooLimiterSpec("counts before it locks", Explicit))).limiterRace()
	}},
	{"leaky bucket", func(t *testing.T) (*violation, string) {
		return learned(leakyContract(t, zooBucketSpec("counts without the lock", Injected))).leakyRace()
	}},
	{"quota", func(t *testing.T) (*violation, string) {
		return learned(quotaContract(t, zooQuotaSpec("counts without the lock", GCRA, Explicit))).quotaRace()
	}},
	{"concurrency", func(t *testing.T) (*violation, string) {
		return learned(concurrencyContract(t, zooQueueSpec("counts requests without a lock", Injected))).concurrencyRace()
	}},
	{"clock", func(t *testing.T) (*violation, string) {
		return learned(clockContract(t, zooClock("counts without a lock", WaitsForFunctions, func(f *ClockFuncs) {
			n := 0
			afterFunc := f.AfterFunc
			f.AfterFunc = func(d time.Duration, fn func()) clockwork.Timer {
				wrap := &timerMutant{Timer: afterFunc(d, fn)}
				wrap.stop = func() bool { n++; return wrap.Timer.Stop() }
				return wrap
			}
		}))).clockRace()
	}},
}

// learned is a contract that knows what the implementation has.
func learned(c *contract) *contract {
	c.lab.bubble = c.time != Explicit && synctestcompat.Available
	c.learn()
	return c
}

// A mutant of X-RACE fails whatever test runs it, so each runs in a process of its own.
func TestRace_mutantIsCaught(t *testing.T) {
	if !raceDetector {
		t.Skip("data races show only with -race")
	}
	synctestcompat.Require(t)
	for _, m := range raceMutants {
		if os.Getenv(raceMutant) == m.name {
			if _, why := m.run(t); why != "" {
				t.Skip(why)
			}
			return
		}
	}
	for _, m := range raceMutants {
		cmd := exec.Command(os.Args[0], "-test.run=^TestRace_mutantIsCaught$")
		cmd.Env = append(os.Environ(), raceMutant+"="+m.name)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "DATA RACE") {
			t.Errorf("%s: the race was not reported: %v\n%s", m.name, err, out)
		}
	}
}
