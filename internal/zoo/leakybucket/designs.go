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
			in, done := make(items, cfg.Backlog), make(chan struct{})
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
					return in.put(v)
				}
			}, Close: end, Stop: end}
		},
		Traits: lb.Traits{FirstItem: lb.FirstAtOnce, CloseFlush: lb.CloseDrops, ClockBack: lb.BackBounded},
	}
}

// items is a channel of items that wait.
type items chan int

func (in items) put(v int) bool {
	select {
	case in <- v:
		return true
	default:
		return false
	}
}

// ticker lets an item leave with each tick.
func ticker(source lb.TimeSource) lb.Spec {
	return lb.Spec{
		Name: "zoo ticker",
		Time: source,
		New: func(env lb.Env, cfg lb.Config, leave func(int)) lb.Funcs {
			in := make(items, cfg.Backlog)
			return lb.Funcs{Put: in.put, Stop: zoo.OnTicks(env.Clock.NewTicker(cfg.Interval), func() {
				select {
				case v := <-in:
					leave(v)
				default:
				}
			})}
		},
		Traits: lb.Traits{FirstItem: lb.FirstOnGrid},
	}
}

// periods starts a period with the first item, and goes on as long as there are
// any: with lazy, until a period ends in which none came.
func periods(source lb.TimeSource, lazy bool) lb.Spec {
	name := "zoo periods"
	if lazy {
		name = "zoo lazy periods"
	}
	return lb.Spec{
		Name: name,
		Time: source,
		New: func(env lb.Env, cfg lb.Config, leave func(int)) lb.Funcs {
			var mu sync.Mutex
			var queue []int
			running := false
			var expire func()
			expire = func() {
				mu.Lock()
				if len(queue) == 0 {
					running = false
					mu.Unlock()
					return
				}
				v := queue[0]
				queue = queue[1:]
				if running = lazy || len(queue) > 0; running {
					env.Clock.AfterFunc(cfg.Interval, expire)
				}
				mu.Unlock()
				leave(v)
			}
			return lb.Funcs{Put: func(v int) bool {
				mu.Lock()
				defer mu.Unlock()
				if len(queue) == cfg.Backlog {
					return false
				}
				if queue = append(queue, v); !running {
					running = true
					env.Clock.AfterFunc(cfg.Interval, expire)
				}
				return true
			}}
		},
		Traits: lb.Traits{FirstItem: lb.FirstWaits},
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
				select {
				case turn <- struct{}{}:
				default: // nobody waits
				}
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

// oneByOne is a queue whose timer runs through the gap after each item, whether or not that one has
// left for good. Its function runs for one item at a time, under a lock of its own. A function that takes its
// time holds up the timer's, which waits for that lock.
type oneByOne struct {
	clock clockwork.Clock
	cfg   lb.Config
	leave func(int)

	mu      sync.Mutex
	serial  sync.Mutex
	queue   []int
	gap     bool // after the item that left last
	stopped bool
	timer   clockwork.Timer
}

func (b *oneByOne) put(v int) bool {
	b.mu.Lock()
	switch {
	case b.stopped || b.gap && len(b.queue) >= b.cfg.Backlog:
		b.mu.Unlock()
		return false
	case b.gap:
		b.queue = append(b.queue, v)
		b.mu.Unlock()
		return true
	}
	b.lets(v)
	return true
}

// lets unlocks the queue and lets v leave.
func (b *oneByOne) lets(v int) {
	b.gap = true
	b.timer = b.clock.AfterFunc(b.cfg.Interval, b.next)
	b.mu.Unlock()
	b.serial.Lock()
	defer b.serial.Unlock()
	b.leave(v)
}

// next ends a gap.
func (b *oneByOne) next() {
	b.mu.Lock()
	if b.stopped || len(b.queue) == 0 {
		b.gap = false
		b.mu.Unlock()
		return
	}
	v := b.queue[0]
	b.queue = b.queue[1:]
	b.lets(v)
}

func (b *oneByOne) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped, b.queue = true, nil
	if b.timer != nil {
		b.timer.Stop()
	}
}

func oneByOneSpec(source lb.TimeSource) lb.Spec {
	return lb.Spec{
		Name: "zoo one by one",
		Time: source,
		New: func(env lb.Env, cfg lb.Config, leave func(int)) lb.Funcs {
			b := &oneByOne{clock: env.Clock, cfg: cfg, leave: leave}
			return lb.Funcs{Put: b.put, Stop: b.stop}
		},
		Traits: lb.Traits{FirstItem: lb.FirstAtOnce},
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
