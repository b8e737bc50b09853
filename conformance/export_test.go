package conformance

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// ZooMutant is a mutant of the zoo, for tests of other packages that judge it too.
type ZooMutant struct {
	Name, Rule string
	// Smallest is the schedule that the suite prints for it, "" if its rule needs none.
	Smallest string
	// One of these is its description.
	Debouncer   *DebouncerSpec
	Throttle    *ThrottleSpec
	Limiter     *LimiterSpec
	Clock       *ClockSpec
	Concurrency *ConcurrencySpec
	LeakyBucket *LeakyBucketSpec
	Quota       *QuotaSpec
}

// ZooMutants lists the zoo in the order of TestMutants, which shows that the suite
// catches each of them.
func ZooMutants(t *testing.T) []ZooMutant {
	t.Helper()
	golden, err := os.ReadFile("testdata/failures.golden")
	if err != nil {
		t.Fatal(err)
	}
	var out []ZooMutant
	add := func(m ZooMutant) {
		_, section, _ := strings.Cut(string(golden), "\n## "+m.Name+"\n\n"+m.Rule+":")
		section, _, _ = strings.Cut(section, "\n## ")
		if found := regexp.MustCompile(`ESCAPEMENT_SCHEDULE='([^']*)'`).FindStringSubmatch(section); found != nil {
			m.Smallest = found[1]
		}
		out = append(out, m)
	}
	for _, m := range debouncerMutants {
		spec := zooDebouncerSpec(m.name, Injected)
		add(ZooMutant{Name: m.name, Rule: m.rule, Debouncer: &spec})
	}
	for _, m := range edgeMutants {
		spec := zooEdgesSpec(m.name, Injected)
		add(ZooMutant{Name: m.name, Rule: m.rule, Debouncer: &spec})
	}
	for _, m := range onCallMutants {
		spec := zooOnCallSpec(m.name, Injected)
		add(ZooMutant{Name: "a bound on call: " + m.name, Rule: m.rule, Debouncer: &spec})
	}
	for _, m := range throttleMutants {
		spec := zooThrottleSpec(m.name, Injected)
		add(ZooMutant{Name: m.name, Rule: m.rule, Throttle: &spec})
	}
	for _, m := range plainMutants {
		spec := zooPlainSpec(m.name, Injected)
		add(ZooMutant{Name: m.name, Rule: m.rule, Throttle: &spec})
	}
	for _, m := range limiterMutants {
		spec := zooLimiterSpec(m.name, Explicit)
		add(ZooMutant{Name: m.name, Rule: m.rule, Limiter: &spec})
	}
	for _, m := range leakyMutants {
		spec := zooBucketSpec(m.name, Injected)
		add(ZooMutant{Name: m.name, Rule: m.rule, LeakyBucket: &spec})
	}
	for _, m := range quotaMutants {
		source := Explicit
		if m.rule == "X-LEAK" {
			source = Injected
		}
		spec := zooQuotaSpec(m.name, m.kind, source)
		add(ZooMutant{Name: m.kind.String() + ": " + m.name, Rule: m.rule, Quota: &spec})
	}
	for _, m := range concurrencyMutants {
		if m.rule == "CT-NOLOST" || m.rule == "X-CONC" {
			continue // whether a schedule shows it is chance
		}
		spec := zooQueueSpec(m.name, Injected)
		add(ZooMutant{Name: m.name, Rule: m.rule, Concurrency: &spec})
	}
	for _, m := range clockMutants {
		spec := zooClock(m.name, m.waits, m.mistake)
		add(ZooMutant{Name: m.name, Rule: m.rule, Clock: &spec})
	}
	return out
}

// ZooHonest lists correct implementations of other designs than the reference types of
// this module.
func ZooHonest() []ZooMutant {
	var out []ZooMutant
	for _, source := range []TimeSource{Injected, PackageTime} {
		for _, d := range debouncerDesigns(source) {
			spec := d.make()
			out = append(out, ZooMutant{Name: d.name + " " + source.String(), Debouncer: &spec})
		}
		for _, spec := range []DebouncerSpec{zooDebouncerSpec("", source), zooEdgesSpec("", source), zooOnCallSpec("", source), zooBatchSpec("", source)} {
			out = append(out, ZooMutant{Name: spec.Name + " " + source.String(), Debouncer: &spec})
		}
		for _, d := range throttleDesigns(source) {
			spec := d.make()
			out = append(out, ZooMutant{Name: d.name + " " + source.String(), Throttle: &spec})
		}
		for _, spec := range []ThrottleSpec{zooThrottleSpec("", source), zooStreamSpec("", source)} {
			out = append(out, ZooMutant{Name: spec.Name + " " + source.String(), Throttle: &spec})
		}
		for _, spec := range []LimiterSpec{zooLimiterSpec("", source), heldBucketSpec("", source), fifoBucketSpec("", source),
			tatBucketSpec(source), tickerBucketSpec("", source), retryBucketSpec(source)} {
			out = append(out, ZooMutant{Name: spec.Name + " " + source.String(), Limiter: &spec})
		}
		for _, spec := range []LeakyBucketSpec{zooBucketSpec("", source), zooSleeper(source), zooTicker(source),
			zooPeriods(source, false), zooPeriods(source, true), zooReserver(source), zooTurns(source, 0, ""), zooTurns(source, 3, "")} {
			out = append(out, ZooMutant{Name: spec.Name + " " + source.String(), LeakyBucket: &spec})
		}
		for _, spec := range []ConcurrencySpec{zooQueueSpec("", source), zooPermits("", source), zooChannelSpec(source), zooCondSpec(source), zooTokensSpec(source), zooSeatsSpec(source)} {
			out = append(out, ZooMutant{Name: spec.Name + " " + source.String(), Concurrency: &spec})
		}
	}
	for _, spec := range quotaZoo() {
		out = append(out, ZooMutant{Name: spec.Name, Quota: &spec})
	}
	for _, spec := range chosenDebouncers(choices()) {
		out = append(out, ZooMutant{Name: spec.Name, Debouncer: &spec})
	}
	for _, spec := range chosenThrottles(choices()) {
		out = append(out, ZooMutant{Name: spec.Name, Throttle: &spec})
	}
	for _, spec := range chosenLimiters(choices()) {
		out = append(out, ZooMutant{Name: spec.Name, Limiter: &spec})
	}
	for _, spec := range chosenWaits(choices()) {
		out = append(out, ZooMutant{Name: spec.Name, Limiter: &spec})
	}
	for _, spec := range chosenLeaky(choices()) {
		out = append(out, ZooMutant{Name: spec.Name, LeakyBucket: &spec})
	}
	for _, spec := range chosenQueues(choices()) {
		out = append(out, ZooMutant{Name: spec.Name, Concurrency: &spec})
	}
	for _, spec := range chosenQuotas(choices()) {
		out = append(out, ZooMutant{Name: spec.Name, Quota: &spec})
	}
	return out
}
