package properties

import (
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/escapement-go/escapement/conformance"
)

// FuzzDebouncer makes [CheckDebouncer] a native fuzz target. The input is the text of a
// schedule, and so is each entry of the corpus; what does not parse, or is no
// schedule that a generator could draw, is passed over.
func FuzzDebouncer(f *testing.F, spec conformance.DebouncerSpec) {
	f.Helper()
	fuzz(f, func(t *testing.T) subject {
		j := conformance.JudgeDebouncer(t, spec)
		return subject{j, Debouncers(j, spec), fitDebouncer(j, spec.Traits)}
	})
}

// FuzzThrottle is [FuzzDebouncer] for a throttle.
func FuzzThrottle(f *testing.F, spec conformance.ThrottleSpec) {
	f.Helper()
	fuzz(f, func(t *testing.T) subject {
		j := conformance.JudgeThrottle(t, spec)
		return subject{j, Throttles(j, spec), fitThrottle(j, spec.Traits)}
	})
}

// FuzzLimiter is [FuzzDebouncer] for a rate limiter.
func FuzzLimiter(f *testing.F, spec conformance.LimiterSpec) {
	f.Helper()
	fuzz(f, func(t *testing.T) subject {
		j := conformance.JudgeLimiter(t, spec)
		return subject{j, Limiters(j, spec), fitLimiter(j)}
	})
}

// FuzzConcurrency is [FuzzDebouncer] for a concurrency limiter.
func FuzzConcurrency(f *testing.F, spec conformance.ConcurrencySpec) {
	f.Helper()
	fuzz(f, func(t *testing.T) subject {
		j := conformance.JudgeConcurrency(t, spec)
		return subject{j, Concurrencies(j, spec), fitConcurrency(j, spec)}
	})
}

// FuzzLeakyBucket is [FuzzDebouncer] for a leaky bucket.
func FuzzLeakyBucket(f *testing.F, spec conformance.LeakyBucketSpec) {
	f.Helper()
	fuzz(f, func(t *testing.T) subject {
		j := conformance.JudgeLeakyBucket(t, spec)
		return subject{j, LeakyBuckets(j, spec), fitLeakyBucket(j, spec)}
	})
}

// FuzzQuota is [FuzzDebouncer] for a quota, of any kind.
func FuzzQuota(f *testing.F, spec conformance.QuotaSpec) {
	f.Helper()
	fuzz(f, func(t *testing.T) subject {
		j := conformance.JudgeQuota(t, spec)
		return subject{j, Quotas(j, spec), fitQuota(j, spec)}
	})
}

// subject is what a fuzz target runs.
type subject struct {
	judge     *conformance.Judge
	schedules *rapid.Generator[conformance.Schedule]
	// fit makes a schedule one that may be judged, or refuses it.
	fit func(s conformance.Schedule) bool
}

// seeds is the number of drawn schedules that a corpus starts with.
const seeds = 20

func fuzz(f *testing.F, of func(t *testing.T) subject) {
	f.Helper()
	for _, s := range corpus(of) {
		f.Add(s.String())
	}
	f.Fuzz(func(t *testing.T, text string) {
		x := of(t)
		if replay := os.Getenv("ESCAPEMENT_SCHEDULE"); replay != "" {
			text = replay
		}
		s, err := conformance.ParseSchedule(text)
		if err != nil || !x.fit(s) {
			t.Skip("no schedule for this contract")
		}
		report(t, x.judge, s)
	})
}

// corpus draws schedules for the implementation. A judge belongs to a test, which a
// fuzz test is not yet: this one is nobody's, and if the implementation cannot be judged
// there are no schedules, and the target says why.
func corpus(of func(t *testing.T) subject) []conformance.Schedule {
	var out []conformance.Schedule
	done := make(chan bool)
	go func() { // skipping and failing end the goroutine
		defer close(done)
		x := of(new(testing.T))
		for seed := 0; len(out) < seeds && seed < 10*seeds; seed++ {
			if s := x.schedules.Example(seed); x.fit(s) {
				out = append(out, s)
			}
		}
	}()
	<-done
	return out
}

// among reports whether a configuration is one that is drawn.
func among(configs []conformance.Config, cfg conformance.Config) bool {
	return slices.ContainsFunc(configs, func(c conformance.Config) bool { return c.String() == cfg.String() })
}

func report(t *testing.T, j *conformance.Judge, s conformance.Schedule) {
	t.Helper()
	for _, v := range j.Run(s) {
		t.Error("\n" + v.Text)
	}
}

// plain reports whether a schedule is short, goes forward, does only what is
// accepted, and numbers its calls from 1.
func plain(j *conformance.Judge, s conformance.Schedule, keys ...string) bool {
	if len(s.Steps) == 0 || len(s.Steps) > 3*most || !s.Config.Only(keys...) {
		return false
	}
	at, calls := time.Duration(0), 0
	for _, st := range s.Steps {
		if st.At < at || st.At > math.MaxInt64/8 || st.In != 0 || st.Racing || st.Op != conformance.OpIdle && !j.Accepts(st.Op) {
			return false
		}
		at = st.At
		if st.Op == conformance.OpCall {
			if calls++; st.N != calls {
				return false
			}
		}
	}
	return true
}

// between reports whether d is a length that timers can be made of.
func between(d time.Duration) bool { return d >= time.Microsecond && d <= 10_000*time.Hour }

