package limitertest_test

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/proof"
	lt "github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/internal/goroutine"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/escapement-go/escapement/internal/zoo/limiter"
	"github.com/escapement-go/escapement/synctestcompat"
)

func TestMutants(t *testing.T) { proof.Mutants(t, lt.Rules(), limiter.Mutants()) }

func TestMutants_inFull(t *testing.T) { proof.InFull(t, limiter.Mutants()) }

func TestMutants_thatHang(t *testing.T) { proof.Hangs(t, limiter.Mutants()) }

func TestMutants_thatRace(t *testing.T) { proof.Races(t, limiter.Mutants()) }

// Only X-CONC asks for a reservation while another goroutine cancels it.
func TestRaces_elsewhere(t *testing.T) {
	all := limiter.Designs()
	i := slices.IndexFunc(all, func(d zoo.Design) bool { return d.Name == "zoo: bucket in debt PackageTime" })
	spec := all[i].Spec.(lt.Spec)
	made := spec.New
	spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
		f := made(env, cfg)
		reserve := f.Reserve
		f.Reserve = func(n int) lt.Reservation {
			r, cancelled := reserve(n), false
			if cancel := r.Cancel; cancel != nil {
				r.OK = func() bool { return !cancelled }
				r.Cancel = func() { cancelled = true; cancel() }
			}
			return r
		}
		return f
	}
	proof.RacesElsewhere(t, spec)
}

func TestMutants_reported(t *testing.T) { proof.Reported(t, limiter.Mutants()) }

// A choice that is left out excuses nothing.
func TestLeftOut(t *testing.T) { proof.LeftOut(t, limiter.Designs()) }

func TestDesigns_together(t *testing.T) {
	proof.Together(t, slices.Concat(limiter.Designs(), limiter.Chosen(4), limiter.ChosenWaits(4)))
}

func TestDesigns_chosen(t *testing.T) { proof.Chosen(t, limiter.Chosen) }

func TestDesigns_chosenWaits(t *testing.T) { proof.Chosen(t, limiter.ChosenWaits) }

// runaway is a limiter with a clock of its own, which runs on by a microsecond each time that
// anybody looks, as that of the runtime does while package time stands still.
func runaway(_ lt.Env, cfg lt.Config) lt.Funcs {
	var now, full time.Duration
	full -= time.Hour
	allow := func(n int) bool {
		now += time.Microsecond
		next := max(full, now) + time.Duration(n)*cfg.Rate.Interval()
		if n > 0 && next <= now+time.Duration(cfg.Burst)*cfg.Rate.Interval() {
			full = next
			return true
		}
		return false
	}
	return lt.Funcs{AllowN: allow, AllowAt: func(_ time.Time, n int) bool { return allow(n) }}
}

// CANARY names a limiter whose time runs on while all clocks of the suite stand still, and no
// other rule accuses it.
func TestCanary_runsOn(t *testing.T) {
	synctestcompat.Require(t)
	for _, source := range []lt.TimeSource{lt.Injected, lt.PackageTime, lt.Explicit} {
		spec := lt.Spec{Name: "runaway", Time: source, New: runaway, Traits: lt.XTimeRate()}
		for _, v := range spec.Examine(t, inside.Options{}).Verdicts {
			switch {
			case v.Rule == "CANARY" && !strings.Contains(v.Text, "while time stood still"):
				t.Errorf("%s: CANARY is %s: %s", source, v.Status, v.Text)
			case v.Rule != "CANARY" && v.Status == conformance.Fail:
				t.Errorf("%s: %s: %s", source, v.Rule, v.Text)
			}
		}
	}
}

// CANARY names one whose denied requests bring tokens, and the rules judge it all the same.
func TestCanary_gives(t *testing.T) {
	synctestcompat.Require(t)
	r := named(t, "denied requests bring tokens").Spec.Examine(t, inside.Options{Most: 100, Unprobed: true})
	for id, want := range map[string]string{"CANARY": "denied requests bring", "RL-ENV": "were granted at 0"} {
		if v, _ := r.Verdict(id); v.Status != conformance.Fail || !strings.Contains(v.Text, want) {
			t.Errorf("%s is %s: %s", id, v.Status, v.Text)
		}
	}
}

