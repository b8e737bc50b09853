package debouncertest_test

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/proof"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/escapement-go/escapement/internal/zoo/debouncer"
	"github.com/escapement-go/escapement/synctestcompat"
)

func TestMutants(t *testing.T) {
	proof.Mutants(t, debouncertest.Rules(), debouncer.Mutants())
}

func TestMutants_thatHang(t *testing.T) { proof.Hangs(t, debouncer.Mutants()) }

func TestMutants_thatRace(t *testing.T) { proof.Races(t, debouncer.Mutants()) }

func TestMutants_reported(t *testing.T) { proof.Reported(t, debouncer.Mutants()) }

// A choice that is left out excuses nothing.
func TestLeftOut(t *testing.T) { proof.LeftOut(t, debouncer.Designs()) }

// Who declares nothing is told of each mistake, and no correct design is accused.
func TestFirstRuns(t *testing.T) { proof.FirstRuns(t, debouncer.Designs(), debouncer.Mutants()) }

func TestDesigns(t *testing.T) { proof.Designs(t, debouncer.Designs()) }

func TestDesigns_together(t *testing.T) {
	proof.Together(t, append(debouncer.Designs(), debouncer.Chosen(8)...))
}

func TestDesigns_chosen(t *testing.T) { proof.Chosen(t, debouncer.Chosen) }

// Correct designs may keep callbacks in a queue, for longer than the explored schedules
// show.
func TestDesigns_queued(t *testing.T) {
	synctestcompat.Require(t)
	for _, spec := range debouncer.Queued() {
		judge(t, spec,
			"wait=100ms busy=250ms | call 1 @0 | call 2 @100.007ms | call 3 @200.014ms | stop @300.021ms",
			"wait=100ms busy=250ms | call 1 @0 | call 2 @100.007ms | call 3 @200.014ms | cancel @200.014ms",
			"wait=100ms edges=both | call 1 @0 | call 2 @0 | flush @0")
	}
}

// Who replays a schedule that is explored nowhere is judged rightly too: ends of the input that meet a
// deadline, that come behind a cancel or flush, or whose callback calls, and full bursts that panic.
func TestDesigns_replayed(t *testing.T) {
	synctestcompat.Require(t)
	ends := []string{
		"wait=100ms | call 1 @0 | close @100ms~",
		"wait=100ms | call 1 @0 | call 2 @50ms | close @100ms~",
		"wait=100ms | call 1 @0 | cancel @100ms~ | close @100ms~",
		"wait=100ms | call 1 @0 | cancel @0 | close @0",
		"wait=100ms inside=call | call 1 @0 | close @50ms",
		"wait=100ms inside=call | call 1 @0 | close @100ms~",
	}
	flushes := []string{
		"wait=100ms | call 1 @0 | flush @0 | close @0",
		"wait=100ms | call 1 @0 | flush @50ms | close @100ms~",
		"wait=100ms inside=flush | call 1 @0 | close @50ms",
	}
	for _, how := range []debouncertest.CloseFlush{
		debouncertest.CloseFires, debouncertest.CloseAtDeadline, debouncertest.CloseDrops,
	} {
		tr := debouncer.Plain()
		tr.CloseFlush = how
		judge(t, debouncer.Choosing(tr), slices.Concat(ends, flushes)...)
	}
	for _, d := range debouncer.Designs() {
		if d.Name == "zoo batch Injected" {
			judge(t, d.Spec.(debouncertest.Spec), append(ends,
				"wait=100ms k=2 inside=call | call 1 @0 | call 2 @0 | close @50ms",
				"wait=100ms k=2 panics=1 | call 1 @0 | call 2 @0 | call 3 @200ms",
				"wait=100ms panics=1 | call 1 @0 | close @50ms")...)
		}
	}
}

