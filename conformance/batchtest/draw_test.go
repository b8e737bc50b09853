package batchtest_test

import (
	"math/rand/v2"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/internal/twins"
	"github.com/escapement-go/escapement/internal/zoo/batch"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Correct designs keep their rules on drawn schedules, which are what they say when they
// are read back, and so do twins of them.
func TestDraw(t *testing.T) {
	synctestcompat.Require(t)
	rnd := rand.New(rand.NewPCG(1, 1))
	pick := func(_ string, n int) int { return rnd.IntN(n) }
	fits := 0
	for _, d := range batch.Designs() {
		j := d.Spec.Judge(t).(twins.Judge)
		for range prove.Number(2, 2, 5, 10_000) {
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
		s := twins.Draw(twins.Configs[0], pick)
		if one, beside := j.Trace(s), j.Beside(s); len(one.Fires) != len(beside.Fires) {
			t.Errorf("%s: %s: %d batches, %d beside another instance", d.Name, s, len(one.Fires), len(beside.Fires))
		}
	}
	if fits == 0 {
		t.Error("nothing fits that is drawn")
	}
}
