package throttletest_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/proof"
	"github.com/escapement-go/escapement/conformance/throttletest"
	"github.com/escapement-go/escapement/internal/zoo/throttle"
	"github.com/escapement-go/escapement/synctestcompat"
)

func TestMutants(t *testing.T) { proof.Mutants(t, throttletest.Rules(), throttle.Mutants()) }

func TestMutants_thatHang(t *testing.T) { proof.Hangs(t, throttle.Mutants()) }

func TestMutants_thatRace(t *testing.T) { proof.Races(t, throttle.Mutants()) }

func TestMutants_reported(t *testing.T) { proof.Reported(t, throttle.Mutants()) }

// A choice that is left out excuses nothing.
func TestLeftOut(t *testing.T) { proof.LeftOut(t, throttle.Designs()) }

// Who declares nothing is told of each mistake, and no correct design is accused.
func TestFirstRuns(t *testing.T) { proof.FirstRuns(t, throttle.Designs(), throttle.Mutants()) }

// A callback that runs under the lock is a mistake, or its author says that it is meant.
func TestFirstRuns_underLock(t *testing.T) {
	synctestcompat.Require(t)
	for _, m := range throttle.Mutants() {
		if m.Name != "callback under the lock" {
			continue
		}
		spec := m.Spec.(throttletest.Spec)
		spec.Traits = throttletest.Traits{}
		r := spec.Examine(t, inside.Options{FirstLook: 20 * time.Millisecond, Most: 50})
		v, _ := r.Verdict("TRAITS")
		if want := "// Reentrancy: throttletest.ReentrancyForbidden, // decision"; !strings.Contains(v.Text, want) {
			t.Errorf("TRAITS asks nothing about it: want %q in\n%s", want, v.Text)
		}
	}
}

func TestDesigns(t *testing.T) { proof.Designs(t, throttle.Designs()) }

func TestDesigns_together(t *testing.T) {
	proof.Together(t, append(throttle.Designs(), throttle.Chosen(8)...))
}

func TestDesigns_chosen(t *testing.T) { proof.Chosen(t, throttle.Chosen) }

// Without declarations nobody is accused, and TRAITS prints what a plain throttle declares.
func TestTraits_undeclared(t *testing.T) {
	synctestcompat.Require(t)
	spec := throttle.Choosing(throttle.Plain())
	spec.Traits = throttletest.Traits{}
	short := func(_ string, steps int) bool { return steps <= 3 }
	for _, v := range spec.Examine(t, inside.Options{Keep: short}).Verdicts {
		if v.Status == conformance.Fail {
			t.Errorf("%s: %s: %s", v.Rule, v.Status, v.Text)
		}
		for _, line := range []string{
			"throttletest.Traits{", "Payload: throttletest.LastPayload, // observed",
			"Edges: []throttletest.Edges{throttletest.Trailing, throttletest.Leading, " +
				"throttletest.LeadingAndTrailing, throttletest.NoEdges}, // observed",
			"Boundary: throttletest.BoundaryPasses, // observed",
		} {
			if v.Rule == "TRAITS" && !strings.Contains(v.Text, line) {
				t.Errorf("TRAITS does not print %q:\n%s", line, v.Text)
			}
		}
	}
}

// Who declares another choice than the implementation makes is told which declaration
// would fit.
func TestHint(t *testing.T) {
	synctestcompat.Require(t)
	type traits = throttletest.Traits
	for _, k := range []struct {
		rule, fits string
		is         func(tr *traits)
	}{
		{"TH-LEADNEXT", "Boundary: BoundaryWaits", func(tr *traits) { tr.Boundary = throttletest.BoundaryWaits }},
		{"TH-SPACE", "Boundary: BoundaryRounded", func(tr *traits) { tr.Boundary = throttletest.BoundaryRounded }},
		{"TH-SINGLE", "BothSingle: BothTwice", func(tr *traits) { tr.BothSingle = throttletest.BothTwice }},
		{"TH-PAY", "Payload: FirstPayload", func(tr *traits) { tr.Payload = throttletest.FirstPayload }},
		{"TH-RATE", "Windows: WindowsFromFirst", func(tr *traits) { tr.Windows = throttletest.WindowsFromFirst }},
		{"TH-CLOCKBACK", "ClockBack: BackStands", func(tr *traits) { tr.ClockBack = throttletest.BackStands }},
	} {
		made := throttle.Plain()
		k.is(&made)
		spec := throttle.Choosing(made)
		spec.Traits = throttle.Plain()
		v, _ := spec.Examine(t, inside.Options{Until: k.rule}).Verdict(k.rule)
		hint := strings.Contains(v.Text, "If your documentation says so, declare") && strings.Contains(v.Text, k.fits)
		if v.Status != conformance.Fail || !hint {
			t.Errorf("%s: got %s, want a failure that leads to %s:\n%s", k.rule, v.Status, k.fits, v.Text)
		}
	}
}

