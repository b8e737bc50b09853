package conformance

import (
	"slices"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Limiters of different designs pass, each with its own traits.
func TestZoo_limiterDesignsPass(t *testing.T) {
	run := func(spec LimiterSpec, from prove.Level) {
		t.Run(spec.Time.String()+strings.TrimPrefix(spec.Name, "zoo:"), func(t *testing.T) {
			prove.Require(t, from)
			RunLimiter(t, spec)
		})
	}
	run(heldBucketSpec("", Injected), prove.Once)
	run(fifoBucketSpec("", Injected), prove.Once)
	run(tatBucketSpec(Explicit), prove.Once)
	run(perSecondSpec(""), prove.Once)
	run(tickerBucketSpec("", PackageTime), prove.Once)
	if testing.Short() {
		return
	}
	run(retryBucketSpec(Injected), prove.Once)
	run(heldBucketSpec("", PackageTime), prove.Suite)
	run(fifoBucketSpec("", PackageTime), prove.Suite)
	run(heldBucketSpec("", Explicit), prove.All)
	run(tatBucketSpec(Injected), prove.All)
	run(tickerBucketSpec("", Injected), prove.All)
	run(retryBucketSpec(PackageTime), prove.All)
}

// heldMutantRows judges the mutants of limiters that wait, reserve and change. Each is
// shown the smaller schedules of one family, and no rules that explore by themselves
// but its own: all of that is for TestMutants_limitersInFull.
func heldMutantRows(t *testing.T, caught map[string]bool) []catchOf {
	t.Helper()
	const smaller = 1000
	var rows []catchOf
	judge := func(spec LimiterSpec, name, id, only string) {
		again := !everyMutant() && caught["limiter "+id]
		caught["limiter "+id] = true
		if again {
			return
		}
		c := limiterContract(t, spec)
		c.families = func(c *contract) []family {
			all := append([]family{{name: leaks, look: true, schedules: c.leavings()}}, slices.Concat(extremeFamilies(c), heldFamilies(c))...)
			all = slices.DeleteFunc(all, func(f family) bool { return f.name != only })
			for i := range all {
				all[i].schedules = all[i].schedules[:min(smaller, len(all[i].schedules))]
			}
			return all
		}
		c.rules = slices.DeleteFunc(slices.Clone(c.rules), func(r rule) bool { return r.probe != nil && r.ID != id })
		rows = append(rows, judgeMutant(t, c, name, id))
	}
	for _, m := range heldMutants {
		judge(heldBucketSpec(m.name, m.source), m.name, m.rule, m.family)
	}
	for _, m := range fifoMutants {
		judge(fifoBucketSpec(m.name, Injected), m.name, m.rule, m.family)
	}
	const ticks = "the ticker goes on after Stop"
	judge(tickerBucketSpec(ticks, Injected), ticks, "X-LEAK", leaks)
	return rows
}

// Every mistake of the zoo is found when all families are explored, too, and nothing
// is blamed on a rule that does not apply.
func TestMutants_limitersInFull(t *testing.T) {
	synctestcompat.Require(t)
	prove.Require(t, prove.All) // a minute on a quiet machine
	for _, m := range heldMutants {
		t.Run(m.name, func(t *testing.T) {
			row := judgeMutant(t, limiterContract(t, heldBucketSpec(m.name, m.source)), m.name, m.rule)
			t.Log(row.family, row.others, "\n"+row.text)
		})
	}
	for _, m := range fifoMutants {
		t.Run(m.name, func(t *testing.T) {
			row := judgeMutant(t, limiterContract(t, fifoBucketSpec(m.name, Injected)), m.name, m.rule)
			t.Log(row.family, row.others, "\n"+row.text)
		})
	}
}
