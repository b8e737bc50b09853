package leakybucket

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	lb "github.com/escapement-go/escapement/conformance/leakybuckettest"
)

// sleepsOn is a mistake of which nothing is left once the interval is over.
const sleepsOn = "a stop does not wake who sleeps"

// sleeper is a goroutine that takes an item from a channel and sleeps after each.
func sleeper(source lb.TimeSource, mutant string) lb.Spec {
	return lb.Spec{
		Name: "zoo sleeper",
		Time: source,
		New: func(env lb.Env, cfg lb.Config, leave func(int)) lb.Funcs {
			in, done := make(chan int, cfg.Backlog), make(chan struct{})
			go func() {
				for {
					select {
					case v := <-in:
						leave(v)
					case <-done:
						return
					}
					if mutant == sleepsOn {
						env.Clock.Sleep(cfg.Interval)
						continue
					}
					select {
					case <-env.Clock.After(cfg.Interval):
					case <-done:
						return
					}
				}
			}()
			var once sync.Once
			end := func() { once.Do(func() { close(done) }) }
			return lb.Funcs{Put: func(v int) bool {
				select {
				case <-done:
					return false
				default:
				}
				select {
				case in <- v:
					return true
				default:
					return false
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
			stop := eachInterval(env, cfg, func() {
				select {
				case v := <-in:
					leave(v)
				default:
				}
			})
			return lb.Funcs{Put: func(v int) bool {
				select {
				case in <- v:
					return true
				default:
					return false
				}
			}, Stop: stop}
		},
		Traits: lb.Traits{FirstItem: lb.FirstOnGrid},
	}
}

// eachInterval does something with each tick of a ticker, until it is stopped.
func eachInterval(env lb.Env, cfg lb.Config, do func()) (stop func()) {
	ticker, done := env.Clock.NewTicker(cfg.Interval), make(chan struct{})
	go func() {
		for {
			select {
			case <-ticker.Chan():
				do()
			case <-done:
				return
			}
		}
	}()
	return sync.OnceFunc(func() { ticker.Stop(); close(done) })
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

// turns blocks its callers until their turn, with a slack and without a bound.
func turns(source lb.TimeSource, slack int, mutant string) lb.Spec {
	name := "zoo turns"
	if slack > 0 {
		name = "zoo turns with slack"
	}
	return lb.Spec{
		Name: name,
		Time: source,
		New: func(env lb.Env, cfg lb.Config, leave func(int)) lb.Funcs {
			var mu sync.Mutex
			var last time.Time
			used := false
			var waiting atomic.Int64
			take := func() bool {
				mu.Lock()
				now := env.Clock.Now()
				next := now
				if used {
					oldest := now.Add(-time.Duration(slack) * cfg.Interval)
					if mutant == "the slack is ten times as large" {
						oldest = now.Add(-10 * time.Duration(slack) * cfg.Interval)
					}
					next = last.Add(cfg.Interval)
					twice := mutant == "an interval of the slack counts twice"
					if oldest.After(next) || oldest.After(last) && twice {
						next = oldest
					}
				}
				used, last = true, next
				mu.Unlock()
				if d := next.Sub(now); d > 0 {
					env.Clock.Sleep(d)
				}
				return true
			}
			if mutant == "" {
				return lb.Funcs{Take: take}
			}
			return lb.Funcs{Put: func(v int) bool {
				if waiting.Add(1) > 4 && mutant == "no more than three wait" {
					waiting.Add(-1)
					return false
				}
				go func() { take(); waiting.Add(-1); leave(v) }()
				return true
			}}
		},
		Traits: lb.Traits{FirstItem: lb.FirstAtOnce, Slack: slack, Unbounded: true, ClockBack: lb.BackStands},
	}
}

// boundedTurns gives each caller the next turn, which is never further ahead than those who wait explain: a
// clock that was set back holds nobody up.
func boundedTurns(slack int) lb.Spec {
	return lb.Spec{
		Name: fmt.Sprintf("zoo turns that a clock holds up no longer than an interval, slack %d", slack),
		Time: lb.Injected,
		New: func(env lb.Env, cfg lb.Config, _ func(int)) lb.Funcs {
			var mu sync.Mutex
			next, waiting := env.Clock.Now(), 0
			delay := func() time.Duration {
				mu.Lock()
				defer mu.Unlock()
				now := env.Clock.Now()
				if latest := now.Add(time.Duration(waiting+1) * cfg.Interval); next.After(latest) {
					next = latest
				}
				if saved := now.Add(-time.Duration(slack) * cfg.Interval); next.Before(saved) {
					next = saved
				}
				d := next.Sub(now)
				next = next.Add(cfg.Interval)
				if d > 0 {
					waiting++
				}
				return d
			}
			return lb.Funcs{Take: func() bool {
				if d := delay(); d > 0 {
					env.Clock.Sleep(d)
					mu.Lock()
					waiting--
					mu.Unlock()
				}
				return true
			}}
		},
		Traits: lb.Traits{FirstItem: lb.FirstAtOnce, Slack: slack, Unbounded: true, ClockBack: lb.BackBounded},
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
			stop := eachInterval(env, cfg, func() {
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
		New: func(env lb.Env, cfg lb.Config, leave func(int)) lb.Funcs {
			items := 0
			return lb.Funcs{Put: func(v int) bool {
				since := env.Start.Sub(env.Start) // it stands
				if items++; items > 1 && since < cfg.Interval {
					return items <= cfg.Backlog+1
				}
				leave(v)
				return true
			}}
		},
		Traits: lb.Traits{FirstItem: lb.FirstAtOnce},
	}
}
