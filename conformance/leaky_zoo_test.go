package conformance

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"
)

// zooBucket is a queue with one timer, correct unless mutant names one of its
// mistakes.
type zooBucket struct {
	clock  clockwork.Clock
	cfg    LeakyBucketConfig
	leave  func(int)
	mutant string

	mu      sync.Mutex
	kept    sync.Mutex // of a mutant
	queue   []int
	used    bool
	last    time.Time
	running bool
	timer   clockwork.Timer
	closed  bool
	offers  int
	ghosts  int
	waited  bool // what leaves had waited
}

func newZooBucket(clock clockwork.Clock, cfg LeakyBucketConfig, leave func(int), mutant string) *zooBucket {
	b := &zooBucket{clock: clock, cfg: cfg, leave: leave, mutant: mutant}
	b.timer = clock.AfterFunc(time.Hour, b.expire)
	b.timer.Stop()
	if mutant == "goroutine left behind" {
		startForGood()
	}
	return b
}

func (b *zooBucket) is(mutant string) bool { return b.mutant == mutant }

func (b *zooBucket) put(v int) bool {
	if b.is("counts without the lock") {
		b.offers++
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed && !b.is("accepts after close") {
		return false
	}
	if b.is("panics on the third item") && v == 3 {
		panic("index out of range")
	}
	now := b.clock.Now()
	gap := now.Sub(b.last)
	free := (len(b.queue) == 0 || b.is("overtakes what is due at this instant")) && !b.running && (!b.used || gap >= b.cfg.Interval ||
		b.is("the grid lets an item through early") && now.Truncate(b.cfg.Interval).After(b.last.Truncate(b.cfg.Interval)) ||
		b.is("an arrival as the last one leaves is free") && gap == 0)
	if free && b.is("the first item waits") {
		b.last, b.used, free = now, true, false
		gap = 0
	}
	limit := b.cfg.Backlog
	switch b.mutant {
	case "one more may wait":
		limit++
	case "one less may wait":
		limit--
	case "cancelled items hold their places":
		limit -= b.ghosts
	}
	if b.is("checks the bound without the lock") && !free {
		n := len(b.queue)
		b.mu.Unlock()
		for range 100 {
			runtime.Gosched() // lets others in
		}
		b.mu.Lock()
		if n < limit {
			b.queue = append(b.queue, v)
		}
		b.arm()
		return n < limit
	}
	switch {
	case free && b.is("an idle bucket saves up credit") && b.used && gap >= 2*b.cfg.Interval:
		b.last = now.Add(-b.cfg.Interval)
		b.run(v)
	case free:
		b.last, b.used = now, true
		b.run(v)
	case len(b.queue) >= limit:
		switch {
		case b.is("a refused item leaves all the same"):
			b.queue = append(b.queue, v)
		case b.is("a refused item starts the interval anew"):
			b.last = now
			b.arm()
		}
		return false
	case b.is("a late item goes first"):
		b.queue = slices.Insert(b.queue, 0, v)
	default:
		b.queue = append(b.queue, v)
	}
	b.arm()
	return true
}

// arm arms the timer for the head of the queue.
func (b *zooBucket) arm() {
	b.timer.Stop()
	if len(b.queue) == 0 || b.running {
		return
	}
	in := b.cfg.Interval - b.clock.Now().Sub(b.last)
	switch {
	case b.is("rounds the interval to milliseconds"):
		in = in.Round(time.Millisecond)
	case b.is("a nanosecond late"):
		in++
	case b.is("a nanosecond early") && in > 1:
		in--
	}
	b.timer.Reset(in)
}

func (b *zooBucket) expire() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 || b.running {
		if b.is("an empty queue gives its last item again") && b.used {
			b.run(b.offers)
		}
		return
	}
	if b.clock.Now().Sub(b.last) < b.cfg.Interval && !b.early() && !b.is("a timer that was armed again fires twice") {
		b.arm() // it had fired already when it was armed anew
		return
	}
	v := b.queue[0]
	b.queue = b.queue[1:]
	b.last, b.waited = b.clock.Now(), true
	defer func() { b.waited = false }()
	if b.closed && b.is("drains at half the pace") {
		b.last = b.last.Add(b.cfg.Interval)
	}
	if b.is("drops every fourth item") && v%4 == 0 {
		b.arm()
		return
	}
	b.run(v)
	if b.is("an item stays in the queue") && v == 2 && len(b.queue) == 0 {
		b.queue = append(b.queue, v)
		b.mutant = ""
	}
	if b.is("the last item leaves nothing behind") && len(b.queue) == 0 {
		b.leave(0)
	}
	b.arm()
}

// early reports whether the timer is meant to be early.
func (b *zooBucket) early() bool {
	return b.is("a nanosecond early") || b.is("rounds the interval to milliseconds")
}

// run lets v leave, without the lock.
func (b *zooBucket) run(v int) {
	if b.is("the function runs under the lock") || b.is("the function of what waited runs under the lock") && b.waited {
		b.leave(v)
		return
	}
	b.running = true
	defer func() {
		if !b.is("a panic leaves it running") || recover() == nil {
			b.running = false
		}
	}()
	b.mu.Unlock()
	defer b.mu.Lock()
	b.leave(v)
}