// An implementation is not accused for what it cannot do.
func TestSubsets(t *testing.T) { proof.Subsets(t, throttle.Designs()) }

// A callback whose Stop waits for itself never ends, and that is one finding: what it leaves
// behind is not another.
func TestMutants_stopWaitsForItsCallback(t *testing.T) {
	synctestcompat.Require(t)
	spec := throttletest.Spec{
		Name: "stop waits", Time: throttletest.PackageTime,
		New: func(_ throttletest.Env, cfg throttletest.Config, emit func(int)) throttletest.Funcs {
			events, stopped, done := make(chan int, 1), make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				for {
					select {
					case v := <-events:
						emit(v)
						time.Sleep(cfg.Interval)
						select {
						case <-events:
						default:
						}
					case <-stopped:
						return
					}
				}
			}()
			stop := sync.OnceFunc(func() { close(stopped) })
			return throttletest.Funcs{
				Call: func(v int) {
					select {
					case events <- v:
					default:
					}
				},
				Stop: func() { stop(); <-done },
			}
		},
		Traits: throttletest.Traits{
			Edges: []throttletest.Edges{throttletest.Leading}, Boundary: throttletest.BoundaryEither,
		},
	}
	proof.OnlyFails(t, spec, "X-REENT")
}

// Events that come when a clock has shown nearly the longest duration are judged, and what follows them, too.
func TestRun_untilTimeIsOver(t *testing.T) {
	spec := throttle.Choosing(throttle.Plain())
	if r := spec.Examine(t, inside.Options{Unprobed: true}).String(); strings.Contains(r, "time is over") {
		t.Error(r)
	}
}

// Of one that answers yes or no it is not asked what a callback may do, nor why New shows one edge only.
func TestTraits_answers(t *testing.T) {
	spec := throttletest.Spec{Name: "answers", Time: throttletest.Injected}
	spec.New = func(env throttletest.Env, cfg throttletest.Config, _ func(int)) throttletest.Funcs {
		var next time.Time
		return throttletest.Funcs{Allow: func() bool {
			now := env.Clock.Now()
			if now.Before(next) {
				return false
			}
			next = now.Add(cfg.Interval)
			return true
		}}
	}
	short := func(_ string, steps int) bool { return steps <= 2 }
	v, _ := spec.Examine(t, inside.Options{Keep: short, Unprobed: true}).Verdict("TRAITS")
	if strings.Contains(v.Text, "Reentrancy") || strings.Contains(v.Text, "Spec.New was asked for") ||
		!strings.Contains(v.Text, "Edges: []throttletest.Edges{throttletest.Leading}") {
		t.Errorf("TRAITS says\n%s", v.Text)
	}
	for _, rule := range []string{"TH-BUSY", "X-REENT"} {
		if v, _ := spec.Examine(t, inside.Options{Until: rule}).Verdict(rule); v.Reason != "there is no callback" {
			t.Errorf("%s is %s: %s", rule, v.Status, v.Reason)
		}
	}
}

// Who collects batches is told which package judges that, and a throttle is not.
func TestTraits_batches(t *testing.T) {
	synctestcompat.Require(t)
	batcher := throttletest.Spec{
		Name: "batches of three", Time: throttletest.Injected,
		New: func(env throttletest.Env, cfg throttletest.Config, emit func(int)) throttletest.Funcs {
			var mu sync.Mutex
			held, number := 0, 0
			hand := func(batch, v int) {
				mu.Lock()
				old := batch != number || held == 0
				if !old {
					held, number = 0, number+1
				}
				mu.Unlock()
				if !old {
					emit(v)
				}
			}
			return throttletest.Funcs{Call: func(v int) {
				mu.Lock()
				held++
				n, batch := held, number
				mu.Unlock()
				switch n {
				case 1:
					env.Clock.AfterFunc(cfg.Interval, func() { hand(batch, v) })
				case 3:
					hand(batch, v)
				}
			}}
		},
	}
	for _, k := range []struct {
		spec conformance.Spec
		says bool
	}{{batcher, true}, {throttle.Designs()[0].Spec, false}} {
		o := inside.Options{Keep: func(_ string, steps int) bool { return steps <= 2 }}
		v, _ := k.spec.Examine(t, o).Verdict("TRAITS")
		if strings.Contains(v.Text, "package batchtest") != k.says {
			t.Errorf("TRAITS names batchtest: %v, want %v:\n%s", !k.says, k.says, v.Text)
		}
	}
}
