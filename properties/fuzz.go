package properties

import (
	"flag"
	"os"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/twins"
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
	apart(func() {
		j := spec.Judge(new(testing.T))
		schedules := Schedules(j)
		for seed := 0; len(out) < seeds && seed < 10*seeds; seed++ {
			if s := schedules.Example(seed); j.Fits(s) {
				out = append(out, s)
			}
		}
	})
	return out
}

// apart calls f on a goroutine of its own, which skipping and failing end.
func apart(f func()) {
	done := make(chan bool)
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// FuzzBytes makes a target for fuzzers that know no *testing.F, such as libFuzzer under OSS-Fuzz and ClusterFuzzLite
// ([build script]). The bytes are the choices by which a schedule is drawn, as for [Check]: every input is a schedule,
// and a longer one has more steps. The target returns 0, and panics if a rule is broken, with the text of the failure,
// which holds the line that replays it. FuzzBytes itself panics where the implementation cannot be judged. The target
// must not be called concurrently.
//
// [build script]: https://github.com/escapement-go/escapement/blob/main/properties/FUZZING.md
func FuzzBytes(spec conformance.Spec) (target func(data []byte) int) {
	if testing.Init(); !flag.Parsed() { // this is no test, and the arguments are another engine's
		_ = flag.CommandLine.Parse(nil)
	}
	var j conformance.Judge
	apart(func() { j = spec.Judge(new(testing.T)) })
	if j == nil {
		panic("properties: FuzzBytes: this implementation cannot be judged here; properties.Fuzz in a test says why")
	}
	return func(data []byte) int {
		if broken := j.Run(j.(twins.Judge).Draw(chosen(data))); len(broken) > 0 {
			panic("\n" + broken[0].Text())
		}
		return 0
	}
}

// chosen lets bytes choose, and the plainest when there are no more.
func chosen(data []byte) func(label string, n int) int {
	return func(_ string, n int) int {
		var choice uint64
		for most := uint64(1); most < uint64(n) && len(data) > 0; most <<= 8 {
			choice, data = choice<<8|uint64(data[0]), data[1:]
		}
		return int(choice % uint64(n))
	}
}
