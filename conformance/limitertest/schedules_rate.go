package limitertest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// rates makes schedules of limiters whose rate or burst is very small or very large.
type rates struct {
	*suite.Suite
	ask  conformance.Op
	full bool               // a new limiter holds its burst
	take []conformance.Step // ways to take a token
	hour time.Duration      // a long time
	more bool               // more than the burst is granted, and paid for later
}

// rateFamilies lists what is explored of very small and very large rates and bursts.
func (c *contract) rateFamilies(s *suite.Suite) []suite.Family {
	r := rates{Suite: s, ask: asking(s), full: c.spec.Traits.Initial == InitialFull, hour: time.Hour,
		more: c.spec.Traits.Oversize == OversizePrepaid}
	if c.spec.Traits.Resolution > 0 { // its ticker ticks through all of it
		r.hour = time.Second
	}
	if r.ask == "" {
		r.ask = verb.Wait
	}
	r.take = supported(s, []conformance.Step{{Op: r.ask, N: 1}, {Op: verb.Reserve, N: 1}})
	out := []suite.Family{
		{Name: "tiny rates", Schedules: r.tiny()},
		{Name: "tiny rates", Schedules: r.tinyWaits()},
		{Name: "huge rates", Schedules: r.huge()},
		{Name: "huge rates", Schedules: r.looks()},
		{Name: "no rate", Schedules: r.none()},
		{Name: "odd bursts", Schedules: r.oddBursts()},
	}
	return slices.DeleteFunc(out, func(f suite.Family) bool { return len(f.Schedules) == 0 })
}

// tinyRates are those of a token in a hundred years and more.
var tinyRates = []string{
	"1/2562047h47m16.854775807s", "1/1281023h53m38.427387904s", "1/876000h", "3/2562047h47m16.854775807s",
}

func (r rates) tiny() []conformance.Schedule {
	if r.ask != verb.Allow {
		return nil
	}
	var out, often []conformance.Schedule
	for _, rate := range tinyRates {
		for _, burst := range []int{1, 2, 3, 5} {
			cfg := limited(rate, burst)
			if burst < 3 {
				out = append(out, suite.Sequences(cfg, r.take, []time.Duration{0, r.hour}, 3)...)
			}
			often = append(often, again(r.Suite, cfg, r.ask, 0, r.hour)...)
		}
	}
	if r.Accepts(verb.Reserve) && r.Accepts(opSeveral) { // together they are for more than three hundred years
		claims := strings.Repeat(" | reserve 3 @0", 5)
		out = append(out, suite.MustParse("rate=1/200000h burst=3"+claims+" | allow 3 @0"))
	}
	return append(out, often...)
}

// tinyWaits waits for no more than the burst, which is there.
func (r rates) tinyWaits() []conformance.Schedule {
	if !r.full || !r.Accepts(verb.Wait) {
		return nil
	}
	some := supported(r.Suite, steps("allow 1", "wait 1"))
	var out []conformance.Schedule
	for _, rate := range tinyRates {
		for burst := 1; burst <= 2; burst++ {
			out = append(out, suite.Sequences(limited(rate, burst), some, []time.Duration{0, r.hour}, burst)...)
		}
	}
	return out
}

func (r rates) huge() []conformance.Schedule {
	var out, often []conformance.Schedule
	for _, rate := range []string{"1/1ns", "1500000000/1s", "2000000000/1s", "2000000000/1ms", "2000000000/1ns"} {
		for _, burst := range []int{1, 3} {
			cfg := limited(rate, burst)
			out = append(out, suite.Sequences(cfg, r.take, []time.Duration{0, 1, 2}, 3)...)
			often = append(often, again(r.Suite, cfg, r.ask, 0, 1)...)
		}
	}
	return append(out, often...)
}

// looks asks a full limiter each nanosecond for more than it may ever hold, or how many tokens there are,
// and then for all that there is: a look brings nothing, not even the smallest unit.
func (r rates) looks() []conformance.Schedule {
	if r.ask != verb.Allow {
		return nil
	}
	var out []conformance.Schedule
	for _, burst := range []int{1, 3} {
		cfg := limited("1/3ns", burst)
		for _, look := range supported(r.Suite, steps(fmt.Sprintf("allow %d", burst+1), "allow 0", "tokens")) {
			s := suite.Plan(cfg)
			for i := range 9 {
				look.At = time.Duration(i)
				s.Steps = append(s.Steps, look)
			}
			one := conformance.Step{Op: r.ask, N: 1, At: 8}
			s.Steps = append(s.Steps, slices.Repeat([]conformance.Step{one}, burst+6)...)
			out = append(out, s)
		}
	}
	return out
}

// none asks limiters to which no token ever comes.
func (r rates) none() []conformance.Schedule {
	var out []conformance.Schedule
	some := supported(r.Suite, steps("allow 1", "wait 1 1s"))
	for _, burst := range []int{1, 3} {
		out = append(out, suite.Sequences(limited("0/1s", burst), some, []time.Duration{0, 1000 * r.hour}, 4)...)
	}
	if r.more && r.ask == verb.Allow {
		out = append(out,
			suite.Sequences(limited("0/1s", 2), steps("allow 3", "allow 1"), []time.Duration{0, r.hour}, 3)...)
	}
	if reserving := supported(r.Suite, steps("reserve 1", "reserve 2", "allow 1")); len(reserving) == 3 {
		out = append(out, suite.Sequences(limited("0/1s", 2), reserving, []time.Duration{0}, 4)...)
	}
	return out
}

// oddBursts asks limiters whose burst is none, or so large that what comes of it overflows at one rate or
// another. Who can only wait is asked for what such a burst holds. How many tokens there are is asked only
// where that is a whole number in floating point, as adapters convert it.
func (r rates) oddBursts() []conformance.Schedule {
	bursts, some := []int{math.MaxInt32, math.MaxInt / 8 * 3, math.MaxInt/2 + 1, math.MaxInt}, steps("wait 1")
	var out []conformance.Schedule
	if r.ask == verb.Allow {
		bursts, some = append(bursts, 0, -1, math.MinInt32), steps("allow 1", "reserve 1", "tokens")
	} else {
		out = suite.Sequences(limited("1/1s", 0), some, []time.Duration{0, time.Second}, 4)
		if !r.full {
			return out
		}
	}
	for _, burst := range bursts {
		for _, rate := range []string{"10/1s", "7/29s", "7/31s", "2000000000/1ns", "1/2562047h47m16.854775807s"} {
			each := slices.DeleteFunc(supported(r.Suite, slices.Clone(some)), func(st conformance.Step) bool {
				return st.Op == verb.Tokens && burst > math.MaxInt32
			})
			out = append(out, suite.Sequences(limited(rate, burst), each, []time.Duration{0, r.hour}, 3)...)
		}
	}
	return out
}