// A callback without a payload may call fire with any number, that of an event too.
func TestDesigns_anyNumber(t *testing.T) {
	synctestcompat.Require(t)
	tr := debouncer.Plain()
	tr.Payload = debouncertest.NoPayload
	spec := debouncer.Choosing(tr)
	made := spec.New
	spec.New = func(env debouncertest.Env, cfg debouncertest.Config, fire func(int)) debouncertest.Funcs {
		return made(env, cfg, func(int) { fire(1) })
	}
	judge(t, spec, "wait=100ms | call 1 1 @0 | call 2 2 @0 | call 3 1 @50ms")
	for _, v := range spec.Examine(t, inside.Options{Most: 100, Unprobed: true}).Verdicts {
		if v.Status == conformance.Fail {
			t.Errorf("%s: %s", v.Rule, v.Text)
		}
	}
}

// judge runs single schedules, and fails the test if one breaks a rule.
func judge(t *testing.T, spec debouncertest.Spec, texts ...string) {
	t.Helper()
	j := spec.Judge(t)
	for _, text := range texts {
		s, err := conformance.ParseSchedule(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range j.Run(s) {
			t.Errorf("%s: %s", spec.Name, v.Text())
		}
	}
}

// Who declares another choice than the implementation makes is told which declaration
// would fit: of one choice, or with ESCAPEMENT_PROVE=1 of all.
func TestHint(t *testing.T) {
	synctestcompat.Require(t)
	all := prove.Reaches(prove.Suite) && !testing.Short()
	type traits = debouncertest.Traits
	right := debouncer.Plain()
	leadsTo := func(spec debouncertest.Spec, rule, fits string) {
		t.Helper()
		judged := false
		for _, v := range spec.Examine(t, inside.Options{Until: rule}).Verdicts {
			judged = judged || v.Rule == rule
			hint := strings.Contains(v.Text, "If your documentation says so, declare") && strings.Contains(v.Text, fits)
			if v.Rule == rule && (v.Status != conformance.Fail || !hint) {
				t.Errorf("%s: got %s, want a failure that leads to %s:\n%s", rule, v.Status, fits, v.Text)
			}
		}
		if !judged {
			t.Errorf("there is no verdict on %s", rule)
		}
	}
	for i, k := range []struct {
		rule, fits string
		is         func(tr *traits)
	}{
		{"DB-LAST", "Payload: FirstPayload", func(tr *traits) { tr.Payload = debouncertest.FirstPayload }},
		{"DB-TIE", "Tie: FireFirst", func(tr *traits) { tr.Tie = debouncertest.FireFirst }},
		{"DB-LIVE", "AfterCancel: CancelFinal", func(tr *traits) { tr.AfterCancel = debouncertest.CancelFinal }},
		{"DB-REARM", "AfterCancel: CancelKeepsBurst", func(tr *traits) {
			tr.AfterCancel = debouncertest.CancelKeepsBurst
		}},
		{"DB-STOP", "StopPending: StopFlushes", func(tr *traits) { tr.StopPending = debouncertest.StopFlushes }},
		{"DB-ZERO", "ZeroWait: ZeroRefused", func(tr *traits) { tr.ZeroWait = debouncertest.ZeroRefused }},
		{"DB-OVERLAP", "Overlap: Parallel", func(tr *traits) { tr.Overlap = debouncertest.Parallel }},
		{"DB-LEAD1", "BothSingle: BothTwice", func(tr *traits) { tr.BothSingle = debouncertest.BothTwice }},
		{"DB-MAX", "MaxWait: MaxWaitOnCall", func(tr *traits) { tr.MaxWait = debouncertest.MaxWaitOnCall }},
		{"DB-CLOSE", "CloseFlush: CloseAtDeadline", func(tr *traits) { tr.CloseFlush = debouncertest.CloseAtDeadline }},
	} {
		if i > 0 && !all {
			break
		}
		made := right
		k.is(&made)
		spec := debouncer.Choosing(made)
		spec.Traits = right
		leadsTo(spec, k.rule, k.fits)
	}
	spec := debouncer.Choosing(right)
	spec.Traits.Edges = []debouncertest.Edges{debouncertest.Leading}
	build := spec.New
	spec.New = func(env debouncertest.Env, cfg debouncertest.Config, fire func(int)) debouncertest.Funcs {
		cfg.Edges = debouncertest.Trailing
		return build(env, cfg, fire)
	}
	leadsTo(spec, "DB-LEAD", "Edges: []debouncertest.Edges{debouncertest.Trailing}")
	// Who has mended the bound, and still declares that only an event brings its fire, is told that it does not fit.
	spec = debouncer.Choosing(right)
	spec.Traits.MaxWait = debouncertest.MaxWaitOnCall
	leadsTo(spec, "DB-MAXNE", "MaxWait: MaxWaitFromFirst")
}

// Whose Stop lets calls work again, is told which field that is.
func TestStop_thatIsCancel(t *testing.T) {
	synctestcompat.Require(t)
	spec := debouncer.Choosing(debouncer.Plain())
	build := spec.New
	spec.New = func(env debouncertest.Env, cfg debouncertest.Config, fire func(int)) debouncertest.Funcs {
		d := build(env, cfg, fire)
		d.Stop, d.Cancel, d.CancelReports = d.Cancel, nil, nil
		return d
	}
	v, _ := spec.Examine(t, inside.Options{Until: "DB-STOP"}).Verdict("DB-STOP")
	if want := "this is Funcs.Cancel"; v.Status != conformance.Fail || !strings.Contains(v.Text, want) {
		t.Errorf("got %s, want a failure that says %q:\n%s", v.Status, want, v.Text)
	}
}

// Without declarations nobody is accused, and what TRAITS prints is what a plain debouncer
// declares.
func TestTraits(t *testing.T) {
	synctestcompat.Require(t)
	spec := debouncer.Choosing(debouncer.Plain())
	spec.Traits = debouncertest.Traits{}
	for _, v := range spec.Examine(t, inside.Options{Most: 50, Unprobed: true}).Verdicts {
		if v.Status == conformance.Fail {
			t.Errorf("%s: %s: %s", v.Rule, v.Status, v.Text)
		}
		for _, line := range []string{
			"debouncertest.Traits{",
			"Payload: debouncertest.LastPayload, // observed",
			"Tie: debouncertest.ResetFirst, // observed",
		} {
			if v.Rule == "TRAITS" && !strings.Contains(v.Text, line) {
				t.Errorf("TRAITS does not print %q:\n%s", line, v.Text)
			}
		}
	}
}

// The rules are those of RULES.md, in the order of the subtests.
func TestRules(t *testing.T) {
	var ids []string
	for _, r := range debouncertest.Rules() {
		ids = append(ids, r.ID)
	}
	want := strings.Fields(`DB-QUIET DB-EXACT DB-ONE DB-LAST DB-LIVE DB-IDLE DB-SUBSEQ DB-GAPRATE DB-TIE DB-NOSTALE
		DB-CANCEL DB-CANCELBAR DB-REUSE DB-FLUSH DB-FLUSH0 DB-PEND DB-STOP DB-ZERO DB-NEG DB-OVERLAP
		DB-LEAD DB-LEAD1 DB-REARM DB-LEADONLY DB-BOTH1 DB-BOTHN DB-MAX DB-MAXNE DB-MAXTAIL DB-MAXPAY DB-FULL DB-NONE
		DB-ALL DB-CLOSE DB-KEY X-ISO X-BACK X-CONC X-CLOCK1 X-ROW X-RENAME X-PANIC X-CALLS X-REENT X-LEAK X-RACE`)
	if !slices.Equal(ids, want) {
		t.Errorf("rules are %v, want %v", ids, want)
	}
}

// A flush that never comes back, and of which nothing proves that it never will, leaves the
// rules inconclusive that it concerns: none of them passes.
func TestUnfinished_flush(t *testing.T) {
	prove.Require(t, prove.Suite)
	var enough atomic.Bool // ends what spins
	t.Cleanup(func() { enough.Store(true) })
	outside := make(chan struct{}) // belongs to no bubble
	for name, flush := range map[string]func(){
		"waits": func() { <-outside },
		"spins": func() {
			for !enough.Load() {
			}
			<-outside // the run that was given up must not end while the process does
		},
	} {
		t.Run(name, func(t *testing.T) {
			spec := debouncer.Choosing(debouncer.Plain())
			inner := spec.New
			spec.New = func(env debouncertest.Env, cfg debouncertest.Config, fire func(int)) debouncertest.Funcs {
				f := inner(env, cfg, fire)
				f.Flush = flush
				return f
			}
			proof.Unfinished(t, spec, " has not come back")
		})
	}
}

// An implementation is not accused for what it cannot do. Designs with a goroutine of their
// own leave it behind where they have no Stop any more, and each look at it takes longer.
func TestSubsets(t *testing.T) {
	alone := func(d zoo.Design) bool { return strings.HasPrefix(d.Name, "zoo") }
	proof.Subsets(t, slices.DeleteFunc(debouncer.Designs(), func(d zoo.Design) bool { return !alone(d) }))
}

// A goroutine that only longer schedules leave behind is X-LEAK's matter too.
func TestLeak_ofLongerSchedules(t *testing.T) {
	synctestcompat.Require(t)
	spec := debouncer.Choosing(debouncer.Plain())
	inner := spec.New
	spec.New = func(env debouncertest.Env, cfg debouncertest.Config, fire func(int)) debouncertest.Funcs {
		f, calls := inner(env, cfg, fire), 0
		call := f.Call
		f.Call = func(v int) {
			if calls++; calls == 4 {
				zoo.LeaveForGood()
			}
			call(v)
		}
		return f
	}
	r := spec.Examine(t, inside.Options{Unprobed: true, Keep: func(_ string, steps int) bool { return steps <= 4 }})
	v, _ := r.Verdict("X-LEAK")
	if v.Status != conformance.Fail || strings.Count(v.Schedule, "call") != 4 {
		t.Errorf("X-LEAK is %s on %q: %s", v.Status, v.Schedule, v.Reason)
	}
}

// A callback whose Stop waits for itself never ends, and that is one finding: what it leaves
// behind is not another.
func TestMutants_stopWaitsForItsCallback(t *testing.T) {
	synctestcompat.Require(t)
	spec := debouncertest.Spec{
		Name: "stop waits", Time: debouncertest.PackageTime,
		New: func(_ debouncertest.Env, cfg debouncertest.Config, fire func(int)) debouncertest.Funcs {
			events, stopped, done := make(chan int), make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				var due <-chan time.Time
				newest := 0
				for {
					select {
					case newest = <-events:
						due = time.After(cfg.Wait)
					case <-due:
						due = nil
						fire(newest)
					case <-stopped:
						return
					}
				}
			}()
			stop := sync.OnceFunc(func() { close(stopped) })
			return debouncertest.Funcs{
				Call: func(v int) {
					select {
					case events <- v:
					case <-stopped:
					}
				},
				Stop: func() { stop(); <-done },
			}
		},
		Traits: debouncertest.Traits{
			Edges: []debouncertest.Edges{debouncertest.Trailing}, Payload: debouncertest.LastPayload,
			Tie: debouncertest.EitherTie, StaleFire: debouncertest.StaleAllowed,
			StopPending: debouncertest.StopDrops, ZeroWait: debouncertest.ZeroNextTick,
			Overlap: debouncertest.SerialReceiver,
		},
	}
	proof.OnlyFails(t, spec, "X-REENT")
}

// A spec that hands events over on goroutines is not the implementation.
func TestRow_ofAdapters(t *testing.T) {
	synctestcompat.Require(t)
	spec := debouncer.Designs()[0].Spec.(debouncertest.Spec)
	made := spec.New
	spec.New = func(env debouncertest.Env, cfg debouncertest.Config, fire func(int)) debouncertest.Funcs {
		f := made(env, cfg, fire)
		call := f.Call
		f.Call = func(v int) { go call(v) }
		return f
	}
	v, _ := spec.Examine(t, inside.Options{Shallow: true}).Verdict("X-ROW")
	if v.Status != conformance.Skip || !strings.Contains(v.Reason, "the spec starts a goroutine") {
		t.Errorf("X-ROW is %s: %s", v.Status, v.Reason+v.Text)
	}
}
