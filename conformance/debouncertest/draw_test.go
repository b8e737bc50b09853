package debouncertest_test

import (
	"math/rand/v2"
	"testing"

	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/internal/twins"
	"github.com/escapement-go/escapement/internal/verb"
	"github.com/escapement-go/escapement/internal/zoo/debouncer"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Correct designs keep their rules on drawn schedules, and so do twins of them.
func TestDraw(t *testing.T) {
	synctestcompat.Require(t)
	rnd := rand.New(rand.NewPCG(1, 1))
	pick := func(_ string, n int) int { return rnd.IntN(n) }
	each := prove.Number(5, 5, 60, 600)
	fits := 0
	for _, d := range debouncer.Designs() {
		j := d.Spec.Judge(t).(twins.Judge)
		for range each {
			s := j.Draw(pick)
			for _, v := range j.Run(s) {
				t.Errorf("%s: %s", d.Name, v.Text())
			}
			if j.Fits(s) {
				fits++
			}
		}
		twins := j.Twins()
		for range 3 {
			s := twins.Draw(twins.Configs[rnd.IntN(len(twins.Configs))], pick)
			if one, beside := j.Trace(s), j.Beside(s); len(one.Fires) != len(beside.Fires) {
				t.Errorf("%s: %s: %d callbacks, %d beside another instance",
					d.Name, s, len(one.Fires), len(beside.Fires))
			}
		}
	}
	if fits == 0 {
		t.Errorf("none of %d drawn schedules fits", each*len(debouncer.Designs()))
	}
}

// The same choices make the same schedule, and the plainest choices a plain one.
func TestDraw_plainest(t *testing.T) {
	synctestcompat.Require(t)
	j := debouncer.Designs()[0].Spec.Judge(t).(twins.Judge)
	s := j.Draw(func(string, int) int { return 0 })
	if got, want := s.String(), "wait=100ms | call 1 @0"; got != want {
		t.Errorf("the plainest schedule is %q, want %q", got, want)
	}
	if s.Config.Given() != 1 || s.Steps[0].Op != verb.Call || !j.Fits(s) {
		t.Errorf("%s: want one call that fits", s)
	}
}
