package batch

import (
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	bt "github.com/escapement-go/escapement/conformance/batchtest"
)

// firstItem are the choices of most designs.
func firstItem(busy bt.Busy) bt.Traits {
	return bt.Traits{Anchor: bt.AnchorFirstItem, CloseFlush: bt.CloseFires, Busy: busy}
}

// lazy has one timer for good, which finds out when it expires whether a batch is old, and is armed again for the rest
// if not. At Close it leaves what is there until it is old, and says nothing to who comes later.
func lazy(source bt.TimeSource) bt.Spec {
	tr := firstItem(bt.BusyOverlaps)
	tr.CloseFlush = bt.CloseAtDeadline
	return bt.Spec{
		Name: "zoo lazy timer", Time: source, Traits: tr,
		New: func(env bt.Env, cfg bt.Config, batch func([]int)) bt.Funcs {
			var mu sync.Mutex
			var items []int
			var born time.Time
			var timer clockwork.Timer
			armed, closed := false, false
			expire := func() {
				mu.Lock()
				armed = false
				if len(items) == 0 {
					mu.Unlock()
					return
				}
				if left := cfg.Delay - env.Clock.Since(born); left > 0 {
					armed = true
					timer.Reset(left)
					mu.Unlock()
					return
				}
				out := items
				items = nil
				mu.Unlock()
				batch(out)
			}
			timer = env.Clock.AfterFunc(time.Hour, expire)
			timer.Stop()
			add := func(v int) {
				mu.Lock()
				if closed {
					mu.Unlock()
					return
				}
				if items = append(items, v); len(items) == 1 {
					born = env.Clock.Now()
					if !armed && cfg.Delay > 0 {
						armed = true
						timer.Reset(cfg.Delay)
					}
				}
				var out []int
				if len(items) == cfg.Size {
					out, items = items, nil
				}
				mu.Unlock()
				if out != nil {
					batch(out)
				}
			}
			end := func() {
				mu.Lock()
				defer mu.Unlock()
				closed = true
			}
			return bt.Funcs{Add: add, Close: end}
		},
	}
}

// timeOnly is a design without a size.
func timeOnly(spec bt.Spec) bt.Spec {
	whole := spec.New
	spec.Name += ", without a size"
	spec.New = func(env bt.Env, cfg bt.Config, batch func([]int)) bt.Funcs {
		if cfg.Size > 0 {
			panic("it has no size")
		}
		return whole(env, cfg, batch)
	}
	return spec
}

// underLock runs the consumer under its lock, as it may if it is documented.
func underLock(source bt.TimeSource) bt.Spec {
	spec := timedSpec(source, "the consumer runs under the lock")
	spec.Name = "zoo locked batcher"
	spec.Traits.Busy, spec.Traits.Reentrancy = 0, bt.ReentrancyForbidden
	return spec
}

// reuser uses the slice of a batch again when its consumer has returned, and drops what is there at Close.
func reuser(source bt.TimeSource) bt.Spec {
	tr := firstItem(bt.BusyQueues)
	tr.CloseFlush = bt.CloseDrops
	return bt.Spec{
		Name: "zoo two buffers", Time: source, Traits: tr,
		New: func(env bt.Env, cfg bt.Config, batch func([]int)) bt.Funcs {
			q := newRunner(env, cfg, nil)
			var buffer []int
			q.hand = func(items []int) {
				buffer = append(buffer[:0], items...)
				batch(buffer)
			}
			return bt.Funcs{Put: q.put, Flush: q.flush, Close: func() { q.end(false) }}
		},
	}
}

// runner lets whoever finds nobody running the consumer run it, and all that comes meanwhile. What is old then is
// taken as it is then.
type runner struct {
	clock  clockwork.Clock
	cfg    bt.Config
	hand   func([]int)
	mutant string

	mu      sync.Mutex
	items   []int
	due     time.Time
	timer   clockwork.Timer
	queue   [][]int
	running bool
	ran     bool // the consumer has returned just now
	closed  bool
}

func newRunner(env bt.Env, cfg bt.Config, hand func([]int)) *runner {
	return &runner{clock: env.Clock, cfg: cfg, hand: hand}
}

func (r *runner) put(v int) error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return errClosed
	}
	if r.items = append(r.items, v); len(r.items) == 1 && r.cfg.Delay > 0 {
		r.due = r.clock.Now().Add(r.cfg.Delay)
		r.timer = r.clock.AfterFunc(r.cfg.Delay, r.expire)
	}
	if r.cfg.Size > 0 && len(r.items) >= r.cfg.Size {
		r.take()
	}
	r.run()
	return nil
}

func (r *runner) expire() {
	r.mu.Lock()
	r.run()
}

// take moves the open batch to the queue.
func (r *runner) take() {
	if len(r.items) > 0 {
		r.queue = append(r.queue, r.items)
		r.items = nil
	}
	if r.timer != nil {
		r.timer.Stop()
	}
}

