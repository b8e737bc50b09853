package suite_test

import (
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// kindEcho tells what came back late from what did not come back at all.
type kindEcho struct{ echo }

func (k kindEcho) Rules() []suite.Rule[*echoTraits, echoExam] {
	rules := k.echo.Rules()
	check := rules[0].Check
	rules[0].Check = func(x echoExam) *suite.Violation {
		v := check(x)
		if v != nil {
			v.Kind = suite.If(len(x.Fires) < len(x.Done), "lost") + suite.If(len(x.Fires) >= len(x.Done), "late")
		}
		return v
	}
	return rules
}

// A mistake that every schedule shows does not hide another one that breaks the same rule.
func TestExamine_anotherKind(t *testing.T) {
	both := kindEcho{echo{func(env conformance.Env, fire func(int)) func(int) {
		calls := 0
		return func(v int) {
			if calls++; calls != 2 {
				env.Clock.AfterFunc(time.Second+1, func() { fire(v) })
			}
		}
	}}}
	v, _ := suite.Examine(t, both, inside.Options{}).Verdict("EC-LATE")
	if want := "call 1 @0"; v.Schedule != want {
		t.Errorf("the smallest schedule is %q, want %q", v.Schedule, want)
	}
	want := "it is broken in another way too: call 1 did not come back at 1s\n\ton call 1 @0 | call 2 @1ns\n"
	if !strings.HasSuffix(v.Text, want) {
		t.Errorf("the text does not end with the other kind:\n%s", v.Text)
	}
}

// One kind alone is told once.
func TestExamine_oneKind(t *testing.T) {
	v, _ := suite.Examine(t, kindEcho{echoAfter(time.Second + 1)}, inside.Options{}).Verdict("EC-LATE")
	if v.Status != conformance.Fail || strings.Contains(v.Text, "another way") {
		t.Errorf("a finding of one kind: %s", v.Text)
	}
}
