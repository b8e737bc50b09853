package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/escapement-go/escapement/internal/prove"
)

// The sets of implementations. What is bundled and what is correct passes, each mutant
// has one mistake, and peers are libraries that others wrote.
var allSets = []string{"bundled", "correct", "mutant", "peer"}

// run is one process: the tests of a package that a -run pattern selects.
type run struct {
	set, contract string
	dir           string // of the package, from the root of the repository
	tests         string
}

// file is where it leaves its reports.
func (r run) file() string {
	return strings.NewReplacer(" ", "_", "/", "_").Replace(r.contract+"-"+r.set+"-"+r.dir) + ".json"
}

const (
	peers   = "conformance/peers"
	designs = "^TestDesigns(|_chosen|_chosenWaits)$"
	mutants = "^TestMutants_reported$"
)

// plan is everything that is on record. Only this table knows where the tests are.
var plan = []run{
	{"bundled", "debouncer", "debounce", "^TestConformance_(Debouncer|DebouncerTwice|Batch|Keyed|Stream)$"},
	{"bundled", "batcher", "debounce", "^TestConformance_Batch(OfSize|Stopped)$"},
	{"bundled", "throttle", "limiters", "^TestConformance_Throttle"},
	{"bundled", "limiter", "limiters", "^TestConformance_(TokenBucket|GCRA_tokenBucket)$"},
	{"bundled", "leaky bucket", "limiters", "^TestConformance_LeakyBucket$"},
	{"bundled", "quota", "limiters", "^TestConformance_(FixedWindow|SlidingLog|SlidingCounter|GCRA)$"},
	{"bundled", "concurrency", "limiters", "^TestConformance_Concurrency"},
	{"bundled", "concurrency", "limiters/httplimit", "^TestConformance_Concurrency$"},
	{"bundled", "clock", "fakeclock", "^TestConformance_Clock$"},

	{"correct", "debouncer", "conformance/debouncertest", designs},
	{"correct", "throttle", "conformance/throttletest", designs},
	{"correct", "limiter", "conformance/limitertest", designs},
	{"correct", "leaky bucket", "conformance/leakybuckettest", designs},
	{"correct", "quota", "conformance/quotatest", designs},
	{"correct", "concurrency", "conformance/concurrencytest", designs},
	{"correct", "batcher", "conformance/batchtest", designs},
	{"correct", "clock", "conformance/clocktest", designs},

	{"mutant", "debouncer", "conformance/debouncertest", mutants},
	{"mutant", "throttle", "conformance/throttletest", mutants},
	{"mutant", "limiter", "conformance/limitertest", mutants},
	{"mutant", "leaky bucket", "conformance/leakybuckettest", mutants},
	{"mutant", "quota", "conformance/quotatest", mutants},
	{"mutant", "concurrency", "conformance/concurrencytest", mutants},
	{"mutant", "batcher", "conformance/batchtest", mutants},
	{"mutant", "clock", "conformance/clocktest", mutants},

	{"peer", "debouncer", peers, "^TestPeers(|_stricter)$/^(BepDebounce|LoDebounce)$"},
	{"peer", "throttle", peers, "^TestPeers$/^(LoThrottle|LoThrottleBy|EapacheBatcher|XTimeSometimes)$"},
	{"peer", "limiter", peers, "^TestPeers$/^(XTimeExplicit|XTimePackageTime|JujuRatelimit|FailsafeSmooth|Throttled|UberRatelimit)$"},
	{"peer", "leaky bucket", peers, "^TestQuotas$/^LeakyBucket$"},
	{"peer", "quota", peers, "^TestQuotas$/^(Throttled|ThrottledRacing|SlidingWindow|Ulule|FailsafeBursty)$"},
	{"peer", "concurrency", peers, "^TestConcurrencyPeers$"},
	{"peer", "batcher", peers, "^TestBatchers$"},
	{"peer", "clock", peers, "^TestClocks$"},
}

// runAll builds the tests of each package once, and runs them n processes at a time. It
// says of each how long it took and what it cost.
func runAll(chosen []run, dir string, n int) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	programs := map[string]string{}
	for _, r := range chosen {
		if programs[r.dir] != "" {
			continue
		}
		programs[r.dir] = filepath.Join(dir, strings.ReplaceAll(r.dir, "/", "_")+".test")
		build := exec.Command("go", "test", "-c", "-o", programs[r.dir], ".")
		build.Dir = r.dir
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: go test -c: %v\n%s", r.dir, err, out)
		}
		defer os.Remove(programs[r.dir])
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, n)
	failures := make([]error, len(chosen))
	for i, r := range chosen {
		wg.Add(1)
		slots <- struct{}{}
		go func() {
			defer wg.Done()
			defer func() { <-slots }()
			failures[i] = r.do(programs[r.dir], dir)
		}()
	}
	wg.Wait()
	return errors.Join(failures...)
}

// do runs one process of the plan.
func (r run) do(program, dir string) error {
	report := filepath.Join(dir, r.file())
	if err := os.RemoveAll(report); err != nil {
		return err
	}
	cmd := exec.Command(program, "-test.run="+r.tests, "-test.timeout=1h")
	cmd.Dir = r.dir
	cmd.Env = append(environment(), "ESCAPEMENT_REPORT="+report, prove.Variable+"=1") // all designs, on every clock
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err := os.WriteFile(report+".log", out, 0o666); err != nil {
		return err
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	fmt.Fprintf(os.Stderr, "%-8s %-13s %6.1fs, %6.1fs of CPU\n", r.set, r.contract, time.Since(began).Seconds(), cpu.Seconds())
	if err != nil {
		return fmt.Errorf("%s: go test -run '%s': %v\n%s", r.dir, r.tests, err, out)
	}
	return nil
}

// environment is this process's, without what makes tests run more, less or otherwise.
func environment() []string {
	var out []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "ESCAPEMENT_") && !strings.HasPrefix(v, "CONFORMANCE_") {
			out = append(out, v)
		}
	}
	return out
}