// debts lists when each token that is missing comes back, and forgets those that are back: an
// earlier instant, where nothing is forgotten yet, is not taken for the newest.
func debts(_ lt.Env, cfg lt.Config) lt.Funcs {
	var mu sync.Mutex
	var due []time.Time
	return lt.Funcs{AllowAt: func(t time.Time, n int) bool {
		mu.Lock()
		defer mu.Unlock()
		for len(due) > 0 && !due[0].After(t) {
			due = due[1:]
		}
		if n < 0 || len(due)+n > cfg.Burst {
			return false
		}
		for range n {
			from := t
			if len(due) > 0 {
				from = due[len(due)-1]
			}
			due = append(due, from.Add(cfg.Rate.Interval()))
		}
		return true
	}}
}

// gcra are the traits of a limiter that keeps nothing but when the next token comes.
var gcra = lt.Traits{
	Initial: lt.InitialFull, Oversize: lt.OversizeRejected, ZeroRate: lt.ZeroRateRefused, Inf: lt.InfAbsent,
}

// What comes back at a later instant, and is taken at an earlier one again and again, is not
// within the envelope, though only one that asks for nothing ever asks at the later one.
func TestRun_takenEarlier(t *testing.T) {
	synctestcompat.Require(t)
	tr := gcra
	tr.BackTime = lt.BackClamp
	o := inside.Options{Until: "RL-PAST", Keep: func(family string, _ int) bool { return family == "back in time" }}
	r := lt.Spec{Name: "debts", Time: lt.Explicit, New: debts, Traits: tr}.Examine(t, o)
	if v, _ := r.Verdict("RL-PAST"); v.Status != conformance.Fail {
		t.Errorf("RL-PAST is %s, want fail", v.Status)
	}
}

// stuckAfterYears never answers again once it is 30 years old.
func stuckAfterYears(env lt.Env, cfg lt.Config) lt.Funcs {
	inner := debts(env, cfg).AllowAt
	return lt.Funcs{AllowAt: func(t time.Time, n int) bool {
		if t.Sub(env.Start) > 30*365*24*time.Hour {
			select {}
		}
		return inner(t, n)
	}}
}

// A run that a rule makes for itself, and that makes no progress, does not show that the rule
// holds.
func TestExamine_stuckAfterYears(t *testing.T) {
	synctestcompat.Require(t)
	spec := lt.Spec{Name: "stuck after years", Time: lt.Explicit, New: stuckAfterYears, Traits: gcra}
	o := inside.Options{FirstLook: time.Millisecond, Keep: func(string, int) bool { return false }}
	if v, _ := spec.Examine(t, o).Verdict("RL-IDLE"); v.Status != conformance.Inconclusive {
		t.Errorf("RL-IDLE is %s, want inconclusive: %s", v.Status, v.Reason)
	}
}

// forgetful has two ways to ask for one token, of which one denies what nobody asked for by the
// other in the last five years.
func forgetful(env lt.Env, cfg lt.Config) lt.Funcs {
	var mu sync.Mutex
	asked, inner := env.Start, debts(env, cfg).AllowAt
	return lt.Funcs{
		AllowN: func(n int) bool {
			mu.Lock()
			defer mu.Unlock()
			asked = env.Clock.Now()
			return inner(asked, n)
		},
		Allow: func() bool {
			mu.Lock()
			defer mu.Unlock()
			now := env.Clock.Now()
			return now.Sub(asked) < 5*365*24*time.Hour && inner(now, 1)
		},
	}
}

// After a long time each operation is the first to ask.
func TestRun_firstAfterYears(t *testing.T) {
	synctestcompat.Require(t)
	spec := lt.Spec{Name: "forgetful", Time: lt.Injected, New: forgetful, Traits: gcra}
	o := inside.Options{Keep: func(string, int) bool { return false }}
	if v, _ := spec.Examine(t, o).Verdict("RL-IDLE"); v.Status != conformance.Fail {
		t.Errorf("RL-IDLE is %s, want fail: %s", v.Status, v.Reason)
	}
}

