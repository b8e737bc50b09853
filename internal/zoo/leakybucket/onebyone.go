package leakybucket

import (
	"sync"

	"github.com/jonboulle/clockwork"

	lb "github.com/escapement-go/escapement/conformance/leakybuckettest"
)

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
