package limitertest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// idleTimes is how often a limiter is left alone in a schedule.
const idleTimes = 12

// idling lists schedules of limiters that are left alone again and again, each time for longer
// than they need to be full: what one idle time leaves over is too little to show, and is a token
// or the greater part of one once it has added up.
func (e *explorer) idling() []conformance.Schedule {
	var out []conformance.Schedule
	one := conformance.Step{Op: asking(e.Suite), N: 1}
	for burst := 1; burst <= 3; burst++ {
		cfg, full := limited("10/1s", burst), time.Duration(burst)*interval
		for _, gap := range []time.Duration{full + 2*interval, full + 5*interval/2, 20 * full, e.c.long(cfg)} {
			out = append(out, leftAlone(cfg, gap, one),
				leftAlone(cfg, gap, slices.Repeat([]conformance.Step{one}, burst+1)...))
			for _, between := range steps("tokens", "setlimit 10/1s", "reserve 1") {
				out = append(out, leftAlone(cfg, gap, one, between))
			}
		}
	}
	for _, rate := range []string{"1000/1s", "600000000/1s"} {
		cfg := limited(rate, 1)
		for _, gap := range []time.Duration{e.c.long(cfg) / 2, e.c.long(cfg)} {
			out = append(out, leftAlone(cfg, gap, one))
		}
	}
	return append(out, e.wrapping(one)...)
}

// wrapping lists schedules of limiters that are left alone until nanoseconds times rate are no number of 63 or 64 bits
// any more, and a little more than 0 as one.
func (e *explorer) wrapping(one conformance.Step) (out []conformance.Schedule) {
	if e.c.spec.Traits.Resolution > 0 {
		return nil // its ticker ticks all the while
	}
	for _, rate := range []uint64{10, 1000, 1_000_000} {
		for _, wraps := range []uint64{1 << 63 / rate, math.MaxUint64 / rate} {
			const burst = 3
			last := one
			last.At = time.Duration(wraps + 1)
			steps := append(slices.Repeat([]conformance.Step{one}, burst), last)
			out = append(out, suite.Plan(limited(fmt.Sprintf("%d/1s", rate), burst), steps...))
		}
	}
	return out
}

// owing lists schedules in which something is owed for days, or if the next request pays, for many
// years.
func (e *explorer) owing() []conformance.Schedule {
	head := []conformance.Step{{Op: asking(e.Suite), N: 1}}
	all := followed(limited("1/24h", 1), head, supported(e.Suite, steps("reserve 1", "wait 1")),
		[]time.Duration{0, 2 * time.Second, 5 * time.Hour}, 3)[1:]
	if !e.c.spec.Traits.Overdraft {
		return all
	}
	for _, debt := range []struct{ take, then string }{
		{"allow 33000", "allow 1,reserve 1"}, {"reserve 33000", "allow 1,reserve 1"}, // 90 years
		{"allow 73000", "allow 1"}, {"reserve 73000", "allow 1"}, // 200 years, which may be refused
	} {
		all = append(all, followed(limited("1/24h", 1), steps(debt.take),
			supported(e.Suite, steps(strings.Split(debt.then, ",")...)), []time.Duration{0, 25 * time.Hour}, 2)[1:]...)
	}
	return all
}

// leftAlone does something after each idle time. After the last it asks for more than the burst,
// and again a tenth of an interval before the next token.
func leftAlone(cfg conformance.Config, gap time.Duration, each ...conformance.Step) conformance.Schedule {
	s := suite.Plan(cfg)
	one, last := each[0], idleTimes*gap
	for i := range idleTimes {
		for _, st := range each {
			st.At = time.Duration(i) * gap
			s.Steps = append(s.Steps, st)
		}
	}
	one.At = last
	s.Steps = append(s.Steps, slices.Repeat([]conformance.Step{one}, cfg.Burst+1)...)
	one.At += cfg.Rate.Interval() * 9 / 10
	s.Steps = append(s.Steps, one)
	return s
}