// TRAITS names the package that judges limiters that count in windows.
func TestTraits_inWindows(t *testing.T) {
	synctestcompat.Require(t)
	sources := []lt.TimeSource{lt.Explicit, lt.Injected, lt.PackageTime}
	for _, source := range sources[:prove.Number(1, 1, 3, 3)] {
		spec := lt.Spec{Name: "fixed window", Time: source, New: func(env lt.Env, cfg lt.Config) lt.Funcs {
			var began time.Time
			left := 0
			allow := func(t time.Time, n int) bool {
				if length := time.Duration(cfg.Burst) * cfg.Rate.Interval(); t.Sub(began) >= length {
					began, left = t.Truncate(length), cfg.Burst
				}
				if n < 0 || n > left {
					return false
				}
				left -= n
				return true
			}
			return lt.Funcs{AllowAt: allow, AllowN: func(n int) bool { return allow(env.Clock.Now(), n) }}
		}}
		if v, _ := spec.Examine(t, inside.Options{}).Verdict("TRAITS"); !strings.Contains(v.Text, "package quotatest") {
			t.Errorf("%s: TRAITS is %s: %s", source, v.Status, v.Text)
		}
	}
}

// Every rule that fails because of a declaration that does not fit names the one that
// does.
func TestHint(t *testing.T) {
	late := lt.XTimeRate()
	late.LateCancel = lt.LateRefunds
	spec := limiter.Choosing(late, lt.Explicit)
	spec.Traits = lt.XTimeRate()
	short := func(family string, steps int) bool { return family == "reservations" && steps <= 5 }
	failed := 0
	for _, v := range spec.Examine(t, inside.Options{Keep: short}).Verdicts {
		if v.Status != conformance.Fail {
			continue
		}
		if failed++; !strings.Contains(v.Text, "declare LateCancel: LateRefunds") {
			t.Errorf("want the text to lead to LateRefunds:\n%s", v.Text)
		}
	}
	if failed == 0 {
		t.Error("nothing failed where LateRefunds would fit")
	}
}

// turnstile hands out turns by a lock that a timer gives back.
func turnstile(env lt.Env, cfg lt.Config) lt.Funcs {
	var mu sync.Mutex
	return lt.Funcs{Wait: func(int) {
		mu.Lock()
		env.Clock.AfterFunc(cfg.Rate.Interval(), mu.Unlock)
	}}
}

// Who waits for a lock waits for ever only if nobody can give it back, and a timer can.
func TestExamine_lockThatATimerGivesBack(t *testing.T) {
	synctestcompat.Require(t)
	t.Setenv("ESCAPEMENT_SCHEDULE", "rate=10/1s burst=1 | wait 1 @0 | wait 1 @0")
	spec := lt.Spec{Name: "turnstile", Time: lt.Injected, New: turnstile, Traits: lt.UberRatelimit()}
	inconclusive := 0
	for _, v := range spec.Examine(t, inside.Options{FirstLook: time.Millisecond}).Verdicts {
		switch v.Status {
		case conformance.Fail:
			t.Error(v.Text)
		case conformance.Inconclusive:
			inconclusive++
		}
	}
	if inconclusive == 0 {
		t.Error("the run ended, which is none that hangs")
	}
}

// ticked is a bucket that a ticker fills each 10ms.
func ticked(env lt.Env, cfg lt.Config) lt.Funcs {
	const tick = 10 * time.Millisecond
	var mu sync.Mutex
	tokens, most := float64(cfg.Burst), float64(cfg.Burst)
	ticker, stop := env.Clock.NewTicker(tick), make(chan struct{})
	go func() {
		defer ticker.Stop()
		for {
			select {
			case <-ticker.Chan():
				mu.Lock()
				tokens = min(most, tokens+cfg.Rate.PerSecond()*tick.Seconds())
				mu.Unlock()
			case <-stop:
				return
			}
		}
	}()
	return lt.Funcs{
		Allow: func() bool {
			mu.Lock()
			defer mu.Unlock()
			ok := tokens > 1-1e-9
			if ok {
				tokens--
			}
			return ok
		},
		Stop: func() { close(stop) },
	}
}

