package clocktest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// crowd is a program of many functions, timers or tickers while it is written.
type crowd struct {
	kind  conformance.Op
	unit  time.Duration
	steps []conformance.Step
	at    int   // how many units have passed
	dues  []int // of each that was armed, in units; 0 if it was stopped
}

// do adds a step that concerns number n, in d units.
func (c *crowd) do(op conformance.Op, n, d int) {
	at, length := time.Duration(c.at)*c.unit, time.Duration(d)*c.unit
	c.steps = append(c.steps, conformance.Step{Op: op, N: n, D: length, At: at})
}

func (c *crowd) arm(d int) {
	c.dues = append(c.dues, c.at+d)
	c.do(c.kind, len(c.dues), d)
}

// armLate arms some that are due after all others, in this order.
func (c *crowd) armLate(some int) {
	last := slices.Max(c.dues)
	for i := range some {
		c.arm(last + 1 + i - c.at)
	}
}

func (c *crowd) halt(n int) {
	c.dues[n-1] = 0
	c.do(verb.Halt, n, 0)
}

func (c *crowd) rearm(n, d int) {
	c.dues[n-1] = c.at + d
	c.do(verb.Rearm, n, d)
}

// idle lets time pass, and receives from the timers that came due.
func (c *crowd) idle(d int) {
	c.at += d
	c.do(verb.Idle, 0, d)
	if c.kind == verb.AfterFunc {
		return
	}
	for i, due := range c.dues {
		if c.at-d < due && due <= c.at {
			c.do(verb.Read, i+1, 0)
		}
	}
}

// ended lets time pass in five parts until all have fired.
func (c *crowd) ended() conformance.Schedule {
	part := (slices.Max(c.dues)-c.at)/5 + 1
	for range 5 {
		c.idle(part)
	}
	return conformance.Schedule{Steps: c.steps}
}

// crowds are so many programs in which functions, or timers, are armed in a random order and then more are armed,
// and those that are armed are stopped or reset, while the clock moves on.
func crowds(programs int, kind conformance.Op, size, changes int) []conformance.Schedule {
	var out []conformance.Schedule
	for seed := range uint64(programs) {
		random := rand.New(rand.NewPCG(seed, uint64(size)))
		c := &crowd{kind: kind, unit: second}
		span := 4 * size
		for range size {
			c.arm(1 + random.IntN(span))
		}
		for range changes {
			n := 1 + random.IntN(len(c.dues))
			armed := c.dues[n-1] > c.at
			switch change := random.IntN(6); {
			case armed && (change < 1 || change < 3 && seed%2 == 1): // not every timer can be reset
				c.halt(n)
			case armed && change < 3:
				c.rearm(n, 1+random.IntN(span))
			case change < 5:
				c.arm(1 + random.IntN(span))
			default:
				c.idle(1 + random.IntN(8))
			}
		}
		out = append(out, c.ended())
	}
	return out
}

// gaps stop a function in a heap of so many branches whose last is in another branch, and may be due before what
// is above the gap; and one that has branches, and beside it one under another, where the last comes after all of
// them. Others are armed then, so that the last is not the last any more and stays where it was put. The clock
// stops before what is above the gap is due, which may hide what is due sooner.
func gaps() []conformance.Schedule {
	var out []conformance.Schedule
	for _, k := range []struct{ branches, least, most int }{{2, 5, 9}, {4, 9, 16}, {8, 17, 19}} {
		for size := k.least; size <= k.most; size++ {
			for i := 1; i < size-1; i++ {
				if !above(k.branches, (i-1)/k.branches, size-1) {
					out = append(out, gap(k.branches, size, i, 0, false))
				}
			}
		}
	}
	for _, k := range []struct{ branches, size int }{{2, 15}, {4, 42}} {
		for i := k.branches; i*k.branches+1 < k.size; i += k.branches {
			out = append(out, gap(k.branches, k.size, i, 16, false), gap(k.branches, k.size, i, 16, true))
		}
	}
	return out
}

// above reports whether place i of a heap is above place k.
func above(branches, i, k int) bool {
	for k > 0 {
		if k = (k - 1) / branches; k == i {
			return true
		}
	}
	return false
}

// gap makes a gap at a place of a heap to which late ones are added. If twice, the functions are armed in
// the order in which they are due, and then reset to be due where they are in the heap.
func gap(branches, size, place, late int, twice bool) conformance.Schedule {
	c := &crowd{kind: verb.AfterFunc, unit: second}
	for i, due := range heap(branches, size) {
		if !twice {
			c.arm(due)
			continue
		}
		c.arm(1)
		c.steps[len(c.steps)-1].D = time.Duration(i + 1)
		c.rearm(i+1, due)
	}
	c.armLate(late)
	c.halt(place + 1)
	c.armLate(5)
	if hides := c.dues[(place-1)/branches]; hides > 1 {
		c.idle(hides - 1)
	}
	return c.ended()
}

// denseTicks are tickers of a few nanoseconds, which are read while something else is due at every other
// nanosecond, or also stopped and reset at the instants at which they are read.
func denseTicks(programs int, ops ...conformance.Op) []conformance.Schedule {
	var out []conformance.Schedule
	for seed := range uint64(programs) {
		random := rand.New(rand.NewPCG(seed, uint64(len(ops))))
		c := &crowd{kind: verb.Ticker, unit: 1}
		c.arm(2 + random.IntN(9))
		c.arm(2 + random.IntN(9))
		for n := range 8 {
			c.do(verb.Timer, 3+n, 1+random.IntN(30))
		}
		for c.at < 30 {
			c.at += 1 + random.IntN(4)
			n := 1 + random.IntN(2)
			c.do(verb.Read, n, 0)
			if k := random.IntN(5); k < len(ops) {
				c.do(ops[k], n, 2+random.IntN(9))
			}
		}
		c.do(verb.Halt, 1, 0)
		c.do(verb.Halt, 2, 0)
		out = append(out, conformance.Schedule{Steps: c.steps})
	}
	return out
}

// ticksInTurn receive from a ticker of 10ns in the turn of who, again and again, a nanosecond before or after a
// tick, alone or while others are due in the next two nanoseconds. The texts make who, for the first time and for
// the times after it.
func ticksInTurn(first, again string) []conformance.Schedule {
	var out []conformance.Schedule
	for _, at := range []int{9, 11, 19, 21, 29} {
		for _, gap := range []int{10, 20} {
			text := fmt.Sprintf("ticker 1 10ns @0 | "+first+" | read 1 @f2 | "+again, at, gap)
			end := " | idle 55ns | halt 1 @55ns"
			others := fmt.Sprintf(" | timer 3 %dns @0 | timer 4 %dns @0", at+1, at+2)
			out = append(out, suite.ParseAll(text+end, text+others+end)...)
		}
	}
	return out
}
