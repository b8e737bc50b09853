package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/escapement-go/escapement/synctestcompat"
)

// reportMutant makes this process report on the mutant with that number.
const reportMutant = "CONFORMANCE_REPORT_MUTANT"

// Each mutant is explored to the end, and its report goes to the file that
// ESCAPEMENT_REPORT names, as those of the entry points do. Each has a process of its own:
// what one leaves behind would slow down all that come after it. Those that hang are left
// out, as each would wait for the watchdog; hangs.golden has what they are told.
func TestReport_mutants(t *testing.T) {
	if os.Getenv("ESCAPEMENT_REPORT") == "" {
		t.Skip("set ESCAPEMENT_REPORT: it takes minutes, and TestMutants judges the same")
	}
	synctestcompat.Require(t)
	which := os.Getenv(reportMutant)
	for i, m := range reportedMutants() {
		t.Run(m.contract+": "+m.name, func(t *testing.T) {
			switch which {
			case "":
				cmd := exec.Command(os.Args[0], "-test.run=^TestReport_mutants$")
				cmd.Env = append(os.Environ(), reportMutant+"="+fmt.Sprint(i))
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			case fmt.Sprint(i):
				m.report(t)
			}
		})
	}
}

// report explores the mutant to the end and writes the report.
func (m mutant) report(t *testing.T) {
	t.Helper()
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
