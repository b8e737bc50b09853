package conformance

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/escapement-go/escapement/synctestcompat"
)

// Each mutant is explored to the end, and its report goes to the file that
// ESCAPEMENT_REPORT names, as those of the entry points do. Those that hang are left out:
// each would wait for the watchdog, and hangs.golden has what they are told.
func TestReport_mutants(t *testing.T) {
	if os.Getenv("ESCAPEMENT_REPORT") == "" {
		t.Skip("set ESCAPEMENT_REPORT: it takes minutes, and TestMutants judges the same")
	}
	synctestcompat.Require(t)
	for _, m := range reportedMutants() {
		t.Run(m.contract+": "+m.name, func(t *testing.T) {
			c := m.make(t)
			c.name = m.name
			began := time.Now()
			r := c.evaluate()
			if v, _ := r.Verdict(m.rule); v.Status != Fail {
				t.Errorf("%s is not caught by %s: %s", m.name, m.rule, v.Status)
			}
			if err := r.write(time.Since(began)); err != nil {
				t.Error(err)
			}
		})
	}
}

// reportedMutants are those that do not hang, with the limiter's that wait, reserve and
// change, and one for each rule on package time.
func reportedMutants() []mutant {
	all := slices.DeleteFunc(mutants(), mutant.hangs)
	limiter := func(name, rule string, spec LimiterSpec) {
		all = append(all, mutant{"limiter", name, rule, func(t *testing.T) *contract { return limiterContract(t, spec) }})
	}
	for _, m := range heldMutants {
		limiter(m.name, m.rule, heldBucketSpec(m.name, m.source))
	}
	for _, m := range fifoMutants {
		limiter("in turn: "+m.name, m.rule, fifoBucketSpec(m.name, Injected))
	}
	const ticks = "the ticker goes on after Stop"
	limiter(ticks, "X-LEAK", tickerBucketSpec(ticks, Injected))
	return append(all, packageTimeMutants()...)
}
