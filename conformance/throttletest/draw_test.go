package throttletest_test

import (
	"math/rand/v2"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/internal/twins"
	"github.com/escapement-go/escapement/internal/zoo/throttle"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Correct designs keep their rules on drawn schedules, which are what they say when they
// are read back, and so do twins of them.
func TestDraw(t *testing.T) {
	synctestcompat.Require(t)
	rnd := rand.New(rand.NewPCG(1, 1))
	pick := func(_ string, n int) int { return rnd.IntN(n) }
	fits := 0
	for _, d := range throttle.Designs() {
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
		for range 3 {
			twins := j.Twins()
			s := twins.Draw(twins.Configs[0], pick)
			if one, beside := j.Trace(s), j.Beside(s); len(one.Fires) != len(beside.Fires) {
				t.Errorf("%s: %s: %d emissions, %d beside another instance",
					d.Name, s, len(one.Fires), len(beside.Fires))
			}
		}
	}
	if fits == 0 {
		t.Error("nothing fits that is drawn")
	}
}

// The plainest choices make a plain schedule.
func TestDraw_plainest(t *testing.T) {
	synctestcompat.Require(t)
	j := throttle.Designs()[0].Spec.Judge(t).(twins.Judge)
	s := j.Draw(func(string, int) int { return 0 })
	if got, want := s.String(), "interval=100ms edges=leading | call 1 @0"; got != want || !j.Fits(s) {
		t.Errorf("the plainest schedule is %q, want %q", got, want)
	}
}
