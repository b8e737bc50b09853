package leakybucket

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"

	lb "github.com/escapement-go/escapement/conformance/leakybuckettest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// turns blocks its callers until their turn.
type turns struct {
	clock    clockwork.Clock
	interval time.Duration
	slack    time.Duration // how long unused turns are kept
	most     int           // how many may wait
	mutant   string

	// near says that a turn is never further ahead than those who wait explain: a clock that was set back
	// holds nobody up.
	near  bool
	holds bool          // a lock while one of them sleeps
	done  chan struct{} // closed when it is stopped; nil if it cannot be

	mu      sync.Mutex
	used    bool
	next    time.Time
	waiting int
	closed  bool
	stopped bool
}

func newTurns(env lb.Env, cfg lb.Config, slack int, mutant string) *turns {
	return &turns{
		clock: env.Clock, interval: cfg.Interval, slack: time.Duration(slack) * cfg.Interval, most: math.MaxInt,
		mutant: mutant,
	}
}

// take turns away who finds as many waiting as may, who comes when it is closed, and everybody when it is stopped.
func (b *turns) take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return b.stopped && b.mutant == "a stop lets everybody pass"
	}
	now := b.clock.Now()
	if !b.used {
		b.used, b.next = true, now
	}
	if latest := now.Add(time.Duration(b.waiting+1) * b.interval); b.near && b.next.After(latest) {
		b.next = latest
	}
	oldest := now.Add(-b.slack)
	if b.mutant == "the slack is ten times as large" {
		oldest = now.Add(-10 * b.slack)
	}
	twice := b.mutant == "an interval of the slack counts twice" && oldest.After(b.next.Add(-b.interval))
	if oldest.After(b.next) || twice {
		b.next = oldest
	}
	d := b.next.Sub(now)
	if d > 0 && b.waiting >= b.most {
		return false
	}
	b.next = b.next.Add(b.interval)
	if d > 0 {
		return b.sleep(d)
	}
	return true
}

// sleep sleeps until a turn, and reports whether it has come.
func (b *turns) sleep(d time.Duration) bool {
	if !b.holds {
		b.waiting++
		b.mu.Unlock()
		defer func() {
			b.mu.Lock()
			b.waiting--
		}()
	}
	if b.done == nil {
		b.clock.Sleep(d)
		return true
	}
	if b.mutant == "who is stopped leaves his timer armed" {
		b.clock.NewTimer(d)
	}
	return zoo.Sleep(b.clock, d, b.done)
}

func (b *turns) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
}

func (b *turns) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.stopped {
		close(b.done)
	}
	b.closed, b.stopped = true, true
}

func turnsSpec(mutant string, source lb.TimeSource, slack int) lb.Spec {
	name := "zoo turns"
	if slack > 0 {
		name = "zoo turns with slack"
	}
	return lb.Spec{
		Name: name,
		Time: source,
		New: func(env lb.Env, cfg lb.Config, leave func(int)) lb.Funcs {
			b := newTurns(env, cfg, slack, mutant)
			if mutant == "" {
				return lb.Funcs{Take: b.take}
			}
			var waiting atomic.Int64
			return lb.Funcs{Put: func(v int) bool {
				if waiting.Add(1) > 4 && mutant == "no more than three wait" {
					waiting.Add(-1)
					return false
				}
				go func() { b.take(); waiting.Add(-1); leave(v) }()
				return true
			}}
		},
		Traits: lb.Traits{FirstItem: lb.FirstAtOnce, Slack: slack, Unbounded: true, ClockBack: lb.BackStands},
	}
}

// nearTurns are turns that are near, and saved since they were made.
func nearTurns(slack int) lb.Spec {
	spec := turnsSpec("", lb.Injected, slack)
	spec.Name = fmt.Sprintf("zoo turns that a clock holds up no longer than an interval, slack %d", slack)
	spec.New = func(env lb.Env, cfg lb.Config, _ func(int)) lb.Funcs {
		b := newTurns(env, cfg, slack, "")
		b.near, b.used, b.next = true, true, env.Clock.Now()
		return lb.Funcs{Take: b.take}
	}
	spec.Traits.ClockBack = lb.BackBounded
	return spec
}

// gateSpec has turns for which only some may wait, until it is closed or stopped.
func gateSpec(mutant string, source lb.TimeSource) lb.Spec {
	return lb.Spec{
		Name: "zoo gate",
		Time: source,
		New: func(env lb.Env, cfg lb.Config, _ func(int)) lb.Funcs {
			b := newTurns(env, cfg, 0, mutant)
			if b.most, b.done = cfg.Backlog, make(chan struct{}); mutant == "one more caller may wait" {
				b.most++
			}
			return lb.Funcs{Take: b.take, Close: b.close, Stop: b.stop}
		},
		Traits: lb.Traits{FirstItem: lb.FirstAtOnce, CloseFlush: lb.CloseAtDeadline, ClockBack: lb.BackStands},
	}
}

// asleep has turns, and holds its lock while one of its callers sleeps.
func asleep(source lb.TimeSource) lb.Spec {
	spec := turnsSpec("", source, 0)
	spec.Name = "zoo asleep with its lock"
	spec.New = func(env lb.Env, cfg lb.Config, _ func(int)) lb.Funcs {
		b := newTurns(env, cfg, 0, "")
		b.holds = true
		return lb.Funcs{Take: b.take}
	}
	spec.Traits.ClockBack, spec.Traits.HoldsLockWhileWaiting = 0, true
	return spec
}

// UndeclaredAsleep is that design without the declaration. Inlined into a test of the suite
// its functions would count as the suite's.
//
//go:noinline
func UndeclaredAsleep(source lb.TimeSource) lb.Spec {
	spec := asleep(source)
	spec.Traits.HoldsLockWhileWaiting = false
	return spec
}
