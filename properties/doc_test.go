package properties

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/clocktest"
	"github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/internal/verb"
	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Schedules meets what its comment lists: bursts, long idles, deadlines, and one nanosecond
// either side of them.
func TestSchedules_meets(t *testing.T) {
	synctestcompat.Require(t)
	const wait = 100 * time.Millisecond // where a schedule of the toy does not say another
	schedules := Schedules(toySpec("").Judge(t))
	met := map[string]int{"burst": 0, "idle": 0, "before": 0, "at": 0, "after": 0}
	for seed := range 300 {
		s := schedules.Example(seed)
		for i := 1; i < len(s.Steps); i++ {
			gap := s.Steps[i].At - s.Steps[i-1].At
			for what, is := range map[string]bool{
				"burst": gap > 0 && gap < wait/2, "idle": gap > time.Minute || s.Steps[i].Op == verb.Idle,
				"before": gap == wait-1, "at": gap == wait, "after": gap == wait+1,
			} {
				if is {
					met[what]++
				}
			}
		}
	}
	for what, n := range met {
		if n == 0 {
			t.Errorf("of 300 schedules none meets: %s (%v)", what, met)
		}
	}
}

// A corpus is readable schedules that fit, and of what does not fit nothing is run.
func TestFuzz_corpus(t *testing.T) {
	synctestcompat.Require(t)
	spec := toySpec("")
	j := spec.Judge(t)
	entries := corpus(spec)
	if len(entries) != seeds {
		t.Errorf("%d entries, want %d", len(entries), seeds)
	}
	for _, want := range entries {
		got, err := conformance.ParseSchedule(want.String())
		if err != nil || got.String() != want.String() || !j.Fits(got) {
			t.Errorf("%s: read back as %s, %v", want, got, err)
		}
	}
	for _, text := range []string{"rate=10/1s burst=3 | allow 1 @0", "wait=100ms | allow 1 @0"} {
		if s, err := conformance.ParseSchedule(text); err == nil && j.Fits(s) {
			t.Errorf("a debouncer fits %s", text)
		}
	}
}

// Bytes choose a schedule: of a right implementation nothing is said, whatever they are; of one with a mistake some of
// them end in a panic that says what is wrong and how to run it again.
func TestFuzzBytes(t *testing.T) {
	synctestcompat.Require(t)
	random := rand.New(rand.NewPCG(1, 2))
	right, wrong := FuzzBytes(toySpec("")), FuzzBytes(toySpec("rounds the deadline"))
	said := ""
	for range 200 {
		data := make([]byte, random.IntN(100))
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		right(data)
		func() {
			defer func() {
				if r := recover(); r != nil {
					said = r.(string)
				}
			}()
			wrong(data)
		}()
	}
	if !strings.Contains(said, "DB-") || !strings.Contains(said, "ESCAPEMENT_SCHEDULE=") {
		t.Errorf("of a mistake it says %q", said)
	}
	spec := toySpec("")
	spec.Time = 0
	defer func() {
		if r := recover(); r == nil || !strings.Contains(r.(string), "properties: FuzzBytes: ") {
			t.Errorf("of a spec without Time it says %v", r)
		}
	}()
	FuzzBytes(spec)
}

// What does not apply skips the test, and says so.
func TestPackageComment_skips(t *testing.T) {
	synctestcompat.Require(t)
	clock := clocktest.Spec{
		Name:   "a clock",
		New:    func(clocktest.Env) clocktest.Funcs { return clocktest.Of(fakeclock.New()) },
		Traits: clocktest.Traits{Waits: clocktest.WaitsForFunctions},
	}
	waits := bucketSpec("")
	waits.Time = limitertest.Injected
	waits.New = func(env limitertest.Env, cfg limitertest.Config) limitertest.Funcs {
		l := limiters.NewTokenBucket(limiters.Limit(cfg.Rate.PerSecond()), cfg.Burst, limiters.WithClock(env.Clock))
		return limitertest.Funcs{WaitN: l.WaitN}
	}
	for name, check := range map[string]func(t *testing.T){
		"Laws of a clock":                  func(t *testing.T) { Laws(t, clock) },
		"MachineLimiter without any Allow": func(t *testing.T) { MachineLimiter(t, waits) },
	} {
		skipped := false
		t.Run(name, func(t *testing.T) {
			defer func() { skipped = t.Skipped() }()
			check(t)
		})
		if !skipped {
			t.Errorf("%s does not skip the test", name)
		}
	}
}
