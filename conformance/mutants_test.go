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

// judgeMutant runs the suite on a mutant and checks that its rule caught it.
func judgeMutant(t *testing.T, c *contract, mutant, rule string) catchOf {
	t.Helper()
	out := catchOf{mutant: mutant, rule: rule}
	for _, v := range c.evaluate().Verdicts {
		switch {
		case v.Status != Fail:
		case v.Rule == rule:
			out.family, out.text = v.Family, v.Text
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

// The unmutated zoo passes everything, on every driver.
func TestZoo_correctOnesPass(t *testing.T) {
	for _, source := range sources(Injected, PackageTime) {
		t.Run("Debouncer"+source.String(), func(t *testing.T) { RunDebouncer(t, zooDebouncerSpec("", source)) })
		t.Run("DebouncerEdges"+source.String(), func(t *testing.T) { RunDebouncer(t, zooEdgesSpec("", source)) })
		t.Run("DebouncerBatch"+source.String(), func(t *testing.T) { RunDebouncer(t, zooBatchSpec("", source)) })
		t.Run("ThrottleStream"+source.String(), func(t *testing.T) { RunThrottle(t, zooStreamSpec("", source)) })
	}
	for _, only := range []Edges{Leading, LeadingAndTrailing} {
		t.Run("Debouncer"+only.String(), func(t *testing.T) { RunDebouncer(t, zooEdgeSpec(only)) })
	}
	for _, source := range sources(Injected, PackageTime) {
		t.Run("Throttle"+source.String(), func(t *testing.T) { RunThrottle(t, zooThrottleSpec("", source)) })
	}
	t.Run("ThrottleExplicit", func(t *testing.T) { RunThrottle(t, zooThrottleSpec("", Explicit, Leading)) })
	for _, source := range fewSources(Injected, PackageTime) {
		for _, spec := range []LeakyBucketSpec{zooBucketSpec("", source), zooSleeper(source), zooTicker(source),
			zooPeriods(source, false), zooPeriods(source, true), zooReserver(source), zooTurns(source, 0), zooTurns(source, 3)} {
			t.Run("LeakyBucket"+source.String(), func(t *testing.T) { RunLeakyBucket(t, spec) })
		}
	}
	for _, source := range fewSources(Explicit, PackageTime, Injected) {
		for _, kind := range []QuotaKind{FixedWindow, SlidingLog, SlidingCounter, GCRA} {
			t.Run("Quota"+kind.String()+source.String(), func(t *testing.T) { RunQuota(t, zooQuotaSpec("", kind, source)) })
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
	for _, source := range sources(Injected, PackageTime, Explicit) {
		t.Run("Limiter"+source.String(), func(t *testing.T) { RunLimiter(t, zooLimiterSpec("", source)) })
	}
}

// Every rule has a mutant that it catches; -v prints the kill matrix.
func TestMutants(t *testing.T) {
	if !synctestcompat.Available {
		t.Skip("many mutants show only in bubbles: " + synctestcompat.Reason)
	}
	if raceDetector && testing.Short() {
		t.Skip("-short: the race detector finds nothing new in mutants, at five times the cost")
	}
	var rows []catchOf
	caught := map[string]bool{"X-RACE": true} // see TestRace
	for _, m := range debouncerMutants {
		if m.rule == "X-REENT" && testing.Short() {
			caught[m.rule] = true
			continue // it hangs until the watchdog looks
		}
		rows = append(rows, judgeMutant(t, debouncerContract(t, zooDebouncerSpec(m.name, Injected)), m.name, m.rule))
		caught[m.rule] = true
	}
	for _, m := range edgeMutants {
		rows = append(rows, judgeMutant(t, debouncerContract(t, zooEdgesSpec(m.name, Injected)), m.name, m.rule))
		caught[m.rule] = true
	}
	for _, m := range batchMutants {
		rows = append(rows, judgeMutant(t, debouncerContract(t, zooBatchSpec(m.name, Injected)), m.name, m.rule))
		caught[m.rule] = true
	}
	for _, m := range streamMutants {
		rows = append(rows, judgeMutant(t, throttleContract(t, zooStreamSpec(m.name, Injected)), m.name, m.rule))
		caught[m.rule] = true
	}
	for _, m := range throttleMutants {
		if m.rule == "X-REENT" && testing.Short() {
			caught[m.rule] = true
			continue // it hangs until the watchdog looks
		}
		if m.rule == "TH-ONEOF" && raceDetector {
			caught[m.rule] = true
			continue // it is a data race as well
		}
		row := judgeMutant(t, throttleContract(t, zooThrottleSpec(m.name, Injected)), m.name, m.rule)
		if m.rule == "TH-ONEOF" { // how many, and when first, is chance
			row.text = regexp.MustCompile(`(brought|round) \d+ `).ReplaceAllString(row.text, "$1 N ")
		}
		rows = append(rows, row)
		caught[m.rule] = true
	}
	for _, m := range leakyMutants {
		if m.rule == "X-REENT" && testing.Short() || m.rule == "X-CONC" && raceDetector || caught[m.rule] && testing.Short() {
			caught[m.rule] = true
			continue // it hangs until the watchdog looks; it is a data race as well; one for each rule will do
		}
		row := judgeMutant(t, leakyContract(t, zooBucketSpec(m.name, Injected)), m.name, m.rule)
		if m.rule == "X-CONC" { // how many, and when first, is chance
			row.text = regexp.MustCompile(`(had|round) \d+ `).ReplaceAllString(row.text, "$1 N ")
		}
		rows = append(rows, row)
		caught[m.rule] = true
	}
	for _, m := range quotaMutants {
		if m.rule == "X-CONC" && raceDetector || caught[m.rule] && testing.Short() {
			caught[m.rule] = true
			continue // it is a data race as well; one for each rule will do
		}
		name, source := m.kind.String()+": "+m.name, Explicit
		if m.rule == "X-LEAK" {
			source = Injected
		}
		row := judgeMutant(t, quotaContract(t, zooQuotaSpec(m.name, m.kind, source)), name, m.rule)
		if m.rule == "X-CONC" { // how many, and when first, is chance
			row.text = regexp.MustCompile(`(granted|round) \d+([, ])`).ReplaceAllString(row.text, "$1 N$2")
		}
		rows = append(rows, row)
		caught[m.rule] = true
	}
	for _, m := range limiterMutants {
		rows = append(rows, judgeMutant(t, limiterContract(t, zooLimiterSpec(m.name, Explicit)), m.name, m.rule))
		caught[m.rule] = true
	}
	for _, m := range clockMutants {
		if m.rule == "CK-REENT" && testing.Short() {
			caught[m.rule] = true
			continue // it hangs until the watchdog looks
		}
		rows = append(rows, judgeMutant(t, clockContract(t, zooClock(m.name, m.waits, m.mistake)), m.name, m.rule))
		caught[m.rule] = true
	}
	for _, row := range heldMutantRows(t) {
		if row.rule == "SL-CONC" { // how many, and when first, is chance
			row.text = regexp.MustCompile(`(got|round) \d+ `).ReplaceAllString(row.text, "$1 N ")
		}
		rows = append(rows, row)
		caught[row.rule] = true
	}
	rows = append(rows, judgeMutant(t, limiterContract(t, zooLimiterSpec("limiter goroutine left behind", Injected)), "limiter goroutine left behind", "X-LEAK"))
	t.Log("\n" + matrix(rows))
	golden(t, rows)
	for _, contract := range Contracts() {
		if contract == "concurrency" {
			continue // see TestConcurrencyMutants
		}
		for _, r := range Rules(contract) {
			if !caught[r.ID] {
				t.Errorf("%s has no mutant", r.ID)
			}
		}
	}
}

// The mutants whose mistake shows on package time are caught there too.
func TestMutants_packageTime(t *testing.T) {
	synctestcompat.Require(t)
	if testing.Short() {
		t.Skip("-short: the same mutants run on the injected clock")
	}
	for _, m := range debouncerMutants {
		if m.name == "timer left armed" || slices.Contains([]string{"DB-TIE", "X-REENT", "X-BACK", "X-CLOCK1", "X-PANIC"}, m.rule) {
			continue // nobody can count package time's timers, order a tie there, set it back or catch a panic; the watchdog waits as on the injected clock
		}
		c := debouncerContract(t, zooDebouncerSpec(m.name, PackageTime))
		c.until = m.rule
		judgeMutant(t, c, m.name, m.rule)
	}
	for _, m := range edgeMutants {
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
	// With -short some mutants are left out: compare section by section.
	for _, section := range strings.Split(b.String(), "\n## ")[1:] {
		if !strings.Contains(string(want)+"\n## ", "\n## "+section) {
			t.Errorf("%s does not hold this text; if it is right, run with -update:\n## %s", path, section)
		}
	}
}

// raceMutant makes this process run the mutant of X-RACE, which must fail.
const raceMutant = "CONFORMANCE_RACE_MUTANT"

// The mutant of X-RACE fails whatever test runs it, so it runs in a process of its
// own.
func TestRace_mutantIsCaught(t *testing.T) {
	if !raceDetector {
		t.Skip("data races show only with -race")
	}
	synctestcompat.Require(t)
	for _, source := range sources(Injected, PackageTime) {
		if os.Getenv(raceMutant) == source.String() {
			c := debouncerContract(t, zooDebouncerSpec("counts before it locks", source))
			c.lab.bubble = synctestcompat.Available
			c.learn()
			if _, why := c.debouncerRace(); why != "" {
				t.Skip(why)
			}
			return
		}
	}
	if os.Getenv(raceMutant) == "clock" {
		c := clockContract(t, zooClock("counts without a lock", WaitsForFunctions, func(f *ClockFuncs) {
			n := 0
			afterFunc := f.AfterFunc
			f.AfterFunc = func(d time.Duration, fn func()) clockwork.Timer {
				wrap := &timerMutant{Timer: afterFunc(d, fn)}
				wrap.stop = func() bool { n++; return wrap.Timer.Stop() }
				return wrap
			}
		}))
		c.learn()
		if _, why := c.clockRace(); why != "" {
			t.Skip(why)
		}
		return
	}
	switch os.Getenv(raceMutant) {
	case "leaky bucket":
		c := leakyContract(t, zooBucketSpec("counts without the lock", Injected))
		c.learn()
		if _, why := c.leakyRace(); why != "" {
			t.Skip(why)
		}
		return
	case "quota":
		c := quotaContract(t, zooQuotaSpec("counts without the lock", GCRA, Explicit))
		c.learn()
		if _, why := c.quotaRace(); why != "" {
			t.Skip(why)
		}
		return
	}
	var all []string
	for _, source := range sources(Injected, PackageTime) {
		all = append(all, source.String())
	}
	for _, source := range append(all, "leaky bucket", "quota", "clock") {
		cmd := exec.Command(os.Args[0], "-test.run=^TestRace_mutantIsCaught$")
		cmd.Env = append(os.Environ(), raceMutant+"="+source)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "DATA RACE") {
			t.Errorf("%s: the race was not reported: %v\n%s", source, err, out)
		}
	}
}
