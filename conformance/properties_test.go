package conformance_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/bundled"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/properties"
	"github.com/escapement-go/escapement/synctestcompat"
)

// notDrawn are mutants that the suite catches and properties do not, by rule or by rule
// and name, and why.
var notDrawn = map[string]string{
	"DB-NEG":       "waits below 0 are not drawn",
	"DB-CLOSE":     "the end of an input is not drawn",
	"TH-CLOSE":     "the end of an input is not drawn",
	"DB-KEY":       "one key is drawn",
	"TH-KEY":       "one key is drawn",
	"X-ISO":        "one instance is drawn",
	"X-BACK":       "clocks are not set back",
	"TH-CLOCKBACK": "clocks are not set back",
	"X-CLOCK1":     "package time is not moved",
	"X-CFG":        "limits and windows are those of common sense",
	"X-CONC":       "shows only when goroutines call at once, which no schedule does",
	"TH-ONEOF":     "shows only when goroutines call at once, which no schedule does",

	"DB-LIVE a zero payload is no event":                                 "payloads count from 1",
	"TH-PAY a zero payload is no event":                                  "payloads count from 1",
	"X-PANIC a panic leaves it running":                                  "callbacks do not panic",
	"X-PANIC a panic on the leading edge wedges it":                      "callbacks do not panic",
	"DB-MAXNE a fire of the bound ends the burst":                        "it takes five calls at the right instants",
	"TH-PAY an event at the very end overtakes what is pending":          "events are not put in a race with the end of an interval",
	"TH-SPACE a timer that has expired emits all the same":               "events are not put in a race with the end of an interval",
	"TH-SPACE a timer that has expired takes what is new":                "events are not put in a race with the end of an interval",
	"TH-RESET a timer that has expired ends the interval after a reset":  "events are not put in a race with the end of an interval",
	"CT-OVERREL a permit gives its slots back twice":                     "what nobody holds is not released",
	"CT-OVERREL a release looks whether anything is held":                "what nobody holds is not released",
	"GC-EQUIV GCRA: the interval is cut to whole milliseconds":           "intervals are whole milliseconds",
	"CT-OVERREL a release too many raises the limit":                     "what nobody holds is not released",
	"CK-SAME one deadline holds one function":                            "programs have few equal deadlines, as package time promises no order for them",
	"LB-SAMEINSTANT a timer that was armed again fires twice":            "items are not put in a race with their turn",
	"LB-FIFO overtakes what is due at this instant":                      "items are not put in a race with their turn",
	"X-LEAK stop leaves a goroutine if something waits":                  "buckets are stopped when all has left",
	"LB-DROP stop lets what waits leave":                                 "buckets are stopped when all has left",
	"CK-ORDER Stop among many drops the newest as well":                  "programs have no thirty functions",
	"CT-OVER more than the limit is more than the first one":             "limits change only where each request weighs one",
	"CT-RESIZE a higher limit wakes as many as it adds":                  "it takes two changes of the limit while two run and two wait",
	"CT-TIE gives back one slot when it is cancelled as it gets them":    "it takes a heavy request that is cancelled in the very race in which it gets its slots",
	"CK-FUNC the longest wait of a function overflows":                   "waits of more than an hour are not drawn",
	"X-PANIC a panic is swallowed":                                       "callbacks do not panic",
	"DB-QUIET a new burst is taken for the cancelled one":                "a cancel and an event are not put in a race together",
	"DB-MAXNE a new burst within a bound is taken for the cancelled one": "a cancel and an event are not put in a race together",
}

// listener is a TB that fails nobody.
type listener struct {
	rapid.TB
	failed bool
	log    strings.Builder
}

func (l *listener) Helper()                           {}
func (l *listener) Failed() bool                      { return l.failed }
func (l *listener) Log(args ...any)                   { fmt.Fprintln(&l.log, args...) }
func (l *listener) Logf(format string, args ...any)   { fmt.Fprintf(&l.log, format+"\n", args...) }
func (l *listener) Error(args ...any)                 { l.Log(args...); l.failed = true }
func (l *listener) Errorf(format string, args ...any) { l.Logf(format, args...); l.failed = true }
func (l *listener) FailNow()                          { l.failed = true; runtime.Goexit() }

