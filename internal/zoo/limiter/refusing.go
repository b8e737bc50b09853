package limiter

import (
	"fmt"
	"time"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// onlyOne accepts a burst of 1, at rates from one a minute to a thousand a second.
func onlyOne(cfg lt.Config) bool {
	return cfg.Burst == 1 && cfg.Rate.Exact() && cfg.Rate.Interval() <= time.Minute &&
		cfg.Rate.Interval() >= time.Millisecond
}

// asManyPerSecond accepts as many tokens per second as the burst.
func asManyPerSecond(cfg lt.Config) bool {
	return cfg.Burst > 0 && cfg.Burst == cfg.Rate.Events && cfg.Rate.Per == time.Second
}

// refusing is a design whose constructor refuses what it does not accept.
func refusing(what string, accepts func(lt.Config) bool, spec lt.Spec) lt.Spec {
	inner := spec.New
	spec.Name = what + ": " + spec.Name
	spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
		if !accepts(cfg) {
			panic(fmt.Sprintf("it cannot be made with a rate of %s and a burst of %d", cfg.Rate, cfg.Burst))
		}
		return inner(env, cfg)
	}
	spec.Traits.ZeroRate, spec.Traits.Inf = lt.ZeroRateRefused, lt.InfAbsent
	return spec
}

// refusingMutants are mistakes that limiters of a few rates and bursts must be caught at.
func refusingMutants() (all []zoo.Mutant) {
	add := func(name, rule string, spec lt.Spec) {
		all = append(all,
			zoo.Mutant{Name: "burst of 1 only: " + name, Rule: rule, Spec: refusing("burst of 1 only", onlyOne, spec)},
			zoo.Mutant{Name: "a burst each second: " + name, Rule: rule,
				Spec: refusing("a burst each second", asManyPerSecond, spec)})
	}
	for _, m := range []struct{ name, rule string }{
		{"a delay is a tenth too short", "RS-DELAY"},
		{"a debt is forgiven", "RS-DEBT"},
		{"a cancel refunds twice", "CN-UPPER"},
		{"a cancel takes the tokens again", "CN-LOWER"},
		{"a cancel refunds everything", "CN-ANY"},
		{"a late cancel refunds", "CN-LATE"},
		{"a second cancel refunds again", "CN-IDEM"},
	} {
		add(m.name, m.rule, debtSpec(m.name, lt.Explicit))
	}
	// With a burst of 1 nothing is ever granted at an old instant.
	all = append(all, zoo.Mutant{Name: "a burst each second: an old instant rewinds", Rule: "RL-PAST",
		Spec: refusing("a burst each second", asManyPerSecond, bucketSpec("an old instant rewinds", lt.Explicit))})
	add("unix 0 means new", "RL-EPOCH", bucketSpec("unix 0 means new", lt.Explicit))
	add("a clock that is set back rewinds", "X-BACK", debtSpec("a clock that is set back rewinds", lt.Injected))
	return all
}

// refusingSpecs are correct limiters of a few rates and bursts.
func refusingSpecs() (all []lt.Spec) {
	for _, source := range []lt.TimeSource{lt.Explicit, lt.Injected} {
		all = append(all, refusing("burst of 1 only", onlyOne, debtSpec("", source)),
			refusing("a burst each second", asManyPerSecond, debtSpec("", source)),
			refusing("burst of 1 only", onlyOne, instantSpec(source)))
	}
	return append(all, refusing("burst of 1 only", onlyOne, bucketSpec("", lt.Explicit)),
		refusing("a burst each second", asManyPerSecond, bucketSpec("", lt.Explicit)),
		refusing("burst of 1 only", onlyOne, queueSpec("", lt.PackageTime)),
		refusing("a burst each second", asManyPerSecond, queueSpec("", lt.Injected)))
}
