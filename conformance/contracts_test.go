package conformance_test

import (
	"flag"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/batchtest"
	"github.com/escapement-go/escapement/conformance/clocktest"
	"github.com/escapement-go/escapement/conformance/concurrencytest"
	"github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/conformance/leakybuckettest"
	"github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/conformance/quotatest"
	"github.com/escapement-go/escapement/conformance/throttletest"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/escapement-go/escapement/internal/zoo/batch"
	"github.com/escapement-go/escapement/internal/zoo/clock"
	"github.com/escapement-go/escapement/internal/zoo/concurrency"
	"github.com/escapement-go/escapement/internal/zoo/debouncer"
	"github.com/escapement-go/escapement/internal/zoo/leakybucket"
	"github.com/escapement-go/escapement/internal/zoo/limiter"
	"github.com/escapement-go/escapement/internal/zoo/quota"
	"github.com/escapement-go/escapement/internal/zoo/throttle"
)

var update = flag.Bool("update", false, "rewrite RULES.md")

// contract is what the tests of this package need to know of a contract.
type contract struct {
	kind    string
	pkg     string
	rules   []conformance.Rule
	mutants []zoo.Mutant
}

// contracts lists all contracts in the order of RULES.md. A new contract is added here.
func contracts() []contract {
	return []contract{
		{"debouncer", "debouncertest", debouncertest.Rules(), debouncer.Mutants()},
		{"throttle", "throttletest", throttletest.Rules(), throttle.Mutants()},
		{"limiter", "limitertest", limitertest.Rules(), limiter.Mutants()},
		{"leaky bucket", "leakybuckettest", leakybuckettest.Rules(), leakybucket.Mutants()},
		{"quota", "quotatest", quotatest.Rules(), quota.Mutants()},
		{"concurrency", "concurrencytest", concurrencytest.Rules(), concurrency.Mutants()},
		{"batcher", "batchtest", batchtest.Rules(), batch.Mutants()},
		{"clock", "clocktest", clocktest.Rules(), clock.Mutants()},
	}
}