// run runs the consumer as long as there is something to hand over, and unlocks.
func (r *runner) run() {
	if r.running && r.mutant != "two goroutines run the consumer" {
		r.mu.Unlock()
		return
	}
	r.running = true
	returned := false
	defer func() {
		r.running = !returned && r.mutant == "a panic leaves it running"
		r.mu.Unlock()
	}()
	for {
		forgets := r.mutant == "what is old while the consumer runs is forgotten" && len(r.queue) == 0 && r.ran
		if len(r.items) > 0 && r.cfg.Delay > 0 && !r.clock.Now().Before(r.due) && !forgets {
			r.take()
		}
		if r.ran = false; len(r.queue) == 0 {
			returned = true
			return
		}
		next := 0
		if r.mutant == "the newest batch goes first" {
			next = len(r.queue) - 1
		}
		items := r.queue[next]
		r.queue = slices.Delete(slices.Clone(r.queue), next, next+1)
		r.unlocked(items)
		r.ran = true
		if r.mutant == "hands over one batch, whoever waits" {
			returned = true
			return
		}
	}
}

func (r *runner) unlocked(items []int) {
	r.mu.Unlock()
	defer r.mu.Lock()
	r.hand(items)
}

func (r *runner) flush() {
	r.mu.Lock()
	if len(r.queue) == 0 || r.mutant != "flush is none while a batch waits" {
		r.take()
	}
	r.run()
}

func (r *runner) end(flush bool) {
	r.mu.Lock()
	r.closed = true
	if !flush {
		r.items = nil
	}
	r.take()
	r.run()
}

func runnerSpec(source bt.TimeSource, mutant string) bt.Spec {
	return bt.Spec{
		Name: "zoo runner", Time: source, Traits: firstItem(bt.BusyQueues),
		New: func(env bt.Env, cfg bt.Config, batch func([]int)) bt.Funcs {
			r := newRunner(env, cfg, batch)
			r.mutant = mutant
			return bt.Funcs{Put: r.put, Flush: r.flush, Close: func() { r.end(true) }}
		},
	}
}

// refuser takes nothing while the consumer runs.
func refuser(source bt.TimeSource) bt.Spec {
	return bt.Spec{
		Name: "zoo refuser", Time: source, Traits: firstItem(bt.BusyRefuses),
		New: func(env bt.Env, cfg bt.Config, batch func([]int)) bt.Funcs {
			r := newRunner(env, cfg, batch)
			put := func(v int) error {
				r.mu.Lock()
				busy := r.running
				r.mu.Unlock()
				if busy {
					return errClosed
				}
				return r.put(v)
			}
			return bt.Funcs{Put: put, Flush: r.flush, Close: func() { r.end(true) }}
		},
	}
}

// worker hands batches to a goroutine, by a channel that holds them: callers wait when it is full.
func worker(source bt.TimeSource, room int) bt.Spec {
	name, busy := "zoo worker with a queue", bt.BusyQueues
	if room == 0 {
		name, busy = "zoo worker", bt.BusyBlocks
	}
	tr := firstItem(busy)
	if room == 0 {
		tr.Reentrancy = bt.ReentrancyForbidden // who fills a batch would wait for itself
	}
	return bt.Spec{
		Name: name, Time: source, Traits: tr,
		New: func(env bt.Env, cfg bt.Config, batch func([]int)) bt.Funcs {
			batches := make(chan []int, room)
			go func() {
				for items := range batches {
					batch(items)
				}
			}()
			b := &timed{clock: env.Clock, cfg: cfg}
			turn := make(chan struct{}, 1) // of who hands over: a channel, as one may wait here for long
			turn <- struct{}{}
			b.hand = func(items []int) {
				<-turn
				batches <- items
				turn <- struct{}{}
			}
			end := func() {
				b.close()
				<-turn
				close(batches)
			}
			return bt.Funcs{Put: b.put, Flush: b.flush, Close: end}
		},
	}
}

// semaphore lets one goroutine at a time run the consumer, for which callers that hand over wait.
func semaphore(source bt.TimeSource) bt.Spec {
	tr := firstItem(bt.BusyBlocks)
	tr.Reentrancy = bt.ReentrancyForbidden
	return bt.Spec{
		Name: "zoo semaphore", Time: source, Traits: tr,
		New: func(env bt.Env, cfg bt.Config, batch func([]int)) bt.Funcs {
			b := &timed{clock: env.Clock, cfg: cfg}
			free := make(chan struct{}, 1)
			free <- struct{}{}
			b.hand = func(items []int) {
				<-free
				defer func() { free <- struct{}{} }()
				batch(items)
			}
			return bt.Funcs{Add: func(v int) { _ = b.put(v) }, Flush: b.flush, Close: b.close}
		},
	}
}

// beside hands each batch over on a goroutine of its own.
func beside(source bt.TimeSource) bt.Spec {
	return bt.Spec{
		Name: "zoo goroutine for each batch", Time: source, Traits: firstItem(bt.BusyOverlaps),
		New: func(env bt.Env, cfg bt.Config, batch func([]int)) bt.Funcs {
			var all sync.WaitGroup
			b := &timed{clock: env.Clock, cfg: cfg}
			b.hand = func(items []int) {
				all.Add(1)
				go func() { defer all.Done(); batch(items) }()
			}
			return bt.Funcs{Add: func(v int) { _ = b.put(v) }, Flush: b.flush, Close: b.close}
		},
	}
}
