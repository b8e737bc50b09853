package orders

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

// cancelAtExpiry asserts that a call is fired or was cancelled, and not both.
func cancelAtExpiry(fresh func(fire func(call)) debouncer) func(*interleave.T) {
	return func(t *interleave.T) {
		var fired atomic.Int64
		d := fresh(func(call) { fired.Add(1) })
		d.call(newCall(1))
		time.Sleep(time.Second)
		cancelled := d.cancel()
		synctestcompat.Sleep(2 * time.Second)
		if got := fired.Load() == 1; got == cancelled {
			t.Errorf("cancel() = %v, fired %d times", cancelled, fired.Load())
		}
	}
}

// deadTimer stops its timer and says that it has, also if that had expired and
// waits for the lock.
type deadTimer struct {
	mu    sync.Mutex
	timer *time.Timer
	value call
	fire  func(call)
}

func newDeadTimer(fire func(call)) debouncer { return &deadTimer{fire: fire} }

func (d *deadTimer) call(c call) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
	}
	d.value = c
	d.timer = time.AfterFunc(time.Second, d.expire)
}

func (d *deadTimer) expire() {
	d.mu.Lock()
	c := d.value
	d.timer = nil
	d.mu.Unlock()
	d.fire(c)
}

func (d *deadTimer) cancel() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer == nil {
		return false
	}
	d.timer.Stop()
	d.timer = nil
	return true
}

type batcher interface{ add(c call) }

// fullAtExpiry asserts that a batch that is not full waits a second for others,
// though the one before it was full as its own second ended.
func fullAtExpiry(fresh func(consume func([]call)) batcher) func(*interleave.T) {
	return func(t *interleave.T) {
		var handed atomic.Int64
		b := fresh(func(batch []call) {
			handed.Add(int64(len(batch)))
			if age := time.Since(batch[0].at); len(batch) < 2 && age < time.Second {
				t.Errorf("call %d was handed over alone after %v", batch[0].v, age)
			}
		})
		b.add(newCall(1))
		time.Sleep(time.Second)
		b.add(newCall(2))
		b.add(newCall(3))
		synctestcompat.Sleep(2 * time.Second)
		if got := handed.Load(); got != 3 {
			t.Errorf("%d calls were handed over, want 3", got)
		}
	}
}

// staleBatcher hands two calls over, or one after a second. The timer of a batch
// that is full is stopped; if it had expired it takes the next batch.
type staleBatcher struct {
	mu      sync.Mutex
	batch   []call
	timer   *time.Timer
	consume func([]call)
}

func newStaleBatcher(consume func([]call)) batcher { return &staleBatcher{consume: consume} }

func (b *staleBatcher) add(c call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.batch = append(b.batch, c)
	switch len(b.batch) {
	case 1:
		b.timer = time.AfterFunc(time.Second, b.expire)
	case 2:
		b.timer.Stop()
		b.flush()
	}
}

func (b *staleBatcher) expire() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flush()
}

func (b *staleBatcher) flush() {
	if len(b.batch) > 0 {
		b.consume(b.batch)
		b.batch = nil
	}
}
