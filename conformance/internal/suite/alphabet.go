package suite

import (
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
)

// Epochs are the instants at which implementations keep sentinels or overflow.
var Epochs = []string{"0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2261-01-01T00:00:00Z", "3000-01-01T00:00:00Z"}

// Epochs are those of clocks that can start elsewhere, as package time cannot.
func (s *Suite) Epochs() []string {
	if s.Time == conformance.PackageTime {
		return nil
	}
	return Epochs
}

// The families of calls to two instances, and of calls with two keys.
const (
	Instances = "instances"
	Keys      = "keys"
)

// MustParse parses a schedule that is part of the suite, so that a mistake in it is a bug:
// it panics.
func MustParse(text string) conformance.Schedule {
	s, err := conformance.ParseSchedule(text)
	if err != nil {
		panic(err)
	}
	return s
}

// ParseAll is MustParse for several texts.
func ParseAll(texts ...string) []conformance.Schedule {
	out := make([]conformance.Schedule, len(texts))
	for i, text := range texts {
		out[i] = MustParse(text)
	}
	return out
}

// Plan is the schedule of these steps.
func Plan(cfg conformance.Config, steps ...conformance.Step) conformance.Schedule {
	return conformance.Schedule{Config: cfg, Steps: steps}
}

// Configured returns the configuration with the given keys, each followed by its value.
func Configured(keys ...string) conformance.Config {
	out := conformance.Config{}
	for i := 0; i < len(keys); i += 2 {
		out = out.With(keys[i], keys[i+1])
	}
	return out
}

// Around are the gaps around a deadline.
func Around(w time.Duration) []time.Duration { return []time.Duration{0, 1, w - 1, w, w + 1} }

// Of the longest schedules of some enumerations, if they have more than three steps and are many, every third is tried:
// those of which the numbers of what is chosen at each place add up to a multiple of thin. Whatever is chosen at all
// places but the last, there are some that begin like this.
const (
	many = 500
	thin = 3
)

// every says of how many schedules of n steps, with so many choices of the first and of each later one, one is tried.
func every(first, later, n int) int {
	if n > 3 && float64(first)*math.Pow(float64(later), float64(n-1)) > many {
		return thin
	}
	return 1
}

// Enumerate lists every schedule of up to depth steps over the operations and gaps, and of many of depth every third.
// The first step comes at 0; in schedules of three steps and more it is the first operation:
// the shorter ones show what may come before the first event. After an operation that ends
// the instance only that operation and the first one follow. Payloads count from 1.
func Enumerate(cfg conformance.Config, ops []conformance.Op, gaps []time.Duration, depth int) []conformance.Schedule {
	var out []conformance.Schedule
	nth := 1
	var grow func(steps []conformance.Step, calls, left, sum int)
	grow = func(steps []conformance.Step, calls, left, sum int) {
		if left == 0 {
			if sum%nth == 0 {
				out = append(out, conformance.Schedule{Config: cfg, Steps: slices.Clone(steps)})
			}
			return
		}
		stopped := slices.ContainsFunc(steps, func(s conformance.Step) bool { return s.Op.Ends() })
		choices := gaps
		if len(steps) == 0 {
			choices = []time.Duration{0}
		}
		for o, op := range ops {
			if len(steps) == 0 && depth > 2 && left > 2 && op != ops[0] || stopped && op != ops[0] && !op.Ends() {
				continue
			}
			for g, gap := range choices {
				s := conformance.Step{Op: op, At: gap}
				if len(steps) > 0 {
					s.At += steps[len(steps)-1].At
				}
				n := calls
				if op.Counts() {
					n++
					s.N = n
				}
				grow(append(steps, s), n, left-1, sum+o*len(choices)+g)
			}
		}
	}
	for n := 1; n < depth; n++ {
		grow(nil, 0, n, 0)
	}
	nth = every(1, len(ops)*len(gaps), depth)
	grow(nil, 0, depth, 0)
	return out
}

// Sequences lists every schedule of up to depth of the given steps with the given gaps
// between them.
func Sequences(
	cfg conformance.Config, steps []conformance.Step, gaps []time.Duration, depth int,
) (out []conformance.Schedule) {
	for n := 1; n <= depth; n++ {
		out = append(out, sequences(cfg, steps, gaps, n, 1)...)
	}
	return out
}

// EveryThird lists schedules of n of the given steps with the given gaps between them: of many every third.
func EveryThird(cfg conformance.Config, steps []conformance.Step, gaps []time.Duration, n int) []conformance.Schedule {
	return sequences(cfg, steps, gaps, n, every(len(steps), len(steps)*len(gaps), n))
}

// sequences lists one in nth of the schedules of n steps.
func sequences(
	cfg conformance.Config, steps []conformance.Step, gaps []time.Duration, n, nth int,
) (out []conformance.Schedule) {
	gaps = slices.Clone(gaps)
	slices.Sort(gaps)
	gaps = slices.Compact(gaps)
	var grow func(done []conformance.Step, sum int)
	grow = func(done []conformance.Step, sum int) {
		if len(done) == n {
			if sum%nth == 0 {
				out = append(out, conformance.Schedule{Config: cfg, Steps: slices.Clone(done)})
			}
			return
		}
		for i, s := range steps {
			if len(done) == 0 {
				grow(append(done, s), i)
				continue
			}
			for g, gap := range gaps {
				s.At = done[len(done)-1].At + gap
				grow(append(done, s), sum+i*len(gaps)+g)
			}
		}
	}
	grow(nil, 0)
	return out
}

