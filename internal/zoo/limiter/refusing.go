package limiter

import (
	"fmt"
	"strings"
	"time"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// refusal is a constructor that refuses what it does not accept.
type refusal struct {
	what    string
	accepts func(cfg lt.Config) bool
}

// burstOfOne is at rates from one a minute to a thousand a second.
var burstOfOne = refusal{"burst of 1 only", func(cfg lt.Config) bool {
	return cfg.Burst == 1 && cfg.Rate.Exact() && cfg.Rate.Interval() <= time.Minute &&
		cfg.Rate.Interval() >= time.Millisecond
}}

// burstEachSecond is as many tokens per second as the burst.
var burstEachSecond = refusal{"a burst each second", func(cfg lt.Config) bool {
	return cfg.Burst > 0 && cfg.Burst == cfg.Rate.Events && cfg.Rate.Per == time.Second
}}

// of is a design with that constructor.
func (r refusal) of(spec lt.Spec) lt.Spec {
	inner := spec.New
	spec.Name = r.what + ": " + spec.Name
	spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
		if !r.accepts(cfg) {
			panic(fmt.Sprintf("it cannot be made with a rate of %s and a burst of %d", cfg.Rate, cfg.Burst))
		}
		return inner(env, cfg)
	}
	spec.Traits.ZeroRate, spec.Traits.Inf = lt.ZeroRateRefused, lt.InfAbsent
	return spec
}

// refusingMutants are mistakes that limiters of a few rates and bursts must be caught at.
func refusingMutants() (all []zoo.Mutant) {
	add := func(k kind, r refusal, source lt.TimeSource, m mistake) {
		all = append(all, k.with(r.of).mutants(r.what+": ", source, m)...)
	}
	both := func(k kind, source lt.TimeSource, mistakes ...mistake) {
		for _, m := range mistakes {
			add(k, burstOfOne, source, m)
			add(k, burstEachSecond, source, m)
		}
	}
	both(debtSpec, lt.Explicit,
		mistake{name: "a delay is a tenth too short", rule: "RS-DELAY"},
		mistake{name: "a debt is forgiven", rule: "RS-DEBT"},
		mistake{name: "a cancel refunds twice", rule: "CN-UPPER"},
		mistake{name: "a cancel takes the tokens again", rule: "CN-LOWER"},
		mistake{name: "a cancel refunds everything", rule: "CN-ANY"},
		mistake{name: "a late cancel refunds", rule: "CN-LATE"},
		mistake{name: "a second cancel refunds again", rule: "CN-IDEM"})
	// With a burst of 1 nothing is ever granted at an old instant.
	add(bucketSpec, burstEachSecond, lt.Explicit, mistake{name: "an old instant rewinds", rule: "RL-PAST"})
	both(bucketSpec, lt.Explicit, mistake{name: "unix 0 means new", rule: "RL-EPOCH"})
	both(debtSpec, lt.Injected, mistake{name: "a clock that is set back rewinds", rule: "X-BACK"})
	return all
}

// refusingSpecs are correct limiters of a few rates and bursts.
func refusingSpecs() (all []lt.Spec) {
	for _, source := range []lt.TimeSource{lt.Explicit, lt.Injected} {
		all = append(all, burstOfOne.of(debtSpec("", source)), burstEachSecond.of(debtSpec("", source)))
	}
	return append(all, burstOfOne.of(bucketSpec("", lt.Explicit)), burstEachSecond.of(bucketSpec("", lt.Explicit)),
		burstOfOne.of(queueSpec("", lt.PackageTime)), burstEachSecond.of(queueSpec("", lt.Injected)))
}

// onlySpec is a limiter that is made in one configuration.
func onlySpec(spec lt.Spec, perSecond, burst int) lt.Spec {
	only := lt.Config{Rate: lt.Rate{Events: perSecond, Per: time.Second}, Burst: burst}
	what := fmt.Sprintf("zoo: %d per second, a burst of %d", perSecond, burst)
	spec.Name = strings.TrimPrefix(spec.Name, "zoo: ")
	spec.Only = []lt.Config{only}
	return refusal{what, func(cfg lt.Config) bool { return cfg == only }}.of(spec)
}

func oneConfiguration(spec lt.Spec) lt.Spec { return onlySpec(spec, 20, 5) }
