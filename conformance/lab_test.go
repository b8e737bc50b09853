package conformance

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/escapement-go/escapement/synctestcompat"
)

// Parallel tests take turns: whoever uses the implementation has the process for itself.
func TestParallel_takesTurns(t *testing.T) {
	const text = "rate=10/1s burst=1 | allow 1 @0"
	t.Setenv("ESCAPEMENT_SCHEDULE", text) // of RunLimiter
	s, err := ParseSchedule(text)
	if err != nil {
		t.Fatal(err)
	}
	used, shared := 0, 0
	spec := zooLimiterSpec("", Explicit)
	fresh := spec.New
	spec.New = func(env Env, cfg LimiterConfig) LimiterFuncs {
		used++
		if alone.TryLock() {
			alone.Unlock()
			shared++
		}
		return fresh(env, cfg)
	}
	for name, run := range map[string]func(t *testing.T){
		"RunLimiter":   func(t *testing.T) { RunLimiter(t, spec) },
		"JudgeLimiter": func(t *testing.T) { JudgeLimiter(t, spec) },
		"Judge.Run":    func(t *testing.T) { JudgeLimiter(t, spec).Run(s) },
		"Judge.Trace":  func(t *testing.T) { JudgeLimiter(t, spec).Trace(s) },
	} {
		used, shared = 0, 0
		t.Run(name, run)
		if used == 0 || shared > 0 {
			t.Errorf("%s used the implementation %d times, %d of them while another test could have", name, used, shared)
		}
	}
}

// After a crash ESCAPEMENT_LAST holds the schedule that was under way.
func TestLast_isKnownAfterACrash(t *testing.T) {
	last := filepath.Join(t.TempDir(), "last")
	t.Setenv("ESCAPEMENT_LAST", last)
	j := JudgeDebouncer(t, zooDebouncerSpec("", Injected))
	want, err := ParseSchedule("wait=100ms | call 1 @0 | call 2 @50ms")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range j.Run(want) {
		t.Error(v.Text)
	}
	got, err := os.ReadFile(last)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want.String()+"\n" {
		t.Errorf("%s holds %q, want %q", last, got, want)
	}
}

// turnstile hands out turns by a lock that a timer gives back.
func turnstile(env Env, cfg LimiterConfig) LimiterFuncs {
	var mu sync.Mutex
	return LimiterFuncs{Wait: func(int) {
		mu.Lock()
		env.Clock.AfterFunc(cfg.Rate.Interval(), mu.Unlock)
	}}
}

// Who waits for a lock waits for ever only if nobody can give it back, and a timer can.
func TestLostLock_timersGiveBack(t *testing.T) {
	spec := zooLimiterSpec("", Injected)
	spec.New, spec.Traits.Single = turnstile, true
	s, err := ParseSchedule("rate=10/1s burst=1 | wait 1 @0 | wait 1 @0")
	if err != nil {
		t.Fatal(err)
	}
	j := JudgeLimiter(t, spec)
	j.c.lab.first = soon
	for _, v := range j.Run(s) {
		t.Error(v.Text)
	}
	if synctestcompat.Available && len(j.c.stalls) == 0 {
		t.Error("the run ended, which is none that hangs")
	}
}

// soon is when runs that hang are first looked at in tests.
const soon = time.Millisecond

// However soon the lab looks, a run is not stuck while somebody outside its bubble runs who
// holds the lock that it waits for: on a busy machine that takes any time.
func TestLab_slowIsNotStuck(t *testing.T) {
	synctestcompat.Require(t)
	var mu sync.Mutex
	mu.Lock()
	asked := make(chan struct{})
	go func() { // outside
		<-asked
		for range 100 { // looks
			for now := time.Now(); time.Since(now) < soon; {
			}
		}
		mu.Unlock()
	}()
	l := &lab{t: t, time: Injected, bubble: true, first: soon, play: func(driver, job, *recorder) {
		close(asked)
		mu.Lock()
	}}
	if h := l.once(); h != nil {
		t.Errorf("given up, although the lock is given back:\n%s", h.stacks)
	}
}
