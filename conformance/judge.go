package conformance

import (
	"hash/crc32"
	"slices"
	"testing"
	"time"

	"github.com/escapement-go/escapement/synctestcompat"
)

// Judge runs single schedules on an implementation and judges them by the rules of
// its contract. It is for tests that choose their own schedules: package properties
// draws them, and a regression test may hold the one that once failed.
//
// A Judge belongs to one test and must not be used by two goroutines at once, nor
// inside a bubble.
type Judge struct {
	c *contract
	// leaks says that something was left behind, so that each run looks for it. Else
	// only one schedule of eight does, by its text: a look takes longer than the run.
	leaks bool
}

// Violation is a rule that a schedule breaks.
type Violation struct {
	// Rule is the rule's ID.
	Rule string
	// Headline says what happened and what should have, in one line.
	Headline string
	// Text is what a failing subtest of the suite prints: the rule, the timeline and
	// how to replay the schedule.
	Text string
}

// JudgeDebouncer returns the judge of a debouncer.
func JudgeDebouncer(t *testing.T, spec DebouncerSpec) *Judge {
	t.Helper()
	return newJudge(debouncerContract(t, spec))
}

// JudgeThrottle returns the judge of a throttle.
func JudgeThrottle(t *testing.T, spec ThrottleSpec) *Judge {
	t.Helper()
	return newJudge(throttleContract(t, spec))
}

// JudgeLimiter returns the judge of a rate limiter.
func JudgeLimiter(t *testing.T, spec LimiterSpec) *Judge {
	t.Helper()
	return newJudge(limiterContract(t, spec))
}

// JudgeConcurrency returns the judge of a concurrency limiter.
func JudgeConcurrency(t *testing.T, spec ConcurrencySpec) *Judge {
	t.Helper()
	return newJudge(concurrencyContract(t, spec))
}

// JudgeLeakyBucket returns the judge of a leaky bucket.
func JudgeLeakyBucket(t *testing.T, spec LeakyBucketSpec) *Judge {
	t.Helper()
	return newJudge(leakyContract(t, spec))
}

// JudgeQuota returns the judge of a quota.
func JudgeQuota(t *testing.T, spec QuotaSpec) *Judge {
	t.Helper()
	return newJudge(quotaContract(t, spec))
}

// JudgeClock returns the judge of a fake clock.
func JudgeClock(t *testing.T, spec ClockSpec) *Judge {
	t.Helper()
	return newJudge(clockContract(t, spec))
}

// newJudge looks at the implementation as the suite does before it explores. Where the
// toolchain cannot run the contract it skips the test; a failing CANARY fails it.
func newJudge(c *contract) *Judge {
	c.t.Helper()
	alone.Lock()
	defer alone.Unlock()
	if why := c.unfit(); why != "" {
		c.t.Skip("conformance: " + why)
	}
	c.single, c.pkg = true, callerPackage()
	c.prepare()
	if why := c.canary(c); why != "" {
		c.t.Fatal("conformance: CANARY: " + why)
	}
	return &Judge{c: c}
}

// Accepts reports whether the implementation has an operation, so that schedules
// may use it.
func (j *Judge) Accepts(op Op) bool { return j.c.accepts(op) }

// Several reports whether a limiter or quota can be asked for more than one token at a time.
func (j *Judge) Several() bool { return j.c.accepts(opMany) }

// GivesUp reports whether a limiter has reservations that can be cancelled. A wait can be
// cancelled wherever it takes a context.
func (j *Judge) GivesUp() bool { return j.c.accepts(opGiveUp) }

