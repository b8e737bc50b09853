package suite_test

import (
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// echo is a contract of one operation and one law: what is called comes back a second
// later.
type echo struct {
	make func(env conformance.Env, fire func(int)) (call func(int))
}

// echoTraits has one choice.
type echoTraits struct{ Patience int }

type echoExam struct{ *suite.Recording }

func (e echo) Profile() suite.Profile {
	return suite.Profile{Name: "toy", Time: conformance.Injected, Kind: "echo", Package: "echotest"}
}

func (e echo) Traits() (declared, complete *echoTraits) {
	return &echoTraits{Patience: 1}, &echoTraits{Patience: 1}
}

func (e echo) Table(_ *suite.Suite, t *echoTraits) []suite.Choice {
	return []suite.Choice{{Name: "Patience", Declared: t.Patience, Values: []string{"Patient", "Hasty"},
		Needless: suite.Always, Observe: func() int { return 1 }, Set: func(v int) { t.Patience = v }}}
}

func (e echo) Learn(*suite.Suite) map[conformance.Op]bool {
	return map[conformance.Op]bool{verb.Call: true}
}

func (e echo) Canary(s *suite.Suite) string {
	var call func(int)
	pulse := s.Sees(suite.Life{
		Make:    func(env conformance.Env, sign func()) { call = e.make(env, func(int) { sign() }) },
		Use:     func() int { call(1); return 0 },
		Beyond:  time.Minute,
		Release: func() {},
	})
	return suite.If(pulse.Own == 0, "nothing ever comes back")
}

func (e echo) Families(*suite.Suite) []suite.Family {
	calls, gaps := []conformance.Op{verb.Call}, []time.Duration{1, time.Second}
	return []suite.Family{{Name: "calls", Schedules: suite.Enumerate(conformance.Config{}, calls, gaps, 2)}}
}

func (e echo) Play(s *suite.Stage) {
	var call func(int)
	fire := func(v int) {
		if i := s.Rec.Fire(v); i >= 0 {
			s.During(i, 0, nil)
		}
	}
	if !s.Make(func() { call = e.make(s.Env(), fire) }) {
		return
	}
	end := s.Each(nil, func(st conformance.Step) {
		s.Rec.Do(st, false, func(*conformance.Done) { call(st.N) })
	})
	s.End(end+time.Minute, time.Minute, func() {})
}

func (e echo) Exam(_ *echoTraits, rec *suite.Recording, _ suite.Job) echoExam { return echoExam{rec} }

func (e echo) Rules() []suite.Rule[*echoTraits, echoExam] {
	return []suite.Rule[*echoTraits, echoExam]{{
		Rule: conformance.Rule{
			ID:    "EC-LATE",
			Level: conformance.Core,
			Text:  "What is called MUST come back a second later.",
		},
		Unless: func(_ *suite.Suite, t *echoTraits) string { return suite.If(t.Patience == 2, "declared: Hasty") },
		Check: func(x echoExam) *suite.Violation {
			for i, d := range x.Done {
				if i >= len(x.Fires) || x.Fires[i].Began.At != d.At+time.Second {
					return suite.Broken(d.At, "", "call %d did not come back at %v", d.N, d.At+time.Second)
				}
			}
			return nil
		},
	}}
}

// echoAfter makes echoes that take so long.
func echoAfter(d time.Duration) echo {
	return echo{func(env conformance.Env, fire func(int)) func(int) {
		return func(v int) { env.Clock.AfterFunc(d, func() { fire(v) }) }
	}}
}

func TestRun_toyContract(t *testing.T) {
	r := suite.Run(t, echoAfter(time.Second))
	const want = "toy (echo, Injected): 3 passed, 0 failed, 0 known to fail, 0 skipped; 3 schedules"
	if got := r.String(); !strings.HasPrefix(got, want) {
		t.Errorf("Run: %s", got)
	}
}

func TestExamine_toyMutant(t *testing.T) {
	v, _ := suite.Examine(t, echoAfter(time.Second+1), inside.Options{}).Verdict("EC-LATE")
	want := `EC-LATE: call 1 did not come back at 1s
What is called MUST come back a second later.

t     0  1.000000001s
call  1----------------
got   ---F1------------
      ^ here

replay: ESCAPEMENT_SCHEDULE='call 1 @0' go test -run '^TestExamine_toyMutant$/^EC-LATE$' ` +
		"github.com/escapement-go/escapement/conformance/internal/suite\n"
	if v.Status != conformance.Fail || v.Text != want {
		t.Errorf("verdict %s:\n%s\nwant fail:\n%s", v.Status, v.Text, want)
	}
}

func TestExamine_toyThatIsDead(t *testing.T) {
	dead := echo{func(conformance.Env, func(int)) func(int) { return func(int) {} }}
	v, _ := suite.Examine(t, dead, inside.Options{}).Verdict("CANARY")
	if v.Status != conformance.Fail || !strings.Contains(v.Text, "nothing ever comes back") {
		t.Errorf("CANARY: %s %q, want fail", v.Status, v.Text)
	}
}
