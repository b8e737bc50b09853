package peers

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/clocktest"
	"github.com/escapement-go/escapement/conformance/concurrencytest"
	"github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/leakybuckettest"
	"github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/conformance/quotatest"
	"github.com/escapement-go/escapement/conformance/throttletest"
	"github.com/escapement-go/escapement/internal/prove"
)

// TestFirstRuns puts each library before the suite as a stranger would, without traits. No rule fails but those that
// are known to; the table says how many decisions each is asked for. Half of them are asked for two at the most:
// where published libraries differ from what is assumed more often, the suite assumes too much.
func TestFirstRuns(t *testing.T) {
	prove.Require(t, prove.Suite)
	runs := &firstRuns{}
	each(t, debouncers(), func(t *testing.T, spec debouncertest.Spec) { runs.add(t, spec.Name, spec) })
	each(t, throttles(), func(t *testing.T, spec throttletest.Spec) { runs.add(t, spec.Name, spec) })
	each(t, rateLimiters(), func(t *testing.T, spec limitertest.Spec) { runs.add(t, spec.Name, spec) })
	each(t, quotas(), func(t *testing.T, spec quotatest.Spec) { runs.add(t, spec.Name, spec) })
	each(t, leakyBuckets(), func(t *testing.T, spec leakybuckettest.Spec) { runs.add(t, spec.Name, spec) })
	each(t, semaphores(), func(t *testing.T, spec concurrencytest.Spec) { runs.add(t, spec.Name, spec) })
	each(t, fakeClocks(), func(t *testing.T, spec clocktest.Spec) { runs.add(t, spec.Name, spec) })
	if len(runs.asked) == 0 {
		return
	}
	slices.Sort(runs.asked)
	median := runs.asked[len(runs.asked)/2]
	t.Logf("%s\nof %d libraries, median %d\n", runs.table.String(), len(runs.asked), median)
	if median > 2 {
		t.Errorf("the median library is asked for %d decisions, want 2 at the most", median)
	}
}

// firstRuns are first runs, and their table.
type firstRuns struct {
	asked []int // decisions, of each library
	table strings.Builder
}

// add makes a first run.
func (f *firstRuns) add(t *testing.T, name string, spec conformance.Spec) {
	known := map[string]bool{}
	bare := reflect.New(reflect.TypeOf(spec)).Elem()
	bare.Set(reflect.ValueOf(spec))
	for _, k := range bare.FieldByName("KnownFailing").Interface().([]conformance.Known) {
		known[k.Rule] = true
	}
	bare.FieldByName("Traits").SetZero()
	bare.FieldByName("KnownFailing").SetZero()
	r := bare.Interface().(conformance.Spec).Examine(t, inside.Options{})
	var asked, fails []string
	undecided := 0
	for _, d := range r.Decisions {
		asked = append(asked, d.Trait+": "+d.Value)
	}
	for _, v := range r.Verdicts {
		switch {
		case v.Status == conformance.Undecided:
			undecided++
		case v.Status != conformance.Fail || v.Level == conformance.Provisional || v.Rule == "TRAITS":
		case known[v.Rule]:
			fails = append(fails, v.Rule)
		default:
			t.Errorf("%s, without traits: %s\n%s", name, v.Rule, v.Text)
		}
	}
	f.asked = append(f.asked, len(asked))
	fmt.Fprintf(&f.table, "\n%-50s %d: %s", name, len(asked), strings.Join(asked, ", "))
	fmt.Fprintf(&f.table, "; %d rules wait for them; known to fail: %s", undecided, strings.Join(fails, " "))
}