// Run runs a schedule on fresh instances, in each order in which its racing steps can
// meet their timers, and returns the rules that it breaks, in the order of [Rules].
// Rules that are provisional are left out, and so are those of an undeclared trait. If a
// rule that is listed in KnownFailing breaks, or is about odd input that the schedule has,
// nothing is returned: what else is broken may be the same mistake. A run that makes no
// progress, for which no rule can be blamed, is logged.
func (j *Judge) Run(s Schedule) []Violation {
	c := j.c
	c.t.Helper()
	alone.Lock()
	defer alone.Unlock()
	c.reset()
	if slices.ContainsFunc(c.known, func(k Known) bool { return c.odd(k.Rule, s) }) {
		return nil
	}
	f := family{name: "replay", schedules: []Schedule{s}, look: j.leaks || crc32.ChecksumIEEE([]byte(s.String()))%8 == 0}
	if c.clk != nil {
		f.name = "CK-DIFF"
	}
	c.explore(f)
	var out []Violation
	for i := range c.rules {
		r, f := &c.rules[i], c.findings[c.rules[i].ID]
		if f == nil || r.Level == Provisional {
			continue
		}
		f.settleChances()
		if f.worst != nil && slices.ContainsFunc(c.known, func(k Known) bool { return k.Rule == r.ID }) {
			return nil
		}
		if f.worst != nil {
			j.leaks = j.leaks || r.ID == "X-LEAK"
			out = append(out, Violation{r.ID, f.worst.Headline, c.text(r, f.worst)})
		}
	}
	for _, id := range sortedKeys(c.stalls) {
		c.t.Logf("conformance: %s is inconclusive: %s", id, c.stalls[id])
	}
	return out
}

// Trace runs a schedule once on a fresh instance and returns what happened, without
// judging it: for laws that compare two runs. Steps do not race. It fails the test if
// the run makes no progress.
func (j *Judge) Trace(s Schedule) *Trace {
	c := j.c
	c.t.Helper()
	alone.Lock()
	defer alone.Unlock()
	c.reset()
	s.Steps = slices.Clone(s.Steps)
	for i := range s.Steps {
		s.Steps[i].Racing = false
	}
	var seen *Trace
	c.try(job{schedule: s}, 1, func(tr *Trace) { seen = tr })
	if seen == nil {
		c.t.Fatalf("conformance: Trace: a run made no progress: %s", s)
	}
	return seen
}

// Program returns a random schedule of n steps for a clock: the one that CK-DIFF runs for
// this seed.
func (j *Judge) Program(seed uint64, n int) Schedule {
	if j.c.clk == nil {
		panic("conformance: Program: the judge is of a " + j.c.kind + "; programs are for clocks, use JudgeClock")
	}
	return j.c.program(seed, n)
}

// Smallest makes a schedule that breaks a rule smaller, as long as it still breaks
// it: without steps, plainer configured, none racing, with rounder and fewer gaps. It
// returns s itself if that does not break the rule.
func (j *Judge) Smallest(s Schedule, rule string) Schedule {
	breaks := func(s Schedule) bool {
		return slices.ContainsFunc(j.Run(s), func(v Violation) bool { return v.Rule == rule })
	}
	for again := true; again; {
		again = false
		for _, try := range reductions(s) {
			try = j.c.tidied(try)
			if len(try.Steps) > 0 && smaller(try, s) < 0 && breaks(try) {
				s, again = try, true
				break
			}
		}
	}
	return s
}

// tidied makes a schedule legal from which steps were taken: requests and items are
// numbered in the order in which they are first heard of, and nothing is done to one
// that never comes.
func (c *contract) tidied(s Schedule) Schedule {
	switch {
	case c.clk != nil:
		return tidy(s)
	case c.con == nil && c.lky == nil:
		return s
	}
	comes := func(st Step) bool { return slices.Contains([]Op{OpPut, OpAcquire, OpTry, OpDo}, st.Op) }
	out, numbers := s.Steps[:0:0], map[int]int{}
	for i, st := range s.Steps {
		if !comes(st) && !slices.Contains([]Op{OpCancel, OpRelease, OpPanic, OpExit}, st.Op) {
			out = append(out, st)
			continue
		}
		// A context may be cancelled before its request comes.
		early := c.con != nil && st.Op == OpCancel && slices.ContainsFunc(s.Steps[i:], func(o Step) bool { return comes(o) && o.N == st.N })
		if numbers[st.N] == 0 && !comes(st) && !early {
			continue
		}
		if numbers[st.N] == 0 {
			numbers[st.N] = len(numbers) + 1
		}
		st.N = numbers[st.N]
		out = append(out, st)
	}
	s.Steps = out
	return s
}