func (b *zooBucket) cancel(v int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.queue, v)
	if i < 0 {
		if b.is("keeps a lock where nothing is cancelled") {
			b.kept.Lock()
		}
		return false
	}
	b.ghosts++
	switch {
	case b.is("cancel does nothing"):
		return true
	case b.is("cancel finds and takes out under two locks"):
		b.mu.Unlock()
		runtime.Gosched()
		b.mu.Lock()
		b.queue = slices.DeleteFunc(b.queue, func(o int) bool { return o == v })
		b.arm()
		return true
	case b.is("a cancel costs the others an interval") && i == 0:
		b.last = b.clock.Now().Add(b.cfg.Interval)
	}
	if last := len(b.queue) - 1; b.is("the last item takes the place of a cancelled one") {
		b.queue[i] = b.queue[last]
		b.queue = b.queue[:last]
	} else {
		b.queue = slices.Delete(b.queue, i, i+1)
	}
	b.arm()
	return true
}

func (b *zooBucket) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.is("close drops what waits") {
		b.queue = nil
		b.arm()
	}
}

func (b *zooBucket) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.is("stop leaves a goroutine if something waits") && len(b.queue) > 0 {
		startForGood()
	}
	b.closed = true
	if b.is("stop lets what waits leave") {
		return
	}
	b.queue = nil
	b.timer.Stop()
	if b.is("stop leaves the timer armed") {
		b.timer.Reset(time.Hour)
	}
}

func zooBucketSpec(mutant string, source TimeSource) LeakyBucketSpec {
	return LeakyBucketSpec{
		Name: "zoo bucket",
		Time: source,
		New: func(env Env, cfg LeakyBucketConfig, leave func(int)) LeakyBucketFuncs {
			b := newZooBucket(env.Clock, cfg, leave, mutant)
			return LeakyBucketFuncs{Put: b.put, Cancel: b.cancel, Close: b.close, Stop: b.stop}
		},
		Traits: LeakyBucketTraits{Head: HeadAtOnce, CloseFlush: CloseAtDeadline},
	}
}

// leakyMutants are mistakes, each with the rule that must catch it.
var leakyMutants = []struct{ name, rule string }{
	{"the grid lets an item through early", "LB-SPACE"},
	{"a nanosecond early", "LB-SPACE"},
	{"rounds the interval to milliseconds", "LB-EXACT"},
	{"a nanosecond late", "LB-EXACT"},
	{"drains at half the pace", "LB-EXACT"},
	{"an idle bucket saves up credit", "LB-IDLE"},
	{"the first item waits", "LB-IDLE"},
	{"an arrival as the last one leaves is free", "LB-SAMEINSTANT"},
	{"a timer that was armed again fires twice", "LB-SAMEINSTANT"},
	{"one more may wait", "LB-BOUND"},
	{"one less may wait", "LB-BOUND"},
	{"a refused item leaves all the same", "LB-DROP"},
	{"drops every fourth item", "LB-DROP"},
	{"an item stays in the queue", "LB-DROP"},
	{"stop lets what waits leave", "LB-DROP"},
	{"a late item goes first", "LB-FIFO"},
	{"overtakes what is due at this instant", "LB-FIFO"},
	{"the last item takes the place of a cancelled one", "LB-FIFO"},
	{"the last item leaves nothing behind", "LB-EMPTY"},
	{"a refused item starts the interval anew", "LB-FRAC"},
	{"cancel does nothing", "LB-CANCEL"},
	{"a cancel costs the others an interval", "LB-CANCEL"},
	{"cancelled items hold their places", "LB-CANCEL"},
	{"accepts after close", "LB-CLOSE"},
	{"close drops what waits", "LB-CLOSE"},
	{"panics on the third item", "X-CALLS"},
	{"keeps a lock where nothing is cancelled", "X-CALLS"},
	{"stop leaves the timer armed", "X-LEAK"},
	{"goroutine left behind", "X-LEAK"},
	{"stop leaves a goroutine if something waits", "X-LEAK"},
	{"a panic leaves it running", "X-PANIC"},
	{"checks the bound without the lock", "X-CONC"},
	{"cancel finds and takes out under two locks", "X-CONC"},
	{"the function runs under the lock", "X-REENT"},
	{"the function of what waited runs under the lock", "X-REENT"},
}

