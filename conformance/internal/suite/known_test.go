package suite

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/internal/verb"
)

// bell is a contract of one operation and one law: each call fires at once.
type bell struct {
	rings  func() bool // whether this instance fires at all
	used   func()
	during func(s *Stage) // instead of playing the schedule
	learn  func()
	unfit  string
	time   conformance.TimeSource // Injected if it is 0
	known  []conformance.Known
	probe  func(p *Probe) // of a rule more
}

type bellTraits struct{}

func (b bell) Profile() Profile {
	return Profile{Name: "bell", Time: cmp.Or(b.time, conformance.Injected), Known: b.known, Kind: "bell",
		Package: "belltest", Unfit: func(*Suite) (string, string) { return b.unfit, "" }}
}

func (b bell) Traits() (declared, complete *bellTraits)           { return new(bellTraits), new(bellTraits) }
func (b bell) Table(*Suite, *bellTraits) []Choice                 { return nil }
func (b bell) Canary(*Suite) string                               { return "" }
func (b bell) Exam(_ *bellTraits, r *Recording, _ Job) *Recording { return r }

func (b bell) Learn(*Suite) map[conformance.Op]bool {
	if b.learn != nil {
		b.learn()
	}
	return map[conformance.Op]bool{verb.Call: true}
}

func (b bell) Families(*Suite) []Family {
	return []Family{{Name: "calls", Schedules: ParseAll("call 1 @0", "call 1 @0 | call 2 @1s")}}
}

func (b bell) Play(s *Stage) {
	if b.used != nil {
		b.used()
	}
	if b.during != nil {
		b.during(s)
		return
	}
	rings := b.rings == nil || b.rings()
	end := s.Each(nil, func(st conformance.Step) {
		s.Rec.Do(st, false, func(*conformance.Done) {
			if rings {
				s.Rec.Fired(s.Rec.Fire(st.N))
			}
		})
	})
	s.End(end, 0, func() {})
}

func (b bell) Rules() []Rule[*bellTraits, *Recording] {
	rules := []Rule[*bellTraits, *Recording]{{
		Rule: conformance.Rule{ID: "BL-RING", Level: conformance.Core, Text: "Each call MUST fire at once."},
		Check: func(r *Recording) *Violation {
			if len(r.Fires) != len(r.Done) {
				return Broken(0, "", "%d calls fired %d times", len(r.Done), len(r.Fires))
			}
			return nil
		},
	}}
	if b.probe != nil {
		rules = append(rules, Rule[*bellTraits, *Recording]{
			Rule:  conformance.Rule{ID: "BL-PROBE", Level: conformance.Core, Text: "A bell MUST stand it."},
			Probe: func(p *Probe) (*Violation, string) { b.probe(p); return nil, "" },
		})
	}
	return rules
}

// A known failure that does not turn up by chance is looked for again; one that is gone is
// reported.
func TestKnown_isLookedForAgain(t *testing.T) {
	const schedule = "call 1 @0"
	t.Setenv("ESCAPEMENT_SCHEDULE", schedule) // no others, which would be counted too
	known := conformance.Known{Rule: "BL-RING", Schedule: schedule, Why: "every seventh is lost, from some time on"}
	made, broken := 0, func(int) bool { return false }
	b := bell{rings: func() bool { made++; return !broken(made) }}
	verdict := func(known ...conformance.Known) conformance.Verdict {
		made, b.known = 0, known
		v, _ := Examine(t, b, inside.Options{}).Verdict("BL-RING")
		return v
	}
	if v := verdict(); v.Status != conformance.Pass {
		t.Fatalf("an honest bell: BL-RING is %s: %s", v.Status, v.Text)
	}
	explored := made
	if v := verdict(known); v.Status != conformance.Fail {
		t.Errorf("listed, but it passes: BL-RING is %s, want fail", v.Status)
	}
	broken = func(made int) bool { return made > explored && made%7 == 0 }
	if v := verdict(known); v.Status != conformance.KnownFail {
		t.Errorf("listed, and it fails at times: BL-RING is %s, want known failing: %s", v.Status, v.Text)
	}
}

