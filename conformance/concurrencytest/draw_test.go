package concurrencytest_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/internal/twins"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Correct designs break no rule on drawn schedules, whose text form reads back as the same
// schedule. The plainest choices make the plainest schedule.
func TestDraw(t *testing.T) {
	synctestcompat.Require(t)
	for _, name := range []string{
		"zoo queue:  Injected", "zoo queue:  PackageTime", "zoo condition Injected", "zoo seats Injected",
		"zoo gate Injected", "zoo strict queue Injected",
	} {
		t.Run(name, func(t *testing.T) {
			j := design(t, name).Judge(t).(twins.Judge)
			if s := j.Draw(func(string, int) int { return 0 }); len(s.Steps) != 1 || !j.Fits(s) {
				t.Errorf("the plainest schedule is %q, Fits = %v", s, j.Fits(s))
			}
			rnd := rand.New(rand.NewPCG(1, 1))
			pick := func(_ string, n int) int { return rnd.IntN(n) }
			fits := 0
			for range prove.Number(20, 20, 200, 2000) {
				s := j.Draw(pick)
				if again, err := conformance.ParseSchedule(s.String()); err != nil || again.String() != s.String() {
					t.Fatalf("%q is read as %q, %v", s, again, err)
				}
				if j.Fits(s) {
					fits++
				}
				for _, v := range j.Run(s) {
					t.Errorf("%s: %s", s, v.Text())
				}
			}
			if fits == 0 {
				t.Error("nothing fits that is drawn")
			}
		})
	}
}

// The fate of every request is the same with another instance beside it, of which a slot
// is taken; and a schedule that is run twice has the same outcome.
func TestTwins(t *testing.T) {
	synctestcompat.Require(t)
	j := design(t, "zoo queue:  Injected").Judge(t).(twins.Judge)
	rnd := rand.New(rand.NewPCG(2, 2))
	tw := j.Twins()
	if len(tw.Laws) != 4 {
		t.Fatalf("Twins().Laws = %v, want 4", tw.Laws)
	}
	for range 100 {
		s := tw.Draw(tw.Configs[rnd.IntN(len(tw.Configs))], func(_ string, n int) int { return rnd.IntN(n) })
		if len(s.Steps) == 0 {
			continue
		}
		want := outcome(j.Trace(s))
		if got := outcome(j.Trace(s)); got != want {
			t.Errorf("%s: %s, want %s as before", s, got, want)
		}
		if got := outcome(j.Beside(s)); got != want {
			t.Errorf("%s: beside another instance %s, want %s", s, got, want)
		}
	}
	if laws := design(t, "zoo condition Injected").Judge(t).(twins.Judge).Twins().Laws; laws != nil {
		t.Errorf("without an order the laws are %v, want none", laws)
	}
}

func outcome(tr *conformance.Trace) string {
	out := ""
	for _, d := range tr.Done {
		out += fmt.Sprint(d.Step, d.Ended.At, d.OK, d.Err, "; ")
	}
	return out
}