// check runs a check that may fail, and returns the rule that broke and the schedules that rapid
// and Smallest came to.
func check(t *testing.T, m conformance.ZooMutant) (rule, byRapid, smallest string) {
	t.Helper()
	l := &listener{TB: t}
	done := make(chan bool)
	go func() {
		defer close(done)
		switch {
		case m.Debouncer != nil:
			j := conformance.JudgeDebouncer(t, *m.Debouncer)
			properties.Check(l, j, properties.Debouncers(j, *m.Debouncer))
		case m.Throttle != nil:
			j := conformance.JudgeThrottle(t, *m.Throttle)
			properties.Check(l, j, properties.Throttles(j, *m.Throttle))
		case m.Limiter != nil:
			j := conformance.JudgeLimiter(t, *m.Limiter)
			properties.Check(l, j, properties.Limiters(j, *m.Limiter))
		case m.Concurrency != nil:
			j := conformance.JudgeConcurrency(t, *m.Concurrency)
			properties.Check(l, j, properties.Concurrencies(j, *m.Concurrency))
		case m.LeakyBucket != nil:
			j := conformance.JudgeLeakyBucket(t, *m.LeakyBucket)
			properties.Check(l, j, properties.LeakyBuckets(j, *m.LeakyBucket))
		case m.Quota != nil:
			j := conformance.JudgeQuota(t, *m.Quota)
			properties.Check(l, j, properties.Quotas(j, *m.Quota))
		default:
			j := conformance.JudgeClock(t, *m.Clock)
			properties.Check(l, j, properties.Clocks(j))
		}
	}()
	<-done
	if !l.failed {
		return "", "", ""
	}
	out, better, _ := strings.Cut(l.log.String(), "a smaller schedule breaks the rule as well:")
	if found := regexp.MustCompile(`(?m)^\s*([A-Z]+-[A-Z0-9]+): `).FindStringSubmatch(out); found != nil {
		rule = found[1]
	}
	replay := regexp.MustCompile(`ESCAPEMENT_SCHEDULE='([^']*)' go test`)
	for _, found := range replay.FindAllStringSubmatch(out, -1) {
		byRapid = found[1]
	}
	smallest = byRapid
	if found := replay.FindStringSubmatch(better); found != nil {
		smallest = found[1]
	}
	return rule, byRapid, smallest
}

