package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// What keeps a test from judging at once.
const (
	otherStore   = "it is made with a store of another package"
	runtimeClock = "it reads the runtime's clock past package time"
	cleanups     = "it leaves cleanups with the test, which run outside of the bubble"
)

// subjects are types of the libraries, and the contract that `verdicts init` has to choose for
// each: the likeliest, where it would try several if the test were not written into another folder.
// Why says what keeps the test that it writes from judging at once.
var subjects = []struct{ folder, name, contract, why string }{
	{".", "github.com/bep/debounce.New", "debouncertest", ""},
	{".", "github.com/samber/lo.NewDebounce", "debouncertest", ""},
	{".", "github.com/samber/lo.NewThrottle", "throttletest", ""},
	{".", "github.com/romdo/go-debounce.New", "debouncertest", ""},
	{".", "github.com/eapache/go-resiliency/batcher.Batcher", "batchtest", ""},
	{".", "github.com/eapache/go-resiliency/semaphore.Semaphore", "concurrencytest", ""},
	{".", "golang.org/x/time/rate.Limiter", "limitertest", ""},
	{".", "golang.org/x/time/rate.Sometimes", "throttletest", ""},
	{".", "golang.org/x/sync/semaphore.Weighted", "concurrencytest", ""},
	{".", "github.com/juju/ratelimit.Bucket", "limitertest", ""},
	{".", "github.com/throttled/throttled/v2.GCRARateLimiterCtx", "quotatest", otherStore},
	{".", "github.com/RussellLuo/slidingwindow.Limiter", "quotatest", ""},
	{".", "github.com/ulule/limiter/v3.Limiter", "quotatest", otherStore},
	{".", "github.com/sethvargo/go-limiter/memorystore.New", "quotatest", runtimeClock},
	{".", "go.uber.org/ratelimit.Limiter", "limitertest", ""},
	{".", "github.com/failsafe-go/failsafe-go/ratelimiter.NewSmooth", "quotatest", ""},
	{".", "github.com/failsafe-go/failsafe-go/ratelimiter.NewBursty", "quotatest", ""},
	{".", "github.com/failsafe-go/failsafe-go/bulkhead.New", "concurrencytest", ""},
	{".", "github.com/go-chi/chi/v5/middleware.Throttle", "concurrencytest", ""},
	{".", "github.com/jonboulle/clockwork.FakeClock", "clocktest", ""},
	{".", "github.com/coder/quartz.Mock", "clocktest", cleanups},
	{".", "github.com/benbjohnson/clock.Mock", "clocktest", ""},
	{".", "k8s.io/utils/clock/testing.FakeClock", "clocktest", ""},
	{".", "github.com/tilinna/clock.Mock", "clocktest", ""},
	{".", "github.com/zoobz-io/clockz.FakeClock", "clocktest", ""},
	{".", "github.com/juju/clock/testclock.Clock", "clocktest", ""},
	{"recent", "github.com/go-chi/httprate.RateLimiter", "quotatest", ""},
	{"recent", "github.com/ethereum/go-ethereum/common/mclock.Simulated", "clocktest", ""},
	{"recent", "code.cloudfoundry.org/clock/fakeclock.FakeClock", "clocktest", ""},
	{"recent", "github.com/jmhodges/clock.NewFake", "clocktest", ""},
	{"recent", "github.com/lightningnetwork/lnd/clock.TestClock", "clocktest", ""},
	{"recent", "go.temporal.io/server/common/clock.EventTimeSource", "clocktest", ""},
	{"recent", "go.temporal.io/server/common/quotas.RateLimiterImpl", "limitertest", ""},
	{"recent", "github.com/didip/tollbooth/v7/limiter.Limiter", "limitertest", ""},
	{"recent", "github.com/cockroachdb/tokenbucket.TokenBucket", "limitertest", ""},
	{"recent", "k8s.io/client-go/util/flowcontrol.NewTokenBucketRateLimiter", "limitertest", ""},
	{"recent", "github.com/zeromicro/go-zero/core/syncx.Limit", "concurrencytest", ""},
	{"recent", "github.com/zeromicro/go-zero/core/syncx.TimeoutLimit", "concurrencytest", ""},
	{"recent", "github.com/zeromicro/go-zero/core/executors.LessExecutor", "throttletest", ""},
	{"recent", "github.com/zeromicro/go-zero/core/executors.DelayExecutor", "debouncertest", ""},
	{"recent", "google.golang.org/api/support/bundler.Bundler", "batchtest", ""},
	{"recent", "storj.io/common/sync2.Cooldown", "throttletest", ""},
	{"recent", "storj.io/common/sync2.Semaphore", "concurrencytest", ""},
	{"recent", "storj.io/common/sync2.Limiter", "concurrencytest", ""},
}

var (
	passed = regexp.MustCompile(`(\d+) passed, \d+ failed`)
	chosen = regexp.MustCompile(`(\w+test)\.Run\(t`)
)

// What `verdicts init` writes for the libraries compiles and judges at once: rules pass, up to
// the choices that TRAITS asks for and to what the library breaks. It takes minutes, and so needs
// ESCAPEMENT_PROVE=all; -v prints what each comes to.
func TestInit(t *testing.T) {
	if os.Getenv("ESCAPEMENT_PROVE") != "all" {
		t.Skip("ESCAPEMENT_PROVE=all runs what init writes for the libraries")
	}
	judged := 0
	for _, s := range subjects {
		contract, result := written(t, s.folder, s.name)
		if contract != s.contract {
			t.Errorf("%s: init chooses %s, want %s", s.name, contract, s.contract)
		}
		found := passed.FindStringSubmatch(result)
		judges := false
		if found != nil {
			n, err := strconv.Atoi(found[1])
			judges = err == nil && n > 1 // CANARY is one
		}
		if judges {
			judged++
		}
		if want := s.why == ""; judges != want {
			t.Errorf("%s: judges at once: %t, want %t\n%s", s.name, judges, want, result)
		}
		t.Logf("%s: %s: %s", s.name, contract, strings.Join(found[:min(1, len(found))], ""))
	}
	t.Logf("%d of %d judge at once", judged, len(subjects))
}

// written is the contract of the test that init writes, and what comes of that test.
func written(t *testing.T, folder, name string) (contract, result string) {
	t.Helper()
	dir := filepath.Join("..", folder)
	file := filepath.Join(t.TempDir(), "subject_test.go")
	run := func(args ...string) string {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		out, _ := cmd.CombinedOutput() // the test fails: its traits are undeclared
		return string(out)
	}
	out := run("run", "github.com/escapement-go/escapement/conformance/verdicts", "init", "-o", file, name)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Errorf("init %s: %v\n%s", name, err, out)
		return "", ""
	}
	if found := chosen.FindSubmatch(text); found != nil {
		contract = string(found[1])
	}
	return contract, run("test", file)
}
