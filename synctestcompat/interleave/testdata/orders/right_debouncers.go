package orders

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

// lockedDebouncer compares generations under its lock.
type lockedDebouncer struct {
	mu      sync.Mutex
	current int
	pending bool
	value   call
	timer   *time.Timer
	fire    func(call)
}

func newLockedDebouncer(fire func(call)) debouncer { return &lockedDebouncer{fire: fire} }

func (d *lockedDebouncer) call(c call) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
	}
	d.value, d.pending = c, true
	d.current++
	generation := d.current
	d.timer = time.AfterFunc(time.Second, func() { d.expire(generation) })
}

func (d *lockedDebouncer) expire(generation int) {
	d.mu.Lock()
	if !d.pending || d.current != generation {
		d.mu.Unlock()
		return
	}
	d.pending = false
	c := d.value
	d.mu.Unlock()
	d.fire(c)
}

func (d *lockedDebouncer) cancel() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	pending := d.pending
	d.pending = false
	if d.timer != nil {
		d.timer.Stop()
	}
	return pending
}

// loopDebouncer has a goroutine that owns its state, and a stop that waits for it.
type loopDebouncer struct {
	in   chan call
	quit chan struct{}
	done chan struct{}
}

func newLoopDebouncer(fire func(call)) *loopDebouncer {
	d := &loopDebouncer{in: make(chan call), quit: make(chan struct{}), done: make(chan struct{})}
	go d.run(fire)
	return d
}

func (d *loopDebouncer) run(fire func(call)) {
	defer close(d.done)
	timer := time.NewTimer(0)
	timer.Stop()
	var last call
	for {
		select {
		case last = <-d.in:
			timer.Reset(time.Second)
		case <-timer.C:
			fire(last)
		case <-d.quit:
			timer.Stop()
			return
		}
	}
}

func (d *loopDebouncer) call(c call) {
	select {
	case d.in <- c:
	case <-d.done:
	}
}

func (d *loopDebouncer) stop() {
	close(d.quit)
	<-d.done
}

// stopAtExpiry asserts that nothing is fired early, or after stop has returned.
func stopAtExpiry(t *interleave.T) {
	var stopped atomic.Bool
	d := newLoopDebouncer(func(c call) {
		if stopped.Load() {
			t.Error("fired after stop")
		}
		if age := time.Since(c.at); age < time.Second {
			t.Errorf("call %d was fired after %v", c.v, age)
		}
	})
	d.call(newCall(1))
	time.Sleep(time.Second)
	d.call(newCall(2))
	time.Sleep(time.Second)
	d.stop()
	stopped.Store(true)
	d.call(newCall(3))
	synctestcompat.Sleep(2 * time.Second)
}

// epochBatcher gives each batch an epoch, and a timer takes only its own.
type epochBatcher struct {
	mu      sync.Mutex
	epoch   int
	batch   []call
	consume func([]call)
}

func newEpochBatcher(consume func([]call)) batcher { return &epochBatcher{consume: consume} }

func (b *epochBatcher) add(c call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.batch = append(b.batch, c)
	if len(b.batch) == 2 {
		b.flush()
		return
	}
	epoch := b.epoch
	time.AfterFunc(time.Second, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.epoch == epoch {
			b.flush()
		}
	})
}

func (b *epochBatcher) flush() {
	batch := b.batch
	b.batch = nil
	b.epoch++
	b.consume(batch)
}

// closedBatcher ends with its input, when all of that has been taken.
type closedBatcher struct {
	in   chan int
	done chan struct{}
}

func newClosedBatcher(consume func([]int)) loop {
	b := &closedBatcher{in: make(chan int, 2), done: make(chan struct{})}
	go func() {
		defer close(b.done)
		var items []int
		for v := range b.in {
			if items = append(items, v); len(items) == 2 {
				consume(items)
				items = items[:0]
			}
		}
		if len(items) > 0 {
			consume(items)
		}
	}()
	return b
}

func (b *closedBatcher) add(v int) { b.in <- v }

func (b *closedBatcher) close() {
	close(b.in)
	<-b.done
}

// edgesThrottle emits the first call of a second at once and the last at its end,
// which begins another second.
type edgesThrottle struct {
	mu      sync.Mutex
	open    bool // a second is running
	pending *call
	emit    func(call)
}

func (d *edgesThrottle) call(c call) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open {
		d.pending = &c
		return
	}
	d.begin(c)
}

func (d *edgesThrottle) begin(c call) {
	d.open, d.pending = true, nil
	d.emit(c)
	time.AfterFunc(time.Second, d.end)
}

func (d *edgesThrottle) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open = false
	if d.pending != nil {
		d.begin(*d.pending)
	}
}

// throttledAtEnd asserts that emissions are a second apart and the last call is
// among them.
func throttledAtEnd(t *interleave.T) {
	var last time.Time
	var lastCall int
	d := &edgesThrottle{emit: func(c call) {
		if now := time.Now(); lastCall > 0 && now.Sub(last) < time.Second {
			t.Errorf("call %d was emitted %v after another", c.v, now.Sub(last))
		}
		last, lastCall = time.Now(), c.v
	}}
	d.call(newCall(1))
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		d.call(newCall(2))
	}()
	time.Sleep(time.Second)
	wg.Wait()
	d.call(newCall(3))
	synctestcompat.Sleep(3 * time.Second)
	d.mu.Lock()
	defer d.mu.Unlock()
	if lastCall != 3 {
		t.Errorf("call %d was emitted last, want 3", lastCall)
	}
}
