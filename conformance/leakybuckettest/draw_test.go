package leakybuckettest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/internal/twins"
	"github.com/escapement-go/escapement/internal/zoo/leakybucket"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Correct designs keep their rules on drawn schedules, which are what they say when they
// are read back, and so do twins of them.
func TestDraw(t *testing.T) {
	synctestcompat.Require(t)
	rnd := rand.New(rand.NewPCG(1, 1))
	pick := func(_ string, n int) int { return rnd.IntN(n) }
	fits := 0
	for _, d := range leakybucket.Designs() {
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
				t.Errorf("%s: %s: %d items left, %d beside another instance",
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
	j := leakybucket.Designs()[0].Spec.Judge(t).(twins.Judge)
	s := j.Draw(func(string, int) int { return 0 })
	if got, want := s.String(), "interval=100ms backlog=2 | put 1 @0"; got != want || !j.Fits(s) {
		t.Errorf("the plainest schedule is %q, want %q", got, want)
	}
}

// What is made of a schedule that fits does, too: here a put goes first.
func TestSmallest(t *testing.T) {
	synctestcompat.Require(t)
	for _, m := range leakybucket.Mutants() {
		if m.Name != "a stop lets everybody pass" {
			continue
		}
		j := m.Spec.Judge(t).(twins.Judge)
		const text = "interval=100ms backlog=2 | put 1 @0 | stop @50ms | put 2 @90ms | put 3 @90ms"
		s, err := conformance.ParseSchedule(text)
		if err != nil || !j.Fits(s) {
			t.Fatalf("%v, Fits = %v", err, j.Fits(s))
		}
		want := "interval=100ms backlog=2 | put 1 @0 | stop @0 | put 2 @0"
		if got := j.Smallest(s, "LB-SPACE").String(); got != want {
			t.Errorf("Smallest is %q, want %q", got, want)
		}
	}
}

// A stopped bucket may refuse what is put, and has dropped what waited. What items leave to may take its
// time beside a cancel, and the clock be set back. Of an interval of 292 years a run sees no more than one.
func TestOpen(t *testing.T) {
	synctestcompat.Require(t)
	schedules := suite.ParseAll(
		"interval=100ms backlog=1 | put 1 @0 | stop @50ms | put 2 @60ms",
		"interval=100ms backlog=2 | put 1 @0 | put 2 @0 | stop @10ms | put 3 @20ms | put 4 @30ms",
		"interval=100ms backlog=1 | put 1 @0 | put 2 @0 | stop @0 | close @0",
		"interval=100ms backlog=1 | put 1 @0 | put 2 @0 | close @0 | stop @0",
		"interval=100ms backlog=1 | put 1 @0 | put 2 @0 | stop @0 | cancel 2 @0",
		"interval=100ms backlog=1 | put 1 @0 | put 2 @0 | close @0 | put 3 @0",
		"interval=100ms backlog=1 | stop @0 | put 1 @0 | cancel 1 @0",
		"interval=100ms backlog=1 | put 1 @0 | put 2 @0 | wall -1s @0 | stop @0",
		"interval=100ms backlog=1 busy=150ms | put 1 @0 | put 2 @0 | cancel 1 @0",
		"interval=100ms backlog=3 | put 1 @0 | put 2 @0 | put 3 @0 | wall -1s @50ms | cancel 2 @50ms",
		"interval=100ms backlog=2 | put 1 @0 | put 2 @0 | wall -50ms @0 | cancel 2 @0",
		"interval=100ms backlog=2 | put 1 @0 | put 2 @0 | stop @100ms~",
		"interval=100ms backlog=3 busy=50ms | put 1 @0 | put 2 @250ms~",
		"interval=2562047h backlog=3 | put 1 @0 | put 2 @0 | cancel 2 @0 | put 3 @1h",
		"interval=2562047h backlog=3 | put 1 @0 | put 2 @0 | close @1h",
		"interval=2562047h backlog=3 | put 1 @0 | put 2 @0 | stop @1h",
		"interval=2562047h backlog=3 busy=2h | put 1 @0 | put 2 @1h",
		"interval=2562047h backlog=3 | put 1 @0 | wall -1h @0 | put 2 @1h",
		"interval=100ms backlog=8"+putsInRow(1, 9)+" | cancel 3 @0 | cancel 9 @0 | cancel 2 @0 | cancel 8 @0"+
			" | cancel 5 @0 | cancel 6 @0 | cancel 4 @0"+putsInRow(10, 16),
	)
	for _, d := range leakybucket.Designs() {
		j := d.Spec.Judge(t).(twins.Judge)
		for _, s := range schedules {
			if slices.ContainsFunc(s.Steps, func(st conformance.Step) bool { return !j.Accepts(st.Op) }) {
				continue
			}
			for _, v := range j.Run(s) {
				t.Errorf("%s: %s", d.Name, v.Text())
			}
		}
	}
}

func putsInRow(from, to int) (text string) {
	for v := from; v <= to; v++ {
		text += fmt.Sprintf(" | put %d @0", v)
	}
	return text
}
