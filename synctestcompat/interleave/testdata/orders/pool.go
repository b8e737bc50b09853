package orders

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

type flights interface {
	do(key string, load func() int64) int64
}

// ownValue asserts that each caller is given the value of its own key.
func ownValue(fresh func() flights) func(*interleave.T) {
	return func(t *interleave.T) {
		f := fresh()
		load := func() int64 {
			time.Sleep(time.Second)
			return 1
		}
		var wg sync.WaitGroup
		wg.Add(1)
		go func() {
			defer wg.Done()
			if got := f.do("a", load); got != 1 {
				t.Errorf("do(a) = %d, want 1", got)
			}
		}()
		if got := f.do("a", load); got != 1 {
			t.Errorf("do(a) = %d, want 1", got)
		}
		if got := f.do("b", func() int64 { return 2 }); got != 2 {
			t.Errorf("do(b) = %d, want 2", got)
		}
		wg.Wait()
	}
}

type flight struct {
	done  chan struct{}
	value atomic.Int64
}

// pooledFlights loads a value once for all who ask for it at a time. A flight goes
// back to the pool when it has landed, though its passengers have yet to read it.
type pooledFlights struct {
	mu   sync.Mutex
	now  map[string]*flight
	pool sync.Pool
}

func newPooledFlights() flights {
	return &pooledFlights{
		now:  make(map[string]*flight),
		pool: sync.Pool{New: func() any { return new(flight) }},
	}
}

func (f *pooledFlights) do(key string, load func() int64) int64 {
	f.mu.Lock()
	if c, ok := f.now[key]; ok {
		done := c.done
		f.mu.Unlock()
		<-done
		return c.value.Load()
	}
	c := f.pool.Get().(*flight)
	c.done = make(chan struct{})
	f.now[key] = c
	f.mu.Unlock()

	value := load()
	c.value.Store(value)
	f.mu.Lock()
	delete(f.now, key)
	close(c.done)
	f.mu.Unlock()
	f.pool.Put(c)
	return value
}

type keyedThrottle interface{ call(key string, v int) }

// ownPayload asserts that a key is fired with a value that it was called with.
func ownPayload(fresh func(fire func(key string, v int)) keyedThrottle) func(*interleave.T) {
	return func(t *interleave.T) {
		d := fresh(func(key string, v int) {
			if (key == "b") != (v >= 100) {
				t.Errorf("%s was fired with %d", key, v)
			}
		})
		d.call("a", 1)
		var wg sync.WaitGroup
		wg.Add(1)
		go func() {
			defer wg.Done()
			time.Sleep(time.Second)
			d.call("a", 2)
		}()
		time.Sleep(time.Second)
		d.call("b", 100)
		wg.Wait()
		synctestcompat.Sleep(2 * time.Second)
	}
}

type payload struct {
	mu    sync.Mutex
	value int
}

func (p *payload) set(v int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.value = v
}

func (p *payload) get() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.value
}

// pooledThrottle fires a key a second after its first call, with the newest value.
// A caller that has found the payload of its key writes to it when it has been
// fired, and belongs to another key.
type pooledThrottle struct {
	mu   sync.Mutex
	now  map[string]*payload
	pool sync.Pool
	fire func(key string, v int)
}

func newPooledThrottle(fire func(string, int)) keyedThrottle {
	return &pooledThrottle{
		now:  make(map[string]*payload),
		pool: sync.Pool{New: func() any { return new(payload) }},
		fire: fire,
	}
}

func (d *pooledThrottle) call(key string, v int) {
	d.mu.Lock()
	p, ok := d.now[key]
	if !ok {
		p = d.pool.Get().(*payload)
		p.set(v)
		d.now[key] = p
		time.AfterFunc(time.Second, func() { d.expire(key) })
	}
	d.mu.Unlock()
	if ok {
		p.set(v)
	}
}

func (d *pooledThrottle) expire(key string) {
	d.mu.Lock()
	p := d.now[key]
	delete(d.now, key)
	d.mu.Unlock()
	v := p.get()
	d.pool.Put(p)
	d.fire(key, v)
}