// Which of the suite's mutants properties find too, and how small what they come to
// is; -v prints the table. With ESCAPEMENT_PROVE=all it is all of them, in minutes.
func TestMutants_byProperties(t *testing.T) {
	synctestcompat.Require(t)
	prove.Require(t, prove.Suite)
	for name, value := range map[string]string{"rapid.seed": "1", "rapid.checks": "3000", "rapid.nofailfile": "true", "rapid.shrinktime": "1h"} {
		f := flag.Lookup(name)
		before := f.Value.String()
		if err := f.Value.Set(value); err != nil {
			t.Fatal(err)
		}
		defer f.Value.Set(before)
	}
	steps := func(text string) int {
		s, err := conformance.ParseSchedule(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		return len(s.Steps)
	}
	var table strings.Builder
	found, alike, same := 0, 0, 0
	full := prove.Reaches(prove.All)
	fmt.Fprintf(&table, "%-44s %-13s %-13s %-8s %-6s %s\n", "mutant", "conformance", "properties", "explorer", "rapid", "Smallest")
	for i, m := range conformance.ZooMutants(t) {
		if !full && (i%48 != 0 || m.Clock != nil) {
			continue
		}
		if m.Rule == "X-REENT" || m.Rule == "CK-REENT" || strings.Contains(m.Name, "keeps a lock") {
			continue // it hangs until the watchdog looks
		}
		rule, byRapid, smallest := check(t, m)
		why := cmp.Or(notDrawn[m.Rule+" "+m.Name], notDrawn[m.Rule])
		switch {
		case rule == "" && why == "":
			t.Errorf("%s (%s) is not found", m.Name, m.Rule)
		case rule != "" && why != "":
			t.Errorf("%s is found (%s), although it is listed: %s", m.Name, rule, why)
		}
		if rule == "" {
			fmt.Fprintf(&table, "%-44s %-13s %-13s %s\n", m.Name, m.Rule, "-", why)
			continue
		}
		found++
		explorer := "-"
		if m.Smallest != "" && rule == m.Rule {
			explorer = fmt.Sprint(steps(m.Smallest))
			alike++
			if steps(smallest) == steps(m.Smallest) {
				same++
			}
		}
		fmt.Fprintf(&table, "%-44s %-13s %-13s %-8s %-6d %d", m.Name, m.Rule, rule, explorer, steps(byRapid), steps(smallest))
		if explorer != "-" && smallest != m.Smallest {
			fmt.Fprintf(&table, "  %s | explorer: %s", smallest, m.Smallest)
		}
		fmt.Fprintln(&table)
	}
	summary := fmt.Sprintf("%d found; %d by the rule that is made for them, of which %d came to as few steps as the explorer", found, alike, same)
	t.Log("\n" + table.String() + summary)
	if full && flag.Lookup("update").Value.String() == "true" {
		text := "<!-- Made by: ESCAPEMENT_PROVE=all go test ./conformance -run '^TestMutants_byProperties$' -update -->\n\n" + mutantsHead +
			"```\n" + table.String() + "```\n\n" + summary + ".\n"
		if err := os.WriteFile(filepath.Join("..", "properties", "MUTANTS.md"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// The windows of a second run begin where those of the first do, also when they are longer
// than an hour.
func TestJudgeQuota_longWindows(t *testing.T) {
	synctestcompat.Require(t)
	j := conformance.JudgeQuota(t, bundled.Quota(conformance.FixedWindow, conformance.PackageTime))
	s, err := conformance.ParseSchedule("rate=4/24h | allow 2 @0 | tokens @0 | allow 3 @12h")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range j.Run(s) {
		t.Error(v.Text)
	}
}

// After Stop nothing is expected, on whatever edge and within whatever bound.
func TestJudgeDebouncer_afterStop(t *testing.T) {
	j := conformance.JudgeDebouncer(t, bundled.Debouncer(conformance.Injected))
	for _, text := range []string{
		"wait=100ms maxwait=250ms | call 1 @0 | stop @0",
		"wait=100ms edges=both | call 1 @0 | call 2 @1ms | stop @2ms | call 3 @1s",
		"wait=100ms edges=leading | call 1 @0 | stop @1ms | call 2 @1s",
	} {
		s, err := conformance.ParseSchedule(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range j.Run(s) {
			t.Error(v.Text)
		}
	}
}

// Correct implementations of other designs keep their rules on random schedules too: half of
// them, or with ESCAPEMENT_PROVE=all each.
func TestHonest_byProperties(t *testing.T) {
	synctestcompat.Require(t)
	prove.Require(t, prove.Suite)
	for i, m := range conformance.ZooHonest() {
		if !prove.Reaches(prove.All) && (i%2 == 1 || testing.Short() && i%4 == 2) {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			switch {
			case m.Debouncer != nil:
				properties.CheckDebouncer(t, *m.Debouncer)
			case m.Throttle != nil:
				properties.CheckThrottle(t, *m.Throttle)
			case m.Limiter != nil:
				properties.CheckLimiter(t, *m.Limiter)
			case m.Concurrency != nil:
				properties.CheckConcurrency(t, *m.Concurrency)
			case m.LeakyBucket != nil:
				properties.CheckLeakyBucket(t, *m.LeakyBucket)
			default:
				properties.CheckQuota(t, *m.Quota)
			}
		})
	}
}

// They keep the laws of two runs as well. A third of them is asked, or with ESCAPEMENT_PROVE=all each.
func TestHonest_laws(t *testing.T) {
	synctestcompat.Require(t)
	prove.Require(t, prove.Suite)
	for i, m := range conformance.ZooHonest() {
		if !prove.Reaches(prove.All) && (i%3 != 0 || testing.Short() && i%9 != 0) {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			switch {
			case m.Debouncer != nil:
				properties.LawsDebouncer(t, *m.Debouncer)
			case m.Throttle != nil:
				properties.LawsThrottle(t, *m.Throttle)
			case m.Limiter != nil:
				properties.LawsLimiter(t, *m.Limiter)
			case m.Concurrency != nil:
				properties.LawsConcurrency(t, *m.Concurrency)
			case m.LeakyBucket != nil:
				properties.LawsLeakyBucket(t, *m.LeakyBucket)
			default:
				properties.LawsQuota(t, *m.Quota)
			}
		})
	}
}

// mutantsHead explains the table.
const mutantsHead = `# What finds which mutant

Every rule of the suite has a mutant that is one statement away from a correct implementation. The suite finds each of
them by the rule in the second column (TestMutants shows it). Below is what 3000 random schedules find, from one fixed
seed: the rule that broke first, the number of steps in the suite's smallest schedule ("-" if another rule broke), in
what rapid made of the drawn one, and in what is left after Smallest; where the two differ, both are shown.

The laws of two runs have mutants of their own, in laws_test.go. What only the suite finds shows when goroutines call at
once or in what package time leaves open; the table says so. Mutants of X-REENT and CK-REENT hang until a watchdog
looks, and are left out. Nothing in this zoo is found by properties only, because the zoo was made for the suite; what
properties found in honest code was in histories of five steps and more.

`