// What is granted after so many ticks that time stands still in a run is held against nobody.
func TestRun_fastTicker(t *testing.T) {
	synctestcompat.Require(t)
	spec := lt.Spec{Name: "ticked", Time: lt.Injected, New: ticked, Traits: lt.Traits{Initial: lt.InitialFull,
		ZeroRate: lt.ZeroRateBurst, Inf: lt.InfAbsent, BackTime: lt.BackClamp, Resolution: 10 * time.Millisecond}}
	o := inside.Options{Keep: func(string, int) bool { return false }}
	for _, v := range spec.Examine(t, o).Verdicts {
		switch {
		case v.Status == conformance.Fail:
			t.Error(v.Text)
		case v.Rule == "RL-DRIFT" && v.Status != conformance.Pass:
			t.Errorf("%s is %s: %s", v.Rule, v.Status, v.Reason)
		}
	}
}

// A limiter is not accused for what it cannot do, nor one that grants single tokens only.
func TestSubsets(t *testing.T) {
	var all []zoo.Design
	for _, d := range limiter.Designs() {
		if strings.Contains(d.Name, "in debt") {
			all = append(all, d)
		}
	}
	if prove.Reaches(prove.Suite) {
		proof.Subsets(t, slices.Clone(all))
	}
	for i := range all {
		spec := all[i].Spec.(lt.Spec)
		inner := spec.New
		spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
			f := inner(env, cfg)
			single(&f)
			return f
		}
		spec.Traits.OneAtATime = true
		all[i].Spec = spec
	}
	proof.Subsets(t, all)
}

// single makes a limiter panic that is asked for anything but one token.
func single(f *lt.Funcs) {
	one := func(n int) {
		if n != 1 {
			panic("one token at a time")
		}
	}
	if allow := f.AllowN; allow != nil {
		f.AllowN = func(n int) bool { one(n); return allow(n) }
	}
	if allow := f.AllowAt; allow != nil {
		f.AllowAt = func(at time.Time, n int) bool { one(n); return allow(at, n) }
	}
	if wait := f.WaitN; wait != nil {
		f.WaitN = func(ctx context.Context, n int) error { one(n); return wait(ctx, n) }
	}
	if reserve := f.Reserve; reserve != nil {
		f.Reserve = func(n int) lt.Reservation { one(n); return reserve(n) }
	}
	if reserve := f.ReserveAt; reserve != nil {
		f.ReserveAt = func(at time.Time, n int) lt.Reservation { one(n); return reserve(at, n) }
	}
}

// What one goroutine gets as well is no matter of concurrent use, and X-CONC says so.
func TestMutants_notConcurrent(t *testing.T) {
	synctestcompat.Require(t)
	spec := limiter.Choosing(lt.XTimeRate(), lt.Explicit)
	build := spec.New
	spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
		f := build(env, cfg)
		allow := f.AllowAt
		var last time.Time
		var mu sync.Mutex
		f.AllowAt = func(t time.Time, n int) bool { // one at an instant
			mu.Lock()
			defer mu.Unlock()
			if t.Equal(last) {
				return false
			}
			last = t
			return allow(t, n)
		}
		return f
	}
	o := inside.Options{Until: "X-CONC", Keep: func(string, int) bool { return false }}
	v, _ := spec.Examine(t, o).Verdict("X-CONC")
	if v.Status != conformance.Fail || !strings.Contains(v.Text, "concurrent use is not the cause") {
		t.Errorf("X-CONC is %s, want it to say that concurrent use is not the cause:\n%s", v.Status, v.Text)
	}
}

