package properties

import (
	"os"
	"testing"

	"github.com/escapement-go/escapement/conformance"
)

// Fuzz makes [Check] a native fuzz target. The input is the text of a schedule, and so is
// each entry of the corpus; texts that do not parse, or that could not have been drawn,
// are skipped. A clock makes a poor target: package time leaves the outcome of most texts
// open.
func Fuzz(f *testing.F, spec conformance.Spec) {
	f.Helper()
	for _, s := range corpus(spec) {
		f.Add(s.String())
	}
	f.Fuzz(func(t *testing.T, text string) {
		j := spec.Judge(t)
		if replay := os.Getenv("ESCAPEMENT_SCHEDULE"); replay != "" {
			text = replay
		}
		s, err := conformance.ParseSchedule(text)
		if err != nil || !j.Fits(s) {
			t.Skip("no schedule for this contract")
		}
		for _, v := range j.Run(s) {
			t.Error("\n" + v.Text())
		}
	})
}

// seeds is the number of drawn schedules that a corpus starts with.
const seeds = 20

// corpus draws schedules for the implementation. A judge belongs to a test, which a
// fuzz test is not yet: this one is nobody's, and if the implementation cannot be judged
// there are no schedules, and the target says why.
func corpus(spec conformance.Spec) []conformance.Schedule {
	var out []conformance.Schedule
	done := make(chan bool)
	go func() { // skipping and failing end the goroutine
		defer close(done)
		j := spec.Judge(new(testing.T))
		schedules := Schedules(j)
		for seed := 0; len(out) < seeds && seed < 10*seeds; seed++ {
			if s := schedules.Example(seed); j.Fits(s) {
				out = append(out, s)
			}
		}
	}()
	<-done
	return out
}