// Where the schedule of an entry still breaks its rule, a smaller one that does so too is noted, or fails if the entry
// is strict.
func TestKnown_onASmallerSchedule(t *testing.T) {
	known := conformance.Known{Rule: "BL-RING", Schedule: "call 1 @0 | call 2 @1s", Why: "it is broken"}
	dumb := bell{rings: func() bool { return false }, known: []conformance.Known{known}}
	v, _ := Examine(t, dumb, inside.Options{}).Verdict("BL-RING")
	if v.Status != conformance.KnownFail || !strings.Contains(v.Reason, "update the entry") {
		t.Errorf("BL-RING is %s: %s", v.Status, v.Reason)
	}
	dumb.known[0].Strict = true
	if v, _ = Examine(t, dumb, inside.Options{}).Verdict("BL-RING"); v.Status != conformance.Fail {
		t.Errorf("the entry is strict, and BL-RING is %s: %s", v.Status, v.Reason)
	}
}

// Parallel tests take turns: while one runs schedules, no other does.
func TestRun_takesTurns(t *testing.T) {
	s := MustParse("call 1 @0")
	used, shared := 0, 0
	b := bell{used: func() {
		used++
		if alone.TryLock() {
			alone.Unlock()
			shared++
		}
	}}
	for name, run := range map[string]func(t *testing.T){
		"Run":            func(t *testing.T) { Run(t, b) },
		"Examine":        func(t *testing.T) { Examine(t, b, inside.Options{}) },
		"Examiner.Run":   func(t *testing.T) { NewExaminer(t, b).Run(s) },
		"Examiner.Trace": func(t *testing.T) { NewExaminer(t, b).Trace(s) },
	} {
		used, shared = 0, 0
		t.Run(name, run)
		if used == 0 || shared > 0 {
			t.Errorf("%s used the implementation %d times, %d of them while another test could have",
				name, used, shared)
		}
	}
}

// A schedule whose run ends the process is told to the next run of the test, once; or the rule that
// made the run, and what it did.
func TestLast_isToldAfterACrash(t *testing.T) {
	const crash = "SUITE_TEST_CRASH"
	crashes := func() {
		done := make(chan struct{})
		go func() { panic("nobody recovers this") }()
		<-done
	}
	probe := func(does string) bell {
		return bell{probe: func(p *Probe) {
			if does != "" {
				p.Does(does)
			}
			p.Play(func(*Stage) { crashes() })
		}}
	}
	const own = "rule, in a run of its own:\n"
	again := "go test -run '^" + t.Name() + "$"
	for crasher, tt := range map[string]struct {
		bell bell
		want string
	}{
		"schedule": {bell{used: crashes}, "schedule:\nreplay: ESCAPEMENT_SCHEDULE='call 1 @0' " + again + "'"},
		"probe":    {probe(""), own + "BL-PROBE: A bell MUST stand it.\nreplay: " + again + "/^BL-PROBE$'"},
		"probe that tells": {probe("rings at 0: twice"),
			own + "BL-PROBE: rings at 0: twice\nreplay: " + again + "/^BL-PROBE$'"},
	} {
		if os.Getenv(crash) == crasher {
			Run(t, tt.bell)
			return
		}
		if os.Getenv(crash) == "" {
			isTold(t, crash+"="+crasher, tt.want)
		}
	}
}

// isTold checks that a run of the test which ends the process leaves a file, by which the next one says want.
func isTold(t *testing.T, env, want string) {
	t.Helper()
	dir := t.TempDir()
	again := func() string {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), env, "TMPDIR="+dir)
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	if out := again(); !strings.Contains(out, "nobody recovers this") || strings.Contains(out, "replay:") {
		t.Fatalf("the first run has nothing to tell but its own end:\n%s", out)
	}
	if out := again(); !strings.Contains(out, want) {
		t.Errorf("the second run does not say %q:\n%s", want, out)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "escapement-*")); err != nil || len(left) != 1 {
		t.Errorf("left are %v, %v; want the file of the second run", left, err)
	}
}
