package leakybucket

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	lb "github.com/escapement-go/escapement/conformance/leakybuckettest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// queue is a queue with one timer, correct unless mutant names one of its
// mistakes.
type queue struct {
	clock  clockwork.Clock
	cfg    lb.Config
	leave  func(int)
	mutant string

	mu      sync.Mutex
	kept    sync.Mutex // of a mutant
	items   []int
	used    bool
	last    time.Time
	running bool
	timer   clockwork.Timer
	closed  bool
	offers  int
	ghosts  int
	stale   bool // the head was cancelled, of a mutant
}

func newQueue(clock clockwork.Clock, cfg lb.Config, leave func(int), mutant string) *queue {
	switch mutant {
	case "no interval is longer than an hour":
		cfg.Interval = min(cfg.Interval, time.Hour)
	case "the constructor divides by the backlog less one":
		_ = cfg.Interval / time.Duration(cfg.Backlog-1)
	case "goroutine left behind":
		zoo.LeaveForGood()
	case zoo.LosesTime:
		clock = zoo.LosingTime(clock)
	}
	b := &queue{clock: clock, cfg: cfg, leave: leave, mutant: mutant}
	b.timer = clock.AfterFunc(time.Hour, b.expire)
	b.timer.Stop()
	return b
}

const keepsLock = "keeps a lock where nothing is cancelled"

func (b *queue) is(mutant string) bool { return b.mutant == mutant }

func (b *queue) put(v int) bool {
	if b.is("counts without the lock") {
		b.offers++
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed && !b.is("accepts after close") {
		if len(b.items) > 0 && b.is("what comes after close turns the queue") {
			b.items = append(b.items[1:], b.items[0])
		}
		return false
	}
	if b.is("panics on the third item") && v == 3 {
		panic("index out of range")
	}
	now := b.clock.Now()
	gap := now.Sub(b.last)
	over := !b.used || gap >= b.cfg.Interval
	switch b.mutant {
	case "a clock that was set back makes a new bucket of it":
		over = over || gap < 0
	case "no gap is shorter than a nanosecond":
		over = over || b.cfg.Interval == 1
	case "the grid lets an item through early":
		over = over || now.Truncate(b.cfg.Interval).After(b.last.Truncate(b.cfg.Interval))
	case "an arrival as the last one leaves is free":
		over = over || gap == 0
	case "the end of an interval is a number of nanoseconds":
		over = over || b.last.UnixNano()+int64(b.cfg.Interval) <= now.UnixNano()
	case "what comes at the end of the interval needs a place to wait":
		over = over && !(b.used && gap == b.cfg.Interval)
	}
	free := (len(b.items) == 0 || b.is("overtakes what is due at this instant")) && !b.running && over
	if free && b.is("the first item waits") {
		b.last, b.used, free = now, true, false
	}
	limit := b.cfg.Backlog
	switch b.mutant {
	case "one more may wait":
		limit++
	case "one less may wait":
		limit--
	case "cancelled items hold their places":
		limit -= b.ghosts
	case "what the function runs with holds a place":
		if b.running {
			limit--
		}
	}
	if b.is("checks the bound without the lock") && !free {
		n := len(b.items)
		b.mu.Unlock()
		for range 100 {
			runtime.Gosched() // lets others in
		}
		b.mu.Lock()
		if n < limit {
			b.items = append(b.items, v)
		}
		b.arm()
		return n < limit
	}
	switch {
	case free && b.used && (gap >= 2*b.cfg.Interval && b.is("an idle bucket saves up credit") ||
		gap >= 10*b.cfg.Interval && b.is("long idle time saves up credit")):
		b.last = now.Add(-b.cfg.Interval)
		b.run(v, false)
	case free && b.is("close drops what is about to leave"):
		b.last, b.used = now, true
		go b.runUnlessClosed(v)
	case free:
		b.last, b.used = now, true
		b.run(v, false)
		if b.is("what comes while the first leaves is never due") {
			return true
		}
	case len(b.items) >= limit:
		switch {
		case b.is("a refused item leaves all the same"):
			b.items = append(b.items, v)
		case b.is("a refused item starts the interval anew"):
			b.last = now
			b.arm()
		}
		return false
	case b.is("a late item goes first"), b.is("what comes while an item leaves goes first") && b.running:
		b.items = slices.Insert(b.items, 0, v)
	default:
		b.items = append(b.items, v)
	}
	b.arm()
	return true
}

// arm arms the timer for the head of the queue.
func (b *queue) arm() {
	b.timer.Stop()
	if len(b.items) == 0 || b.running {
		return
	}
	in := b.cfg.Interval - b.clock.Now().Sub(b.last)
	switch {
	case b.is("rounds the interval to milliseconds"):
		in = in.Round(time.Millisecond)
	case b.is("a nanosecond early") && in > 1:
		in--
	}
	b.timer.Reset(in)
	if b.is("an item leaves on package time too") {
		time.AfterFunc(in, func() {
			b.mu.Lock()
			b.last = b.last.Add(-b.cfg.Interval)
			b.mu.Unlock()
			b.expire()
		})
	}
}

func (b *queue) expire() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.items) == 0 || b.running {
		return
	}
	since := b.clock.Now().Sub(b.last)
	lets := b.is("a nanosecond early") || b.is("rounds the interval to milliseconds") ||
		b.is("a timer that was armed again fires twice") ||
		b.is("a timer may be a nanosecond early") && since == b.cfg.Interval-1 ||
		b.stale && b.is("a timer whose item was cancelled lets another leave")
	if since < b.cfg.Interval && !lets {
		if !b.is("a timer that comes too soon is not armed again") {
			b.arm() // it had fired already when it was armed anew
		}
		return
	}
	v := b.items[0]
	b.items = b.items[1:]
	if b.last = b.last.Add(b.cfg.Interval); !b.is("what a slow function holds up leaves in a bunch") {
		b.last = b.clock.Now()
	}
	if b.closed && b.is("drains at half the pace") {
		b.last = b.last.Add(b.cfg.Interval)
	}
	if !b.is("drops every fourth item") || v%4 != 0 {
		b.run(v, true)
	}
	if b.is("an item stays in the queue") && v == 2 && len(b.items) == 0 {
		b.items = append(b.items, v)
		b.mutant = ""
	}
	if b.is("the last item leaves nothing behind") && len(b.items) == 0 {
		b.leave(0)
	}
	b.arm()
}

