package debouncer

import (
	"context"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	db "github.com/escapement-go/escapement/conformance/debouncertest"
)

// loop is a goroutine with channels and one timer. Its callbacks run on
// that goroutine, or with apart set on goroutines of their own.
type loop struct {
	calls        chan int
	cancels      chan chan bool
	asks         chan chan bool
	done, exited chan struct{}
	end          func() // closes done
	blind        bool   // the mistake of not looking into the queue first
	hurries      bool   // what is pending at the end fires then
}

func newLoop(clock clockwork.Clock, wait time.Duration, fire func(int), buffer int, apart bool) *loop {
	d := &loop{
		calls: make(chan int, buffer), cancels: make(chan chan bool), asks: make(chan chan bool),
		done: make(chan struct{}), exited: make(chan struct{}),
	}
	d.end = sync.OnceFunc(func() { close(d.done) })
	go func() {
		defer close(d.exited)
		timer := clock.NewTimer(time.Hour)
		timer.Stop()
		defer timer.Stop()
		pending, value := false, 0
		drain := func() {
			for !d.blind {
				select {
				case value = <-d.calls:
					pending = true
					timer.Reset(wait)
				default:
					return
				}
			}
		}
		for {
			select {
			case <-d.done:
				if d.hurries {
					if drain(); pending {
						fire(value)
					}
				}
				return
			case v := <-d.calls:
				pending, value = true, v
				timer.Reset(wait)
			case reply := <-d.cancels:
				drain()
				timer.Stop()
				reply <- pending
				pending = false
			case reply := <-d.asks:
				drain()
				reply <- pending
			case <-timer.Chan():
				select {
				case <-d.done:
					return
				default:
				}
				pending = false
				if v := value; apart {
					go fire(v)
				} else {
					fire(v)
				}
			}
		}
	}()
	return d
}

func (d *loop) call(v int) {
	select {
	case <-d.done:
	case d.calls <- v:
	}
}

func (d *loop) ask(c chan chan bool) bool {
	reply := make(chan bool)
	select {
	case <-d.done:
		return false
	case c <- reply:
		return <-reply
	}
}

// stop waits for the loop to end; a second one finds it ended.
func (d *loop) stop() {
	d.end()
	<-d.exited
}

// contexts starts a goroutine for each call, which the next call's cancels.
type contexts struct {
	clock clockwork.Clock
	wait  time.Duration
	fire  func(int)

	mu      sync.Mutex
	cancel  context.CancelFunc
	blind   bool // it does not look again, which is a mistake where it is not declared
	stopped bool
	running sync.WaitGroup
}

// contextsSpec describes it without stop, which callbacks must not call.
func contextsSpec(source db.TimeSource, blind bool) db.Spec {
	return made(source, trailingTraits, func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
		d := &contexts{clock: clock, wait: cfg.Wait, fire: fire, blind: blind}
		return db.Funcs{Call: d.call, Cancel: d.drop}
	})
}

func (d *contexts) drop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cancel != nil {
		d.cancel()
	}
}

func (d *contexts) call(v int) {
	ctx, cancel := context.WithCancel(context.Background())
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		cancel()
		return
	}
	if d.cancel != nil {
		d.cancel()
	}
	d.cancel = cancel
	timer := d.clock.NewTimer(d.wait)
	d.running.Add(1)
	go func() {
		defer d.running.Done()
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return
		case <-timer.Chan():
		}
		d.mu.Lock()
		live := d.blind || ctx.Err() == nil
		cancel()
		d.mu.Unlock()
		if live {
			d.fire(v)
		}
	}()
}

// stop waits until no callback runs, so that none may call it.
func (d *contexts) stop() {
	d.mu.Lock()
	d.stopped = true
	d.mu.Unlock()
	d.drop()
	d.running.Wait()
}

// condition is a worker that waits on a sync.Cond; timers only wake it.
type condition struct {
	clock clockwork.Clock
	wait  time.Duration
	fire  func(int)

	mu      sync.Mutex
	cond    *sync.Cond
	pending bool
	due     time.Time
	value   int
	stopped bool
	armed   armed
}

func newCondition(clock clockwork.Clock, wait time.Duration, fire func(int)) *condition {
	d := &condition{clock: clock, wait: wait, fire: fire}
	d.cond = sync.NewCond(&d.mu)
	go d.work()
	return d
}

func (d *condition) work() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for !d.stopped {
		if !d.pending || d.clock.Now().Before(d.due) {
			d.cond.Wait()
			continue
		}
		v := d.value
		d.pending = false
		d.mu.Unlock()
		d.fire(v)
		d.mu.Lock()
	}
}

func (d *condition) call(v int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	d.pending, d.value, d.due = true, v, d.clock.Now().Add(d.wait)
	d.arm(d.due, d.wait)
	if d.wait == 0 {
		d.cond.Broadcast()
	}
}

// arm wakes the worker when something is due, also if the clock is set back before.
func (d *condition) arm(due time.Time, in time.Duration) {
	d.armed.add(d.clock.AfterFunc(in, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if left := due.Sub(d.clock.Now()); left > 0 && !d.stopped {
			d.arm(due, left)
			return
		}
		d.cond.Broadcast()
	}))
}

func (d *condition) cancel() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.pending
	d.pending = false
	return was
}

func (d *condition) flush() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pending {
		d.due = d.clock.Now()
		d.cond.Broadcast() // the worker fires, after flush has returned
	}
}

func (d *condition) isPending() bool { d.mu.Lock(); defer d.mu.Unlock(); return d.pending }

// stop does not wait: it may be called from the callback.
func (d *condition) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped, d.pending = true, false
	d.armed.stop()
	d.cond.Broadcast()
}

// armed are the timers of a debouncer that arms one for each event. Stop ends those that have not expired.
type armed []clockwork.Timer

func (a *armed) add(t clockwork.Timer) { *a = append(*a, t) }

func (a *armed) stop() {
	for _, t := range *a {
		t.Stop()
	}
	*a = nil
}
