package fakeclock_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/jonboulle/clockwork"
)

// A ticker that is the only one with a tick that was read does not pass through the queue, and a
// function that is over fires what comes next itself. Nobody can tell: with another ticker that is
// unread, or a function for events, the clock does neither, and the same happens.
func TestClock_shortcuts(t *testing.T) {
	seeds := uint64(500)
	if testing.Short() {
		seeds = 100
	}
	for seed := range seeds {
		want := newProgram(seed, fakeclock.New(fakeclock.WithEvents(func(fakeclock.Event) {})), true).run()
		for _, other := range []bool{false, true} {
			got := newProgram(seed, fakeclock.New(), other).run()
			for i := range max(len(got), len(want)) {
				if i >= len(got) || i >= len(want) || got[i] != want[i] {
					t.Fatalf("seed %d, another ticker %t: after\n%q\nit goes on with\n%q, want\n%q",
						seed, other, want[:min(i, len(want))], got[min(i, len(got)):], want[min(i, len(want)):])
				}
			}
		}
	}
}

// program is a random use of a clock by a test and by functions, of which one runs at a time.
type program struct {
	rng     *rand.Rand
	clock   *fakeclock.Clock
	first   time.Time
	timers  []clockwork.Timer
	tickers []clockwork.Ticker
	said    []string
}

func newProgram(seed uint64, clock *fakeclock.Clock, other bool) *program {
	if other {
		clock.NewTicker(1)
	}
	clock.Advance(1)
	p := &program{rng: rand.New(rand.NewPCG(seed, 0)), clock: clock, first: clock.Now()}
	for range seed % 3 {
		p.tickers = append(p.tickers, clock.NewTicker(p.delay()))
	}
	return p
}

func (p *program) run() []string {
	for range 50 {
		for range p.rng.IntN(4) {
			p.step(0)
		}
		if p.rng.IntN(4) == 0 {
			p.clock.AdvanceUntil(p.clock.Now().Add(p.delay()))
		} else {
			p.clock.Advance(p.delay())
		}
		p.say("arrived")
	}
	return p.said
}

// delay is short, so that many deadlines are equal.
func (p *program) delay() time.Duration { return time.Duration(1 + p.rng.IntN(8)) }

func (p *program) say(format string, args ...any) {
	p.said = append(p.said, fmt.Sprintf("%v: ", p.clock.Since(p.first))+fmt.Sprintf(format, args...))
}

// step does something to the clock, in a function that a timer has started at a depth.
func (p *program) step(depth int) {
	switch p.rng.IntN(8) {
	case 0, 1, 2:
		name := len(p.timers)
		p.timers = append(p.timers, p.clock.AfterFunc(p.delay(), func() { p.function(name, depth+1) }))
	case 3:
		p.timers = append(p.timers, p.clock.NewTimer(p.delay()))
	case 4:
		if len(p.timers) > 0 {
			p.say("Stop %t", p.timers[p.rng.IntN(len(p.timers))].Stop())
		}
	case 5:
		if len(p.tickers) > 0 && p.rng.IntN(3) == 0 {
			p.tickers[p.rng.IntN(len(p.tickers))].Reset(p.delay())
		}
	default:
		for i, ticker := range p.tickers {
			select {
			case at := <-ticker.Chan():
				p.say("ticker %d ticked at %v", i, at.Sub(p.first))
			default:
			}
		}
	}
}

// function is what a timer starts.
func (p *program) function(name, depth int) {
	p.say("%d begins", name)
	for range p.rng.IntN(3) {
		if depth < 3 {
			p.step(depth)
		}
	}
	if p.rng.IntN(4) == 0 {
		p.clock.Sleep(p.delay())
	}
	p.say("%d ends", name)
}