// run lets v leave, which may have waited, without the lock.
func (b *queue) run(v int, waited bool) {
	if b.is("the function runs under the lock") || waited && b.is("the function of what waited runs under the lock") {
		b.leave(v)
		return
	}
	b.running = true
	defer func() {
		if !b.is("a panic leaves it running") || recover() == nil {
			b.running = false
		}
	}()
	if b.is("the time that the function takes counts twice") {
		defer func(began time.Time) {
			now := b.clock.Now()
			b.last = now.Add(now.Sub(began))
		}(b.clock.Now())
	}
	b.mu.Unlock()
	defer b.mu.Lock()
	b.leave(v)
}

// runUnlessClosed lets v leave on a goroutine of its own.
func (b *queue) runUnlessClosed(v int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.run(v, false)
		b.arm()
	}
}

func (b *queue) cancel(v int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.items, v)
	if i < 0 {
		if b.is(keepsLock) {
			b.kept.Lock()
		}
		return false
	}
	b.ghosts++
	b.stale = i == 0
	switch {
	case b.is("cancel does nothing"), b.closed && b.is("a cancel after close does nothing"):
		return true
	case b.is("cancel finds and takes out under two locks"):
		b.mu.Unlock()
		runtime.Gosched()
		b.mu.Lock()
		b.items = slices.DeleteFunc(b.items, func(o int) bool { return o == v })
		b.arm()
		return true
	case b.is("a cancel brings the next one a nanosecond forward"):
		b.last = b.last.Add(-1)
	case b.is("a cancel of the head begins the interval anew") && i == 0 && len(b.items) > 1:
		b.last = b.clock.Now()
	case b.is("a cancel costs the others an interval") && i == 0:
		b.last = b.clock.Now().Add(b.cfg.Interval)
	}
	if last := len(b.items) - 1; b.is("the last item takes the place of a cancelled one") {
		b.items[i] = b.items[last]
		b.items = b.items[:last]
	} else {
		b.items = slices.Delete(b.items, i, i+1)
	}
	b.arm()
	return true
}

func (b *queue) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.is("close drops what waits") {
		b.items = nil
		b.arm()
	}
}

func (b *queue) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	closed := b.closed
	b.closed = true
	switch {
	case closed && b.is("stop after close lets what waits leave"), b.is("stop lets what waits leave"),
		b.running && b.is("a stop while an item leaves lets what waits leave"):
		return
	case b.is("a stop as an item leaves lets those behind it leave"):
		b.timer.Stop() // or it has fired, and is armed again for the next one
		return
	case len(b.items) > 0 && b.is("stop leaves a goroutine if something waits"):
		zoo.LeaveForGood()
	}
	b.items = nil
	switch b.mutant {
	case "stop does not stop the timer":
	case "stop leaves the timer armed":
		b.timer.Reset(time.Hour)
	default:
		b.timer.Stop()
	}
}

func queueSpec(mutant string, source lb.TimeSource) lb.Spec {
	return lb.Spec{
		Name: "zoo bucket",
		Time: source,
		New: func(env lb.Env, cfg lb.Config, leave func(int)) lb.Funcs {
			b := newQueue(env.Clock, cfg, leave, mutant)
			return lb.Funcs{Put: b.put, Cancel: b.cancel, Close: b.close, Stop: b.stop}
		},
		Traits: lb.Traits{FirstItem: lb.FirstAtOnce, CloseFlush: lb.CloseAtDeadline, ClockBack: lb.BackStands},
	}
}