// zooSleeper is a goroutine that takes an item from a channel and sleeps after each.
func zooSleeper(source TimeSource) LeakyBucketSpec {
	return LeakyBucketSpec{
		Name: "zoo sleeper",
		Time: source,
		New: func(env Env, cfg LeakyBucketConfig, leave func(int)) LeakyBucketFuncs {
			in, done := make(chan int, cfg.Backlog), make(chan struct{})
			go func() {
				for {
					select {
					case v := <-in:
						leave(v)
					case <-done:
						return
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
			return LeakyBucketFuncs{Put: func(v int) bool {
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
		Traits: LeakyBucketTraits{Head: HeadAtOnce, CloseFlush: CloseDrops},
	}
}

// zooTicker lets an item leave with each tick.
func zooTicker(source TimeSource) LeakyBucketSpec {
	return LeakyBucketSpec{
		Name: "zoo ticker",
		Time: source,
		New: func(env Env, cfg LeakyBucketConfig, leave func(int)) LeakyBucketFuncs {
			in, done := make(chan int, cfg.Backlog), make(chan struct{})
			ticker := env.Clock.NewTicker(cfg.Interval)
			go func() {
				for {
					select {
					case <-ticker.Chan():
						select {
						case v := <-in:
							leave(v)
						default:
						}
					case <-done:
						return
					}
				}
			}()
			return LeakyBucketFuncs{Put: func(v int) bool {
				select {
				case in <- v:
					return true
				default:
					return false
				}
			}, Stop: sync.OnceFunc(func() { ticker.Stop(); close(done) })}
		},
		Traits: LeakyBucketTraits{Head: HeadOnGrid},
	}
}

// zooPeriods starts a period with the first item, and goes on as long as there are
// any: with lazy, until a period ends in which none came.
func zooPeriods(source TimeSource, lazy bool) LeakyBucketSpec {
	return LeakyBucketSpec{
		Name: map[bool]string{false: "zoo periods", true: "zoo periods, until one is empty"}[lazy],
		Time: source,
		New: func(env Env, cfg LeakyBucketConfig, leave func(int)) LeakyBucketFuncs {
			var mu sync.Mutex
			var queue []int
			running, stopped := false, false
			var expire func()
			expire = func() {
				mu.Lock()
				if len(queue) == 0 || stopped {
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
			return LeakyBucketFuncs{Put: func(v int) bool {
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
		Traits: LeakyBucketTraits{Head: HeadWaits},
	}
}

// zooReserver gives each item its instant when it comes, on a timer of its own. What
// is cancelled keeps its instant for nobody.
func zooReserver(source TimeSource) LeakyBucketSpec {
	return LeakyBucketSpec{
		Name: "zoo reserver",
		Time: source,
		New: func(env Env, cfg LeakyBucketConfig, leave func(int)) LeakyBucketFuncs {
			var mu sync.Mutex
			var next time.Time
			timers := map[int]clockwork.Timer{}
			return LeakyBucketFuncs{
				Put: func(v int) bool {
					mu.Lock()
					defer mu.Unlock()
					now := env.Clock.Now()
					if next.Before(now) {
						next = now
					}
					if next.Sub(now) > time.Duration(cfg.Backlog)*cfg.Interval {
						return false
					}
					timers[v] = env.Clock.AfterFunc(next.Sub(now), func() { leave(v) })
					next = next.Add(cfg.Interval)
					return true
				},
				Cancel: func(v int) bool {
					mu.Lock()
					defer mu.Unlock()
					return timers[v] != nil && timers[v].Stop()
				},
				Stop: func() {
					mu.Lock()
					defer mu.Unlock()
					for _, timer := range timers {
						timer.Stop()
					}
				},
			}
		},
		Traits: LeakyBucketTraits{Head: HeadAtOnce},
	}
}

// turnMutants are the mistakes of zooTurns with a slack.
var turnMutants = []struct{ name, rule string }{
	{"an interval of the slack counts twice", "LB-EXACT"},
	{"the slack is ten times as large", "LB-SPACE"},
	{"no more than three wait", "LB-BOUND"},
}

// zooTurns blocks its callers until their turn, with a slack and without a bound.
func zooTurns(source TimeSource, slack int, mutant string) LeakyBucketSpec {
	return LeakyBucketSpec{
		Name: fmt.Sprintf("zoo turns, slack %d", slack),
		Time: source,
		New: func(env Env, cfg LeakyBucketConfig, leave func(int)) LeakyBucketFuncs {
			var mu sync.Mutex
			var last time.Time
			used := false
			var waiting atomic.Int64
			take := func() {
				mu.Lock()
				now := env.Clock.Now()
				next := now
				if used {
					oldest := now.Add(-time.Duration(slack) * cfg.Interval)
					if mutant == "the slack is ten times as large" {
						oldest = now.Add(-10 * time.Duration(slack) * cfg.Interval)
					}
					if next = last.Add(cfg.Interval); oldest.After(next) || oldest.After(last) && mutant == "an interval of the slack counts twice" {
						next = oldest
					}
				}
				used, last = true, next
				mu.Unlock()
				if d := next.Sub(now); d > 0 {
					env.Clock.Sleep(d)
				}
			}
			return LeakyBucketFuncs{Put: func(v int) bool {
				if waiting.Add(1) > 4 && mutant == "no more than three wait" {
					waiting.Add(-1)
					return false
				}
				go func() { take(); waiting.Add(-1); leave(v) }()
				return true
			}}
		},
		Traits: LeakyBucketTraits{Head: HeadAtOnce, Slack: slack, Unbounded: true},
	}
}
