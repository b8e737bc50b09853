package limitertest_test

import (
	"math/rand/v2"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/internal/twins"
	"github.com/escapement-go/escapement/internal/zoo/limiter"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Correct designs keep their rules on drawn schedules, which are what they say when they
// are read back, and so do twins of them.
func TestDraw(t *testing.T) {
	synctestcompat.Require(t)
	rnd := rand.New(rand.NewPCG(1, 1))
	pick := func(_ string, n int) int { return rnd.IntN(n) }
	fits := 0
	for _, d := range limiter.Designs() {
		j := d.Spec.Judge(t).(twins.Judge)
		for range prove.Number(10, 10, 60, 600) {
			s := j.Draw(pick)
			if again, err := conformance.ParseSchedule(s.String()); err != nil || again.String() != s.String() {
				t.Fatalf("%q is read as %q, %v", s, again, err)
			}
			for _, v := range j.Run(s) {
				t.Errorf("%s: %s", d.Name, v.Text())
			}
			if j.Fits(s) {
				fits++
			}
		}
		twins := j.Twins()
		for range min(3, len(twins.Configs)) {
			s := twins.Draw(twins.Configs[rnd.IntN(len(twins.Configs))], pick)
			if one, beside := granted(j.Trace(s)), granted(j.Beside(s)); one != beside {
				t.Errorf("%s: %s: %d tokens were granted, %d beside another instance", d.Name, s, one, beside)
			}
		}
	}
	if fits == 0 {
		t.Error("nothing fits that is drawn")
	}
}

func granted(tr *conformance.Trace) int {
	n := 0
	for _, d := range tr.Done {
		if d.OK {
			n += d.N
		}
	}
	return n
}

// The plainest choices make a plain schedule.
func TestDraw_plainest(t *testing.T) {
	synctestcompat.Require(t)
	j := limiter.Designs()[0].Spec.Judge(t).(twins.Judge)
	s := j.Draw(func(string, int) int { return 0 })
	if got, want := s.String(), "rate=10/1s burst=3 | allow 1 @0"; got != want || !j.Fits(s) {
		t.Errorf("the plainest schedule is %q, want %q", got, want)
	}
}