// What is held too much is told by the rule about that, not by those about whatever is granted.
func TestMutants_tooMuchIsHeld(t *testing.T) {
	short := func(_ string, steps int) bool { return steps <= 2 }
	o := inside.Options{Keep: short, Unprobed: true}
	r := named(t, "so many per second: bucket without a bound").Spec.Examine(t, o)
	if len(r.Causes) == 0 || r.Causes[0].Rules[0] != "RL-CAP" || !slices.Contains(r.Causes[0].Rules, "RL-ENV") {
		t.Errorf("the causes are %v, want RL-CAP before RL-ENV", r.Causes)
	}
}

// spinning reports whether a wait that spins runs, or would if there were a processor.
func spinning() bool {
	return slices.ContainsFunc(goroutine.Stacks(), func(stack string) bool {
		header, calls, _ := strings.Cut(stack, "\n")
		return strings.Contains(calls, "limiter.spinsSpec") && strings.Contains(header, "[run")
	})
}

// named returns a mutant.
func named(t *testing.T, name string) zoo.Mutant {
	t.Helper()
	all := limiter.Mutants()
	i := slices.IndexFunc(all, func(m zoo.Mutant) bool { return m.Name == name })
	if i < 0 {
		t.Fatalf("there is no mutant %q", name)
	}
	return all[i]
}

// Who holds a lock while it sleeps is told what to declare, and is judged then.
func TestUnfinished_asleepWithALock(t *testing.T) {
	prove.Require(t, prove.Suite)
	proof.Asleep(t, limiter.UndeclaredAsleep)
}

// The rest leaves goroutines, of which each makes every later look at the stacks slower.

// A wait that spins in some schedules leaves the others to be judged.
func TestMutants_oneThatSpins(t *testing.T) {
	synctestcompat.Require(t)
	prove.Require(t, prove.Suite)
	spec := named(t, "spins while less than a microsecond is missing").Spec
	r := spec.Examine(t, inside.Options{FirstLook: time.Millisecond, Most: 300, Unprobed: true})
	if n := r.Count(conformance.Inconclusive); n == 0 {
		t.Errorf("no rule is inconclusive, so that no wait has spun: %s", r)
	}
	for _, id := range []string{"W-PRE", "W-DEAD", "W-CANCEL"} {
		if v, _ := r.Verdict(id); v.Status != conformance.Fail {
			t.Errorf("%s is %s: %s", id, v.Status, v.Reason)
		}
	}
	if r.Runs < r.Schedules/2 {
		t.Errorf("most schedules were not run: %s", r)
	}
	for range 1000 {
		if !spinning() {
			return
		}
		runtime.Gosched()
	}
	t.Error("a wait of a run that was given up goes on spinning")
}

func TestDesigns(t *testing.T) { proof.Designs(t, limiter.Designs()) }

// TRAITS prints that somebody holds a lock while it sleeps, and leaves OnChange open, which only two who
// wait show.
func TestTraits_asleep(t *testing.T) {
	synctestcompat.Require(t)
	for _, source := range []conformance.TimeSource{conformance.Injected, conformance.PackageTime} {
		spec := limiter.UndeclaredAsleep(source)
		spec.Traits = lt.Traits{}
		got := map[string]int{}
		none := func(string, int) bool { return false }
		o := inside.Options{FirstLook: time.Millisecond, Keep: none, Unprobed: true}
		o.Settled = func(c inside.Choice) {
			got[c.Name] = c.Value
		}
		spec.Examine(t, o)
		for choice, want := range map[string]int{"HoldsLockWhileWaiting": 1, "Fair": int(lt.FairFIFO), "OnChange": 0,
			"OneGoroutine": 0,
			"Initial":      int(lt.InitialFull), "DeadlineCheck": int(lt.DeadlineFailFast)} {
			if v, ok := got[choice]; !ok || v != want {
				t.Errorf("%v: %s is printed as %d, %t, want %d", source, choice, v, ok, want)
			}
		}
	}
}

// Who declares nothing is told of each mistake, and no correct design is accused.
func TestFirstRuns(t *testing.T) { proof.FirstRuns(t, limiter.Designs(), limiter.Mutants()) }