// Numbered gives each step its place as its number.
func Numbered(all []conformance.Schedule) []conformance.Schedule {
	for _, s := range all {
		for i := range s.Steps {
			s.Steps[i].N = i + 1
		}
	}
	return all
}

// NumberedCalls numbers the payloads of each schedule from 1, and leaves other numbers
// alone.
func NumberedCalls(all []conformance.Schedule) []conformance.Schedule {
	for i, s := range all {
		all[i] = Renumbered(s)
	}
	return all
}

// Ending adds op to the end of each schedule, after each of the gaps.
func Ending(all []conformance.Schedule, op conformance.Op, gaps []time.Duration) []conformance.Schedule {
	var out []conformance.Schedule
	for _, s := range all {
		for _, gap := range gaps {
			at := s.Steps[len(s.Steps)-1].At + gap
			steps := append(slices.Clone(s.Steps), conformance.Step{Op: op, At: at})
			out = append(out, conformance.Schedule{Config: s.Config, Steps: steps})
		}
	}
	return out
}

// Having returns the schedules that have the operation as a step.
func Having(all []conformance.Schedule, op conformance.Op) []conformance.Schedule {
	has := Steps(op)
	return slices.DeleteFunc(all, func(s conformance.Schedule) bool { return !has(Job{Schedule: s}) })
}

// Later makes all of the schedules begin later.
func Later(all []conformance.Schedule, by time.Duration) []conformance.Schedule {
	for _, s := range all {
		for i := range s.Steps {
			s.Steps[i].At += by
		}
	}
	return all
}

// Idles are silences after which a counter of 32 bits has begun anew, a nanosecond before: one
// that counts nanoseconds, microseconds or milliseconds. To such a counter they are short.
var Idles = []time.Duration{
	1<<32 + 1, 1<<32*time.Microsecond + 1, 1<<32*time.Millisecond + 1,
}

// Between puts a row of steps before the step i of a schedule, at the instant of the one before that.
func Between(s conformance.Schedule, i int, row ...conformance.Step) conformance.Schedule {
	row = slices.Clone(row)
	for k := range row {
		row[k].At = s.Steps[i-1].At
	}
	return conformance.Schedule{Config: s.Config, Steps: slices.Concat(s.Steps[:i], row, s.Steps[i:])}
}

// DeBruijn returns a sequence of the numbers below k in which every pair of them stands
// side by side.
func DeBruijn(k int) []int {
	var out []int
	for a := range k { // the Lyndon words of length 1 and 2 in order
		out = append(out, a)
		for b := a + 1; b < k; b++ {
			out = append(out, a, b)
		}
	}
	return append(out, 0)
}

// The functions below are for the About of rules. As each rule asks of each run, they look at steps where they are: to
// copy them would take most of the time.

// Has selects the runs whose schedule has one of the operations, as a step or in a
// callback.
func Has(ops ...conformance.Op) func(Job) bool {
	return func(j Job) bool {
		return slices.Contains(ops, j.Schedule.Config.Inside) || hasStep(j.Schedule.Steps, ops)
	}
}

// Steps selects the runs whose schedule has the operation as a step.
func Steps(op conformance.Op) func(Job) bool {
	ops := []conformance.Op{op}
	return func(j Job) bool { return hasStep(j.Schedule.Steps, ops) }
}

func hasStep(steps []conformance.Step, ops []conformance.Op) bool {
	for i := range steps {
		if slices.Contains(ops, steps[i].Op) {
			return true
		}
	}
	return false
}

// Races selects the runs in which the operation races.
func Races(op conformance.Op) func(Job) bool {
	return func(j Job) bool {
		return slices.ContainsFunc(j.Schedule.Steps, func(s conformance.Step) bool { return s.Op == op && s.Racing })
	}
}

// GoesBack reports whether an instant is before one that came earlier.
func GoesBack(s conformance.Schedule) bool {
	return !slices.IsSortedFunc(s.Steps, func(a, b conformance.Step) int { return int(min(1, max(-1, a.At-b.At))) })
}

// InFamily selects the runs of one family.
func InFamily(name string) func(Job) bool { return func(j Job) bool { return j.Family == name } }

// Year is a year without a leap day.
const Year = 365 * 24 * time.Hour

// Century is what an implementation need not be able to count: more may be refused, or stand for never.
const Century = 100 * Year

// MostHours is the longest duration of whole hours.
const MostHours = math.MaxInt64 / time.Hour * time.Hour

// Last is the last instant at which a run ends: the fake clock and package time, whose runs begin in 2040,
// have none after it that can be counted. Events may come a second before, and what they bring 300ms later.
func Last(t conformance.TimeSource) time.Duration {
	if t == conformance.PackageTime {
		return 220 * Year
	}
	return math.MaxInt64 - Wait
}

// Until is when a run ends that has come to an instant and takes so long from there, or time's end.
func (s *Suite) Until(at, takes time.Duration) time.Duration {
	return max(at, min(Sum(at, takes), Last(s.Time)))
}

// OutOfTime reports whether time is over before the last step, and says of such a run that it is left out.
func (s *Stage) OutOfTime() bool {
	over := span(s.Schedule) > Last(s.Time)
	if over {
		s.Rec.Locked(func(rec *Recording) { rec.LeftOut = "time is over before its last step" })
	}
	return over
}

// Sum adds durations without overflow, unless both are negative.
func Sum(a, b time.Duration) time.Duration {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Times is n times d without overflow, for an n that is not negative.
func Times(n int, d time.Duration) time.Duration {
	if n > 0 && d > math.MaxInt64/time.Duration(n) {
		return math.MaxInt64
	}
	return time.Duration(n) * d
}
