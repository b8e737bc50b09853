package clocktest

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/conformance/internal/trait"
	"github.com/escapement-go/escapement/internal/goroutine"
	"github.com/escapement-go/escapement/internal/verb"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Traits are the choices on which fake clocks differ. The zero value of Waits is
// "undeclared"; the others are for clocks that can do less.
type Traits struct {
	// Waits says what Advance waits for before it fires the next timer and before it
	// returns.
	Waits Waits
	// Reentrancy says whether a function may use the clock. ReentrancyForbidden is for a clock
	// that runs functions under its own lock: functions do nothing then.
	Reentrancy Reentrancy
	// OnAdvance says that functions run on the goroutine that advances the clock, or that
	// arms a timer which is due. They do not sleep then.
	OnAdvance bool
	// OneGoroutine says that the clock's documentation restricts it to one goroutine at a
	// time. X-RACE is skipped.
	OneGoroutine bool
}

// Reentrancy says whether a function may use the clock; see package conformance.
type Reentrancy = trait.Reentrancy

// The choices.
const (
	ReentrancyAllowed   = trait.ReentrancyAllowed   // as if nothing were declared
	ReentrancyForbidden = trait.ReentrancyForbidden // documented to deadlock
)

// Waits says what Advance waits for.
type Waits int

// The choices. Package time in a bubble waits for everything; a clock that declares less is
// not judged on what it does not wait for.
const (
	// WaitsForAll: for every goroutine that a timer wakes or starts, until it blocks. Only
	// possible with Env.Settle or something like it.
	WaitsForAll Waits = iota + 1
	// WaitsForFunctions: for the functions of AfterFunc, but not for goroutines that
	// receive from channels or sleep.
	WaitsForFunctions
	// WaitsForNothing: Advance may return, and fire later timers, before anything that it
	// started has run.
	WaitsForNothing
)

var waits = []string{"WaitsForAll", "WaitsForFunctions", "WaitsForNothing"}

// String returns the name of the constant.
func (w Waits) String() string {
	if w < WaitsForAll || w > WaitsForNothing {
		return "undeclared"
	}
	return waits[w-1]
}

// Traits are those of the spec, and those completed by what was found.
func (c *contract) Traits() (declared, complete *Traits) { return &c.spec.Traits, &c.traits }

// Table lists the choices. What Advance waits for can be observed, so that it is not offered as
// an explanation of a failure; a function that hangs says itself what may be declared.
func (c *contract) Table(s *suite.Suite, tr *Traits) []suite.Choice {
	spec, learnt := c.spec.Traits, c.learnt
	reentrancy := edge.Choice(&tr.Reentrancy, suite.Choice{
		Name: "Reentrancy", Order: suite.Ranked(2), Apart: true, Sure: true,
		Observe: func() int { seen, _ := c.observeFunction(s); return int(seen) },
	},
		"ReentrancyAllowed", "functions may use the clock",
		"ReentrancyForbidden", "functions must not use the clock")
	onAdvance := edge.Flag(&tr.OnAdvance, suite.Choice{Name: "OnAdvance", Values: []string{"true"}, Apart: true},
		func() bool { _, on := c.observeFunction(s); return on },
		"functions run on the goroutine that advances the clock, so they must not sleep")
	return []suite.Choice{
		edge.Choice(&tr.Waits, suite.Choice{
			Name: "Waits", Values: waits, Order: suite.Ranked(len(waits)), Apart: true, Sure: true,
			Means: []string{"Advance waits for every goroutine that a timer wakes", "Advance waits for functions only",
				"Advance waits for nothing"},
			Needless: func() bool { return !s.Accepts(verb.AfterFunc) },
			Observe:  func() int { waits, _ := c.awaited(s); return int(waits) },
		}),
		edge.Learnt(reentrancy, tr.Reentrancy, spec.Reentrancy, learnt.Reentrancy),
		edge.Learnt(onAdvance, tr.OnAdvance, spec.OnAdvance, learnt.OnAdvance),
		edge.Flag(&tr.OneGoroutine, suite.Choice{Name: "OneGoroutine"}, nil,
			"its documentation says that it is for one goroutine at a time"),
	}
}

// forbids is why rules about what functions do with the clock are skipped, "" if they are not.
func (tr *Traits) forbids() string {
	return suite.If(tr.Reentrancy == ReentrancyForbidden, "declared: ReentrancyForbidden")
}

// observeFunction observes a function that the clock runs: whether another goroutine gets an answer of the clock
// meanwhile, as it is forbidden to use the clock there if not, and whether it runs on the goroutine that advances.
func (c *contract) observeFunction(s *suite.Suite) (Reentrancy, bool) {
	var answered, onAdvance atomic.Bool
	var seen atomic.Int64
	defer suite.OneProcessor()() // so that the other goroutine has its turn
	s.InBubble(func() {
		f := c.spec.New(Env{Settle: synctestcompat.Wait})
		if f.AfterFunc == nil {
			return
		}
		own := goroutine.ID()
		f.AfterFunc(time.Second, func() {
			onAdvance.Store(goroutine.ID() == own)
			seen.Store(int64(ReentrancyForbidden))
			suite.Start(func() {
				f.Now()
				answered.Store(true)
			})
			for range 100 {
				runtime.Gosched()
			}
			if answered.Load() {
				seen.Store(int64(ReentrancyAllowed))
			}
		})
		f.Advance(time.Second)
		synctestcompat.Wait()
	})
	return Reentrancy(seen.Load()), onAdvance.Load()
}
