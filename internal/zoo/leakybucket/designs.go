package leakybucket

import (
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	lb "github.com/escapement-go/escapement/conformance/leakybuckettest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// sleepsOn is a mistake of which nothing is left once the interval is over.
const sleepsOn = "a stop does not wake who sleeps"

// sleeper is a goroutine that takes an item from a channel and sleeps after each.
func sleeper(mutant string, source lb.TimeSource) lb.Spec {
	return lb.Spec{
		Name: "zoo sleeper",
		Time: source,
		New: func(env lb.Env, cfg lb.Config, leave func(int)) lb.Funcs {
			in, done := make(chan int, cfg.Backlog), make(chan struct{})
			wakes := done
			if mutant == sleepsOn {
				wakes = nil
			}
			go func() {
				for {
					select {
					case v := <-in:
						leave(v)
					case <-done:
						return
					}
					if !zoo.Sleep(env.Clock, cfg.Interval, wakes) {
						return
					}
				}
			}()
			end := sync.OnceFunc(func() { close(done) })
			return lb.Funcs{Put: func(v int) bool {
				select {
				case <-done:
					return false
				default:
					return zoo.Offer(in, v)
				}
			}, Close: end, Stop: end}
		},
		Traits: lb.Traits{FirstItem: lb.FirstAtOnce, CloseFlush: lb.CloseDrops, ClockBack: lb.BackBounded},
	}
}

// ticker lets an item leave with each tick.
func ticker(source lb.TimeSource) lb.Spec {
	return lb.Spec{
		Name: "zoo ticker",
		Time: source,
		New: func(env lb.Env, cfg lb.Config, leave func(int)) lb.Funcs {
			in := make(chan int, cfg.Backlog)
			stop := zoo.OnTicks(env.Clock.NewTicker(cfg.Interval), func() {
				if v, ok := zoo.Poll(in); ok {
					leave(v)
				}
			})
			return lb.Funcs{Put: func(v int) bool { return zoo.Offer(in, v) }, Stop: stop}
		},
		Traits: lb.Traits{FirstItem: lb.FirstOnGrid},
	}
}

// periods lets an item leave with each period: the first one begins with the first item, and they go on as long as
// there are any.
type periods struct {
	clock clockwork.Clock
	cfg   lb.Config
	leave func(int)
	lazy  bool // they go on until a period ends in which none came
	// serial says that the first item leaves as it comes, and the function runs for one item at a time, under a lock
	// of its own: one that takes its time holds up the timer's, which waits for that lock.
	serial bool

	mu, runs sync.Mutex
	queue    []int
	running  bool
	stopped  bool
	timer    clockwork.Timer
}

func (b *periods) put(v int) bool {
	b.mu.Lock()
	atOnce := b.serial && !b.running
	if b.stopped || !atOnce && len(b.queue) >= b.cfg.Backlog {
		b.mu.Unlock()
		return false
	}
	b.queue = append(b.queue, v)
	switch {
	case atOnce:
		b.next()
		return true
	case !b.running:
		b.begin()
	}
	b.mu.Unlock()
	return true
}

// begin begins a period.
func (b *periods) begin() {
	b.running = true
	b.timer = b.clock.AfterFunc(b.cfg.Interval, func() {
		b.mu.Lock()
		b.next()
	})
}

// next unlocks the queue and lets its first item leave.
func (b *periods) next() {
	b.running = false
	if len(b.queue) == 0 {
		b.mu.Unlock()
		return
	}
	v := b.queue[0]
	if b.queue = b.queue[1:]; b.lazy || len(b.queue) > 0 {
		b.begin()
	}
	b.mu.Unlock()
	if b.serial {
		b.runs.Lock()
		defer b.runs.Unlock()
	}
	b.leave(v)
}

func (b *periods) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped, b.queue = true, nil
	if b.timer != nil {
		b.timer.Stop()
	}
}

func periodsSpec(source lb.TimeSource, lazy bool) lb.Spec {
	name := "zoo periods"
	if lazy {
		name = "zoo lazy periods"
	}
	return lb.Spec{
		Name: name,
		Time: source,
		New: func(env lb.Env, cfg lb.Config, leave func(int)) lb.Funcs {
			b := &periods{clock: env.Clock, cfg: cfg, leave: leave, lazy: lazy}
			return lb.Funcs{Put: b.put}
		},
		Traits: lb.Traits{FirstItem: lb.FirstWaits},
	}
}

func oneByOneSpec(source lb.TimeSource) lb.Spec {
	return lb.Spec{
		Name: "zoo one by one",
		Time: source,
		New: func(env lb.Env, cfg lb.Config, leave func(int)) lb.Funcs {
			b := &periods{clock: env.Clock, cfg: cfg, leave: leave, lazy: true, serial: true}
			return lb.Funcs{Put: b.put, Stop: b.stop}
		},
		Traits: lb.Traits{FirstItem: lb.FirstAtOnce},
	}
}

// ticks hands its turns out with the ticks of a ticker, to callers that block for them until it
// is stopped. It takes no intervals that are not whole milliseconds.
func ticks(source lb.TimeSource) lb.Spec {
	return lb.Spec{
		Name: "zoo ticks",
		Time: source,
		New: func(env lb.Env, cfg lb.Config, _ func(int)) lb.Funcs {
			if cfg.Interval%time.Millisecond != 0 {
				panic("intervals are whole milliseconds")
			}
			turn, done := make(chan struct{}), make(chan struct{})
			stop := zoo.OnTicks(env.Clock.NewTicker(cfg.Interval), func() {
				zoo.Offer(turn, struct{}{}) // unless nobody waits
			})
			return lb.Funcs{Take: func() bool {
				select {
				case <-turn:
					return true
				case <-done:
					return false
				}
			}, Stop: sync.OnceFunc(func() { stop(); close(done) })}
		},
		Traits: lb.Traits{FirstItem: lb.FirstOnGrid, Unbounded: true},
	}
}

// underLock runs the function under its lock, as it may if it is documented.
func underLock(source lb.TimeSource) lb.Spec {
	spec := queueSpec("the function runs under the lock", source)
	spec.Name = "zoo locked bucket"
	spec.Traits.Reentrancy = lb.ReentrancyForbidden
	return spec
}

// Blind is a bucket that sees no time pass, as one does whose clock is not the declared one.
func Blind(source lb.TimeSource) lb.Spec {
	return lb.Spec{
		Name: "zoo clock that stands", Time: source,
		New: func(_ lb.Env, cfg lb.Config, leave func(int)) lb.Funcs {
			items := 0
			return lb.Funcs{Put: func(v int) bool {
				if items++; items == 1 {
					leave(v)
				}
				return items <= cfg.Backlog+1
			}}
		},
		Traits: lb.Traits{FirstItem: lb.FirstAtOnce},
	}
}
