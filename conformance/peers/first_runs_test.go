package peers

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/batchtest"
	"github.com/escapement-go/escapement/conformance/clocktest"
	"github.com/escapement-go/escapement/conformance/concurrencytest"
	"github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/conformance/leakybuckettest"
	"github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/conformance/quotatest"
	"github.com/escapement-go/escapement/conformance/throttletest"
)

// firstRun is set in the process that makes the first runs, which fail.
const firstRun = "PEERS_FIRST_RUN"

// TestFirstRuns puts each library before the suite as a stranger would, without traits. No rule fails but those that
// are known to; the table says how many decisions each is asked for. Half of them are asked for two at the most:
// where published libraries differ from what is assumed more often, the suite assumes too much.
func TestFirstRuns(t *testing.T) {
	known := map[string][]conformance.Known{}
	if os.Getenv(firstRun) == "" && os.Getenv("ESCAPEMENT_PROVE") == "" {
		t.Skip("with ESCAPEMENT_PROVE=1 only: each library is judged once more")
	}
	each(t, debouncers(), func(t *testing.T, spec debouncertest.Spec) { bare(t, spec.Name, spec, known) })
	each(t, throttles(), func(t *testing.T, spec throttletest.Spec) { bare(t, spec.Name, spec, known) })
	each(t, rateLimiters(), func(t *testing.T, spec limitertest.Spec) { bare(t, spec.Name, spec, known) })
	each(t, quotas(), func(t *testing.T, spec quotatest.Spec) { bare(t, spec.Name, spec, known) })
	each(t, leakyBuckets(), func(t *testing.T, spec leakybuckettest.Spec) { bare(t, spec.Name, spec, known) })
	each(t, batchers(), func(t *testing.T, spec batchtest.Spec) { bare(t, spec.Name, spec, known) })
	each(t, semaphores(), func(t *testing.T, spec concurrencytest.Spec) { bare(t, spec.Name, spec, known) })
	each(t, fakeClocks(), func(t *testing.T, spec clocktest.Spec) { bare(t, spec.Name, spec, known) })
	if os.Getenv(firstRun) != "" || len(known) == 0 {
		return
	}
	var table strings.Builder
	var asked []int
	for _, r := range firstReports(t) {
		asked = append(asked, len(r.Decisions))
		fmt.Fprintf(&table, "\n%-50s %d:", r.Name, len(r.Decisions))
		for _, d := range r.Decisions {
			fmt.Fprintf(&table, " %s: %s", d.Trait, d.Value)
		}
		for _, v := range r.Verdicts {
			is := func(k conformance.Known) bool { return k.Rule == v.Rule }
			if v.Status == conformance.Fail && v.Level != conformance.Provisional &&
				!slices.ContainsFunc(known[r.Name], is) {
				t.Errorf("%s, without traits: %s\n%s", r.Name, v.Rule, v.Text)
			}
		}
	}
	slices.Sort(asked)
	median := asked[len(asked)/2]
	t.Logf("%s\nof %d libraries, median %d\n", table.String(), len(asked), median)
	if median > 2 {
		t.Errorf("the median library is asked for %d decisions, want 2 at the most", median)
	}
}

// bare judges a library without its traits, in the process for that, or notes what is known to fail of it.
func bare(t *testing.T, name string, spec conformance.Spec, known map[string][]conformance.Known) {
	v := reflect.New(reflect.TypeOf(spec)).Elem()
	v.Set(reflect.ValueOf(spec))
	if os.Getenv(firstRun) == "" {
		known[name] = append(known[name], v.FieldByName("KnownFailing").Interface().([]conformance.Known)...)
		return
	}
	told := v.FieldByName("Traits").FieldByName("OneAtATime") // by its signatures, from which init declares it
	single := told.IsValid() && told.Bool()
	v.FieldByName("Traits").SetZero()
	if single {
		told.SetBool(true)
	}
	v.FieldByName("KnownFailing").SetZero()
	v.Interface().(conformance.Spec).Run(t)
}

// firstReports are those of a process that makes the first runs.
func firstReports(t *testing.T) (all []*conformance.Report) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestFirstRuns$", "-test.timeout=0")
	cmd.Env = append(os.Environ(), firstRun+"=1", "ESCAPEMENT_REPORT="+dir)
	out, _ := cmd.CombinedOutput() // it fails: traits are undeclared
	files, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			r := &conformance.Report{}
			if err := json.Unmarshal([]byte(line), r); err != nil {
				t.Fatal(err)
			}
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		t.Fatalf("no library was judged:\n%s", out)
	}
	return all
}