// reductions lists simpler schedules, the boldest first.
func reductions(s Schedule) []Schedule {
	var out []Schedule
	add := func(change func(s *Schedule)) {
		t := Schedule{s.Config, slices.Clone(s.Steps)}
		change(&t)
		if len(t.Steps) > 0 {
			out = append(out, t)
		}
	}
	for n := len(s.Steps) / 2; n > 0; n /= 2 {
		for i := 0; i+n <= len(s.Steps); i += n {
			add(func(t *Schedule) { t.Steps = slices.Delete(t.Steps, i, i+n) })
			add(func(t *Schedule) { // and what comes after it comes earlier
				gap := t.Steps[i+n-1].At
				if i > 0 {
					gap -= t.Steps[i-1].At
				}
				t.Steps = slices.Delete(t.Steps, i, i+n)
				for k := i; k < len(t.Steps); k++ {
					t.Steps[k].At -= gap
				}
			})
		}
	}
	for _, key := range []string{"maxwait", "edges", "busy", "inside", "epoch"} { // the others are needed
		add(func(t *Schedule) { t.Config = t.Config.without(key) })
	}
	for i, st := range s.Steps {
		if st.Racing {
			add(func(t *Schedule) { t.Steps[i].Racing = false })
		}
	}
	seen := []time.Duration{0}
	for i := range s.Steps {
		before := time.Duration(0)
		if i > 0 {
			before = s.Steps[i-1].At
		}
		gap := s.Steps[i].At - before
		for _, g := range seen {
			add(func(t *Schedule) {
				for k := i; k < len(t.Steps); k++ {
					t.Steps[k].At += g - gap
				}
			})
		}
		if !slices.Contains(seen, gap) {
			seen = append(seen, gap)
		}
	}
	for i, st := range s.Steps {
		if want := callNumber(s.Steps, i); st.Op == OpCall && st.N != want {
			add(func(t *Schedule) { t.Steps[i].N = want })
		}
		if st.Op != OpCall && st.N > 1 && !slices.Contains([]Op{OpPut, OpAcquire, OpTry, OpDo}, st.Op) { // those have numbers of their own
			add(func(t *Schedule) { t.Steps[i].N = 1 })
		}
	}
	return out
}

// callNumber is the payload of step i if calls count from 1.
func callNumber(steps []Step, i int) int {
	n := 1
	for _, s := range steps[:i] {
		if s.Op == OpCall {
			n++
		}
	}
	return n
}

// without returns the configuration without one key.
func (c Config) without(key string) Config {
	var out Config
	for _, k := range configKeys {
		if k.name != key && c.has(k.name) {
			out = out.With(k.name, k.get(&c))
		}
	}
	return out
}

// Only reports whether no other keys are given than these.
func (c Config) Only(keys ...string) bool {
	return !slices.ContainsFunc(c.set, func(key string) bool { return !slices.Contains(keys, key) })
}

// prepare does what comes before any run.
func (c *contract) prepare() {
	c.schedules = map[string]bool{}
	c.reset()
	c.lab.bubble = c.time != Explicit && synctestcompat.Available
	c.learn()
}

// reset forgets what was found.
func (c *contract) reset() {
	clear(c.schedules)
	c.findings = map[string]*finding{}
	c.searches, c.basics = map[string]int{}, map[string]bool{}
	c.stopped = map[string]string{}
	c.stalls = map[string]string{}
	c.reentryHangs = false
}
