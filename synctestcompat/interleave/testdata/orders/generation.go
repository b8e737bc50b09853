package orders

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

// A call is a value and the latest instant at which it was surely not yet handed in.
type call struct {
	v  int
	at time.Time
}

func newCall(v int) call { return call{v, time.Now()} }

type debouncer interface {
	call(c call)
	cancel() bool
}

// callAtExpiry asserts that no value is fired before it has been quiet for a
// second, and that the last one is fired. Callbacks may overlap.
func callAtExpiry(fresh func(fire func(call)) debouncer) func(*interleave.T) {
	return func(t *interleave.T) {
		var last atomic.Bool
		d := fresh(func(c call) {
			if age := time.Since(c.at); age < time.Second {
				t.Errorf("call %d was fired after %v", c.v, age)
			}
			if c.v == 2 {
				last.Store(true)
			}
		})
		d.call(newCall(1))
		time.Sleep(time.Second)
		d.call(newCall(2))
		synctestcompat.Sleep(2 * time.Second)
		if !last.Load() {
			t.Error("the last call was not fired")
		}
	}
}

// earlyDebouncer looks before it takes the lock whether a call came meanwhile: one
// that comes then is fired at once.
type earlyDebouncer struct {
	mu      sync.Mutex
	current atomic.Int64
	pending bool
	value   call
	fire    func(call)
}

func newEarlyDebouncer(fire func(call)) debouncer { return &earlyDebouncer{fire: fire} }

func (d *earlyDebouncer) call(c call) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.value, d.pending = c, true
	generation := d.current.Add(1)
	time.AfterFunc(time.Second, func() { d.expire(generation) })
}

func (d *earlyDebouncer) expire(generation int64) {
	if d.current.Load() != generation {
		return
	}
	d.mu.Lock()
	c, pending := d.value, d.pending
	d.pending = false
	d.mu.Unlock()
	if pending {
		d.fire(c)
	}
}

func (d *earlyDebouncer) cancel() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	pending := d.pending
	d.pending = false
	d.current.Add(1)
	return pending
}

type quotaCache interface {
	get(load func() int64) int64
	invalidate()
}

// invalidateWhileLoading asserts that what was read before an invalidation is not
// in the cache when all have returned.
func invalidateWhileLoading(fresh func() quotaCache) func(*interleave.T) {
	return func(t *interleave.T) {
		c := fresh()
		var quota atomic.Int64
		quota.Store(1)
		var wg sync.WaitGroup
		wg.Add(1)
		go func() {
			defer wg.Done()
			c.get(quota.Load)
		}()
		quota.Store(2)
		c.invalidate()
		wg.Wait()
		if got := c.get(quota.Load); got != 2 {
			t.Errorf("get() = %d, want 2", got)
		}
	}
}

// staleCache does not keep what was loaded before an invalidation, and looks for
// one before it takes the lock.
type staleCache struct {
	mu      sync.Mutex
	current atomic.Int64
	value   int64
	ok      bool
}

func newStaleCache() quotaCache { return new(staleCache) }

func (c *staleCache) get(load func() int64) int64 {
	c.mu.Lock()
	value, ok := c.value, c.ok
	c.mu.Unlock()
	if ok {
		return value
	}
	generation := c.current.Load()
	value = load()
	if c.current.Load() == generation {
		c.mu.Lock()
		c.value, c.ok = value, true
		c.mu.Unlock()
	}
	return value
}

func (c *staleCache) invalidate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current.Add(1)
	c.ok = false
}
