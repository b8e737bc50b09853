package properties

import (
	"flag"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/escapement-go/escapement/synctestcompat/rapidbubble"
)

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

// listen runs a check and returns what it logged, with a fixed seed, no fail file, and as
// much time to shrink as it takes on a busy machine.
func listen(t *testing.T, check func(l *listener)) *listener {
	t.Helper()
	set(t, "rapid.seed", "1")
	set(t, "rapid.nofailfile", "true")
	set(t, "rapid.shrinktime", "1h")
	l := &listener{TB: t}
	done := make(chan bool)
	go func() {
		defer close(done)
		check(l)
	}()
	<-done
	return l
}

// set gives a flag another value until the test ends.
func set(t *testing.T, name, value string) {
	t.Helper()
	f := flag.Lookup(name)
	before := f.Value.String()
	if err := f.Value.Set(value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(before) })
}

// says fails the test unless the check failed and said so.
func says(t *testing.T, l *listener, want ...string) {
	t.Helper()
	for _, w := range want {
		if !l.failed || !strings.Contains(l.log.String(), w) {
			t.Errorf("failed = %v and the log does not say %q:\n%s", l.failed, w, l.log.String())
		}
	}
}

// A failure prints the drawn schedule, the rule and the line that replays it.
func TestCheck_failure(t *testing.T) {
	synctestcompat.Require(t)
	spec := toySpec("later bursts wait longer")
	j := spec.Judge(t)
	l := listen(t, func(l *listener) { CheckWith(l, j, Schedules(j)) })
	says(t, l,
		"draw schedule: wait=100ms | call 1 @0 | call 2 @100ms\n",
		"DB-EXACT: fired at 200.000001ms, want it at 200ms",
		"replay: ESCAPEMENT_SCHEDULE='wait=100ms | call 1 @0 | call 2 @100ms' go test -run '^TestCheck_failure$' "+
			"github.com/escapement-go/escapement/properties\n")
}

// With ESCAPEMENT_SCHEDULE that schedule runs, and no other.
func TestCheck_replaysASchedule(t *testing.T) {
	for schedule, fails := range map[string]bool{
		"wait=100ms | call 1 @0":                 false,
		"wait=100ms | call 1 @0 | call 2 @200ms": true,
	} {
		t.Setenv("ESCAPEMENT_SCHEDULE", schedule)
		spec := toySpec("later bursts wait longer")
		j := spec.Judge(t)
		l := listen(t, func(l *listener) {
			CheckWith(l, j, rapid.Custom(func(*rapid.T) conformance.Schedule {
				t.Error("a schedule was drawn")
				return conformance.Schedule{}
			}))
		})
		if l.failed != fails {
			t.Errorf("%s: failed = %v, want %v:\n%s", schedule, l.failed, fails, l.log.String())
		}
	}
}

// What is known to fail does not fail the check, and what is undeclared is not judged.
func TestCheck_honoursTheSpec(t *testing.T) {
	spec := toySpec("later bursts wait longer")
	for _, rule := range []string{"DB-EXACT", "DB-LIVE"} {
		spec.KnownFailing = append(spec.KnownFailing, debouncertest.Known{Rule: rule, Why: "the mutant of a test"})
	}
	Check(t, spec)
	first := toySpec("")
	first.Traits.Payload = 0
	Check(t, first)
}

// The machine finds what is granted for less, and prints the history.
func TestMachineLimiter_findsAMutant(t *testing.T) {
	synctestcompat.Require(t)
	l := listen(t, func(l *listener) { rapidbubble.Check(l, machineOf(bucketSpec("a discount for many"))) })
	says(t, l, "tokens are granted at", " | allow 1 @0 | allow 2 @0")
}

// The machine does not accuse who counts in whole nanoseconds, who refuses to count so finely, nor
// who declares to be less exact than its bucket.
func TestMachineLimiter_accusesNobody(t *testing.T) {
	synctestcompat.Require(t)
	set(t, "rapid.checks", "300")
	t.Run("whole nanoseconds", func(t *testing.T) { MachineLimiter(t, nanosecondSpec()) })
	for _, why := range []struct {
		trait   string
		declare func(tr *limitertest.Traits)
	}{
		{"RefillSize", func(tr *limitertest.Traits) { tr.RefillSize = 1 }},
		{"Resolution", func(tr *limitertest.Traits) { tr.Resolution = time.Millisecond }},
		{"Precision", func(tr *limitertest.Traits) { tr.Precision = limitertest.PrecisionFloat32 }},
		{"Latency", func(tr *limitertest.Traits) { tr.Latency = time.Millisecond }},
		{"Overdraft", func(tr *limitertest.Traits) { tr.Overdraft = true }},
	} {
		spec := bucketSpec("a discount for many")
		why.declare(&spec.Traits)
		skipped := false
		t.Run(why.trait, func(t *testing.T) {
			defer func() { skipped = t.Skipped() }()
			MachineLimiter(t, spec)
		})
		if !skipped {
			t.Errorf("%s: want it to be skipped", why.trait)
		}
	}
}