func fitDebouncer(j *conformance.Judge, traits conformance.DebounceTraits) func(conformance.Schedule) bool {
	return func(s conformance.Schedule) bool {
		c := s.Config
		edges := c.Edges
		if edges == 0 {
			edges = conformance.Trailing
		}
		bound := c.MaxWait == 0 || traits.MaxWait != 0 && c.Edges == 0 && c.MaxWait >= c.Wait && between(c.MaxWait)
		stop := slices.IndexFunc(s.Steps, func(st conformance.Step) bool { return st.Op == conformance.OpStop })
		after := stop >= 0 && slices.ContainsFunc(s.Steps[stop:], func(st conformance.Step) bool {
			return st.Op != conformance.OpStop && st.Op != conformance.OpCall
		})
		return plain(j, s, "wait", "maxwait", "edges") && between(c.Wait) && bound && slices.Contains(traits.Edges, edges) && !after
	}
}

func fitThrottle(j *conformance.Judge, traits conformance.ThrottleTraits) func(conformance.Schedule) bool {
	return func(s conformance.Schedule) bool {
		resets := slices.ContainsFunc(s.Steps, func(st conformance.Step) bool { return st.Op != conformance.OpCall })
		return plain(j, s, "interval", "edges") && between(s.Config.Interval) && slices.Contains(traits.Edges, s.Config.Edges) &&
			(!resets || s.Config.Edges == conformance.Leading)
	}
}

func fitLimiter(j *conformance.Judge) func(conformance.Schedule) bool {
	return func(s conformance.Schedule) bool {
		c := s.Config
		if !plain(j, s, "rate", "burst") || c.Rate.Events < 1 || c.Rate.Events > 1e9 || c.Rate.Per < 1 || c.Rate.Per > 24*time.Hour ||
			c.Rate.Interval() < 1 || c.Burst < 1 || c.Burst > 1000 {
			return false
		}
		return !slices.ContainsFunc(s.Steps, func(st conformance.Step) bool {
			odd := st.N < 1 || st.N > c.Burst || st.N > 1 && !j.Several()
			return (st.Op == conformance.OpAllow || st.Op == conformance.OpReserve) && odd || st.Op == conformance.OpWait && st.N != 1 ||
				st.Op == conformance.OpSetLimit && (st.Rate.Events < 1 || st.Rate.Per < 1) || st.Op == conformance.OpSetBurst && (st.N < 1 || st.N > 1000) ||
				st.Op == conformance.OpCancel && (st.N < 1 || !j.GivesUp())
		})
	}
}

func fitConcurrency(j *conformance.Judge, spec conformance.ConcurrencySpec) func(conformance.Schedule) bool {
	configs := crowds(spec)
	return func(s conformance.Schedule) bool {
		if !among(configs, s.Config) || !plain(j, s, "limit", "backlog", "timeout", "epoch") {
			return false
		}
		c := crowd{gone: map[int]bool{}}
		at, together := time.Duration(0), 0
		for _, st := range s.Steps {
			switch st.Op {
			case conformance.OpAcquire, conformance.OpTry, conformance.OpDo:
				if together++; st.At > at {
					together = 1
				}
				at = st.At
				weighs := st.K != 0 && (spec.Traits.Single || st.Op == conformance.OpDo || st.K < 2 || st.K > s.Config.Limit)
				if together > 5 || weighs || st.D != 0 || st.N != c.enter(st.Op) {
					return false
				}
			case conformance.OpRelease, conformance.OpPanic, conformance.OpExit:
				i := slices.Index(c.live, st.N)
				if i < 0 || i >= s.Config.Limit || st.N != c.leave(st.Op, i, s.Config.Limit) {
					return false
				}
			case conformance.OpCancel:
				if len(c.came)-st.N > 3 || st.N != c.cancel(len(c.came)-st.N, false) {
					return false
				}
			case conformance.OpResize:
				if st.N < 1 || st.N > 4 {
					return false
				}
			}
		}
		return true
	}
}

func fitLeakyBucket(j *conformance.Judge, spec conformance.LeakyBucketSpec) func(conformance.Schedule) bool {
	configs := buckets(spec)
	return func(s conformance.Schedule) bool {
		if !among(configs, s.Config) || !plain(j, s, "interval", "backlog", "epoch") {
			return false
		}
		items, closed := 0, false
		for _, st := range s.Steps {
			switch {
			case st.Op == conformance.OpPut:
				if items++; st.N != items {
					return false
				}
			case closed, st.Op == conformance.OpCancel && (st.N < 1 || st.N > items), st.Op != conformance.OpCancel && items == 0:
				return false
			}
			closed = closed || st.Op == conformance.OpClose
		}
		return true
	}
}

func fitQuota(j *conformance.Judge, spec conformance.QuotaSpec) func(conformance.Schedule) bool {
	configs := quotas(spec.Kind)
	return func(s conformance.Schedule) bool {
		most := s.Config.Rate.Events
		if spec.Kind == conformance.GCRA {
			most = s.Config.Burst
		}
		return among(configs, s.Config) && plain(j, s, "rate", "burst") && !slices.ContainsFunc(s.Steps, func(st conformance.Step) bool {
			return st.Op == conformance.OpAllow && (st.N < 1 || st.N > most || st.N > 1 && !j.Several())
		})
	}
}
