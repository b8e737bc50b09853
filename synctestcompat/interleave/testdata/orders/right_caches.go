package orders

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

// comparedOnce replaces the attempt that it saw fail, and no other.
type comparedOnce struct {
	now  atomic.Pointer[attempt]
	load func() (int, error)
}

func newComparedOnce(load func() (int, error)) loader {
	c := &comparedOnce{load: load}
	c.now.Store(new(attempt))
	return c
}

func (c *comparedOnce) get() int {
	for {
		a := c.now.Load()
		a.once.Do(func() { a.value, a.err = c.load() })
		if a.err == nil {
			return a.value
		}
		c.now.CompareAndSwap(a, new(attempt))
	}
}

// sharedFlights loads a value once for all who ask for it at a time.
type sharedFlights struct {
	mu  sync.Mutex
	now map[string]*sharedFlight
}

type sharedFlight struct {
	landed sync.WaitGroup
	value  int64
}

func newSharedFlights() flights { return &sharedFlights{now: make(map[string]*sharedFlight)} }

func (f *sharedFlights) do(key string, load func() int64) int64 {
	f.mu.Lock()
	if c, ok := f.now[key]; ok {
		f.mu.Unlock()
		c.landed.Wait()
		return c.value
	}
	c := new(sharedFlight)
	c.landed.Add(1)
	f.now[key] = c
	f.mu.Unlock()

	c.value = load()
	c.landed.Done()
	f.mu.Lock()
	delete(f.now, key)
	f.mu.Unlock()
	return c.value
}

// lockedPayloads writes to a payload under the lock under which it is taken, so
// that none is in use when it goes back to the pool.
type lockedPayloads struct {
	mu   sync.Mutex
	now  map[string]*payload
	pool sync.Pool
	fire func(key string, v int)
}

func newLockedPayloads(fire func(string, int)) keyedThrottle {
	return &lockedPayloads{now: make(map[string]*payload), fire: fire}
}

func (d *lockedPayloads) call(key string, v int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, ok := d.now[key]
	if !ok {
		if p, _ = d.pool.Get().(*payload); p == nil {
			p = new(payload)
		}
		d.now[key] = p
		time.AfterFunc(time.Second, func() { d.expire(key) })
	}
	p.value = v
}

func (d *lockedPayloads) expire(key string) {
	d.mu.Lock()
	p := d.now[key]
	delete(d.now, key)
	d.mu.Unlock()
	v := p.value
	d.pool.Put(p)
	d.fire(key, v)
}

// generationCache compares generations under the lock under which it stores.
type generationCache struct {
	mu         sync.Mutex
	generation int
	value      int64
	ok         bool
}

func newGenerationCache() quotaCache { return new(generationCache) }

func (c *generationCache) get(load func() int64) int64 {
	c.mu.Lock()
	value, ok, generation := c.value, c.ok, c.generation
	c.mu.Unlock()
	if ok {
		return value
	}
	value = load()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.generation == generation {
		c.value, c.ok = value, true
	}
	return value
}

func (c *generationCache) invalidate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	c.ok = false
}

// pooledBuffers asserts that each worker has its buffer for itself until it puts
// it back.
func pooledBuffers(t *interleave.T) {
	var pool sync.Pool
	pool.New = func() any { return new(atomic.Int64) }
	var total atomic.Int64
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			sum := pool.Get().(*atomic.Int64)
			defer pool.Put(sum)
			sum.Store(0)
			for range 2 {
				sum.Add(int64(i))
			}
			total.Add(sum.Load())
		}()
	}
	wg.Wait()
	if got := total.Load(); got != 6 {
		t.Errorf("total %d, want 6", got)
	}
}
