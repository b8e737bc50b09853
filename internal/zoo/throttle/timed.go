package throttle

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	tt "github.com/escapement-go/escapement/conformance/throttletest"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/jonboulle/clockwork"
)

// timed is a throttle with every edge, correct unless mutant names one of its
// mistakes.
type timed struct {
	clock  clockwork.Clock
	cfg    tt.Config
	emit   func(int)
	mutant string

	mu             sync.Mutex
	used           bool
	until          time.Time
	pending        bool
	value          int
	gen, n         int
	armed          bool
	timer          clockwork.Timer
	total          uint8 // emissions, only of the mutant that counts them so
	first          int   // the number of the first one of the interval
	erred          bool  // the last item was an error
	count          int   // emissions of the interval
	opened         int   // intervals
	dead           int   // the number of a timer that a flush stopped
	busy           bool  // only of the mutant that needs it
	ended, stopped bool
	stands         bool // the clock stands still when it is set back
	newest         time.Time
	known          map[int]*timed // those of keys
	heard          *atomic.Int64  // the newest payload of all keys
}

const zeroByTimer = "an interval of 0 lasts until a timer ends it"

func (d *timed) is(mutant string) bool { return d.mutant == mutant }

func (d *timed) allowAt(now time.Time) bool {
	if !d.is("checks without the lock") {
		d.mu.Lock()
		defer d.mu.Unlock()
	}
	d.n++
	if d.is("panics on the third event") && d.n == 3 {
		panic("index out of range")
	}
	if d.is("the first event only starts the interval") && !d.used {
		d.used, d.until = true, now.Add(d.cfg.Interval)
		return d.cfg.Interval == 0
	}
	if d.used && now.Before(d.until.Add(-d.cfg.Interval)) && (d.cfg.K > 1 ||
		d.is("everything passes until a clock that is set back is where it was")) &&
		strings.Contains(d.mutant, "until a clock that is set back is where it was") {
		return true
	}
	now = d.reckon(now)
	open := !d.used || !now.Before(d.until)
	if d.is("the zero time is the last emission") && now.Sub(time.Time{}) < d.cfg.Interval {
		return false
	}
	k := max(1, d.cfg.K)
	if d.is("lets one more pass") && k > 1 {
		k++
	}
	if d.is("counts emissions in a byte") {
		d.count = int(d.total) - d.first
	}
	if d.used && !open && d.count < k {
		d.count++
		d.total++
		if d.is("an interval counts from its newest event") {
			d.until = now.Add(d.cfg.Interval)
		}
		return true
	}
	if d.is("silence is 32 bits of milliseconds") && d.used && open {
		open = uint32(now.Sub(d.until.Add(-d.cfg.Interval)).Milliseconds()) >= uint32(d.cfg.Interval.Milliseconds())
	}
	if d.is("after a hundred years nothing passes") && open && d.used {
		open = now.Sub(d.until) < 100*365*24*time.Hour
	}
	if d.is("an event at the end waits") {
		open = !d.used || now.After(d.until) || d.cfg.Interval == 0
	}
	if d.is("every denial extends the interval") && !open {
		d.until = now.Add(d.cfg.Interval)
	}
	if d.is("zero interval blocks") && d.cfg.Interval == 0 && d.used {
		return false
	}
	if !open {
		return false
	}
	if d.is("checks without the lock") {
		for range 100 {
			runtime.Gosched() // lets others in
		}
	}
	d.used, d.until, d.count = true, now.Add(d.cfg.Interval), 1
	d.first = int(d.total)
	d.total++
	d.opened++
	if d.is("an interval ends on package time too") {
		time.AfterFunc(d.cfg.Interval, d.reset)
	}
	switch {
	case d.is("the interval is a nanosecond short"):
		d.until = d.until.Add(-1)
	case d.is("the end of an interval is counted in nanoseconds since 1970"):
		d.until = time.Unix(0, now.UnixNano()+int64(d.cfg.Interval))
	}
	return true
}

// reckon is the instant that counts. A clock that is set back to before the interval
// ends it, unless it is to stand still.
func (d *timed) reckon(now time.Time) time.Time {
	if d.stands {
		if now.Before(d.newest) && !d.is("follows a clock that is set back") {
			now = d.newest
		}
		d.newest = now
	}
	if d.is("a clock that is set back freezes several") && d.cfg.K > 1 {
		return now
	}
	freezes := d.is("a clock that is set back freezes it") ||
		d.is("a clock that is set back after the first interval freezes it") && d.opened > 1
	if d.used && now.Before(d.until.Add(-d.cfg.Interval)) && !freezes {
		d.used = false
	}
	return now
}

// call is an event. What it does with the lock held, it does in enter.
func (d *timed) call(v int) {
	if d.is("callback under the lock") {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.cfg.Edges&tt.Leading != 0 {
			d.emit(v)
		}
		return
	}
	if d.is(zeroByTimer) && d.cfg.Interval == 0 && !d.cool() {
		return
	}
	if d.is("a panic leaves it busy") {
		if d.busy {
			return
		}
		d.busy = true
		d.enter(v)
		d.busy = false
		return
	}
	d.enter(v)
}

// cool reports whether no timer runs, and lets one run.
func (d *timed) cool() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.busy {
		return false
	}
	d.busy = true
	d.clock.AfterFunc(0, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.busy = false
	})
	return true
}

func (d *timed) enter(v int) {
	if d.cfg.Edges == tt.NoEdges && !d.is("no edge is the leading one") {
		return
	}
	if d.is("keeps a lock when an event waits") {
		defer func() { zoo.LockIf(&d.mu, d.pending) }()
	}
	d.mu.Lock()
	if d.cfg.Edges == tt.NoEdges {
		d.cfg.Edges = tt.Leading
	}
	now := d.clock.Now()
	if d.cfg.Edges == tt.Leading && !d.is("a leading throttle emits later") {
		d.mu.Unlock()
		if d.allowAt(now) {
			d.emit(v)
			if d.is("an interval counts from the end of its callback") {
				d.mu.Lock()
				d.until = d.clock.Now().Add(d.cfg.Interval)
				d.mu.Unlock()
			}
		}
		return
	}
	now = d.reckon(now)
	running := d.used && now.Before(d.until)
	if d.pending && d.armed && !d.is("an event at the very end overtakes what is pending") {
		running = true // the timer is on the way
	}
	if d.stopped || d.busy && d.is("a panic on the trailing edge wedges it") ||
		d.is("an interval of zero never trails") && d.cfg.Interval == 0 &&
			d.cfg.Edges == tt.Trailing {
		d.mu.Unlock()
		return
	}
	if d.is("a zero payload is no event") && v == 0 {
		d.mu.Unlock()
		return
	}
	if d.is("a trailing throttle leads after its first interval") && !running && !d.until.IsZero() &&
		d.cfg.Edges == tt.Trailing {
		d.until = now.Add(d.cfg.Interval)
		d.mu.Unlock()
		d.emit(v)
		return
	}
	if running {
		if !d.pending || !d.is("emits the first payload") {
			d.value = v
		}
		if d.is("events put off the end") && d.pending {
			d.arm(d.cfg.Interval)
		}
		d.pending = true
		if !d.armed { // the clock was set back after the timer had fired
			d.arm(d.cfg.Interval)
		}
		d.mu.Unlock()
		return
	}
	if d.is("looks and begins under two locks") {
		d.mu.Unlock()
		runtime.Gosched()
		d.mu.Lock()
	}
	d.used, d.until = true, now.Add(d.cfg.Interval)
	lead := d.cfg.Edges&tt.Leading != 0 || d.is("a trailing throttle leads too")
	if !lead || d.is("emits a single event twice") {
		d.pending, d.value = true, v
	}
	d.arm(d.cfg.Interval)
	d.mu.Unlock()
	if lead {
		d.emit(v)
	}
	if d.is("both edges emit at once") && d.cfg.Edges == tt.LeadingAndTrailing {
		d.emit(v)
	}
	if d.is("what came during the callback follows at once") && lead {
		d.mu.Lock()
		next, ok := d.value, d.pending
		d.pending = false
		d.mu.Unlock()
		if ok {
			d.emit(next)
		}
	}
}

func (d *timed) arm(in time.Duration) {
	if d.timer != nil {
		d.timer.Stop()
	}
	d.gen++
	gen := d.gen
	d.armed = true
	if d.is("the trailing edge is rounded to milliseconds") {
		in = in.Truncate(time.Millisecond)
	}
	if d.is("the trailing edge leaves a timer armed") {
		d.clock.AfterFunc(1000*in, func() {})
	}
	d.timer = d.clock.AfterFunc(in, func() {
		d.mu.Lock()
		if d.is("a timer that a flush overtakes emits all the same") && gen == d.dead {
			d.mu.Unlock()
			d.emit(0)
			return
		}
		d.armed = d.armed && gen != d.gen
		if d.is("an interval that ends after stop leaves a goroutine") && d.stopped && d.clock.Now().Equal(d.until) {
			zoo.LeaveForGood()
		}
		if gen != d.gen || !d.pending && !d.is("emits without an event") || d.is("drops what came last") {
			d.mu.Unlock()
			return
		}
		if d.is("a panic on the trailing edge wedges it") {
			d.pending, d.busy = false, true
			d.mu.Unlock()
			d.emit(d.value)
			d.mu.Lock()
			d.busy = false
			d.until = d.clock.Now().Add(d.cfg.Interval)
			d.arm(d.cfg.Interval)
			d.mu.Unlock()
			return
		}
		again := d.pending
		d.pending = false
		if !d.is("a trailing emission opens nothing") && again {
			d.until = d.clock.Now().Add(d.cfg.Interval)
			d.arm(d.cfg.Interval)
		}
		v := d.waiting()
		d.mu.Unlock()
		d.emit(v)
		if d.is("arms its timer again behind the callback") {
			d.mu.Lock()
			d.arm(d.until.Sub(d.clock.Now()))
			d.mu.Unlock()
		}
		if d.is("a trailing interval counts from the end of its callback") {
			d.mu.Lock()
			if d.until = d.clock.Now().Add(d.cfg.Interval); !d.stopped {
				d.arm(d.cfg.Interval)
			}
			d.mu.Unlock()
		}
	})
}

// flush emits what is pending, and reports whether anything was. The interval runs on.
func (d *timed) flush() (had bool) {
	d.mu.Lock()
	v, ok := d.value, d.pending
	d.pending = ok && d.is("a flushed event comes again")
	if d.is("a flush of nothing begins the interval anew") && !ok && d.used {
		d.until = d.clock.Now().Add(d.cfg.Interval)
	}
	if d.is("a flush emits under the lock") && ok {
		defer d.mu.Unlock()
		d.emit(v)
		return true
	}
	if d.is("a flush stops the timer and leaves the interval running") && ok {
		d.gen++
	}
	if d.is("a timer that a flush overtakes emits all the same") && ok {
		d.timer.Stop()
		d.dead, d.armed = d.gen, false
	}
	if d.is("a flush of nothing ends the interval") && !ok {
		d.used = false
	}
	d.mu.Unlock()
	if ok || d.is("flush emits what is not pending") {
		d.emit(v)
	}
	return ok
}

// end is the end of the input: it emits what is pending.
func (d *timed) end() {
	d.mu.Lock()
	v, ok := d.value, d.pending
	d.pending, d.ended = false, true
	known := d.known
	if d.is("the end of the input leaves what waits for a key") {
		known = nil
	}
	d.mu.Unlock()
	for _, own := range known {
		own.end()
	}
	lost := d.is("drops what is pending at the end") ||
		d.is("an error that comes last takes what is pending with it") && d.erred
	if ok && !lost {
		d.emit(v)
	}
}

func (d *timed) closed() bool { d.mu.Lock(); defer d.mu.Unlock(); return d.ended }

func (d *timed) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	if !d.is("stop leaves what waits for a key") {
		for _, own := range d.known {
			own.stop()
		}
	}
	runs := d.is("stop leaves the timer of the interval armed") || d.is("stop lets the pending event come") ||
		d.is("an interval that ends after stop leaves a goroutine") && !d.clock.Now().Before(d.until)
	if d.timer != nil && !runs && !d.timer.Stop() && d.is("a timer that has expired emits after stop") {
		return
	}
	if d.is("flush emits what stop has dropped") {
		d.gen++
		return
	}
	if !d.is("stop lets the pending event come") {
		d.pending = false
	}
}

func timedSpec(mutant string, source tt.TimeSource, edges ...tt.Edges) tt.Spec {
	if len(edges) == 0 {
		edges = []tt.Edges{
			tt.Leading, tt.Trailing, tt.LeadingAndTrailing, tt.NoEdges,
		}
	}
	back := tt.BackBounded
	if mutant == "follows a clock that is set back" {
		back = tt.BackStands
	}
	var shared *timed
	return tt.Spec{
		Name: "zoo throttle",
		Time: source,
		New: func(env tt.Env, cfg tt.Config, emit func(int)) tt.Funcs {
			d := &timed{
				clock:  env.Clock,
				cfg:    cfg,
				emit:   emit,
				mutant: mutant,
				stands: mutant == "follows a clock that is set back",
			}
			if mutant == "instances share an interval" {
				if shared == nil || shared.clock != env.Clock {
					shared = d
				}
				return tt.Funcs{Call: func(v int) {
					if d == shared || shared.allowAt(env.Clock.Now()) {
						d.call(v)
					}
				}}
			}
			if mutant == "goroutine left behind" {
				zoo.LeaveForGood()
			}
			of := d.keys()
			return tt.Funcs{
				Call:    d.call,
				CallKey: func(key, v int) { of(key).callKey(v) },
				ResetKey: func(key int) {
					if mutant == "a reset with a key is one of another too" {
						of(3 - key).reset()
					}
					of(key).resetKey()
				},
				AllowAt: d.allowAt,
				Reset:   d.reset,
				Drop:    d.drop,
				Flush:   d.flushAll,
				Stop:    d.stop,
				Close:   d.end,
				Closed:  d.closed,
			}
		},
		Traits: tt.Traits{
			Edges:       edges,
			CloseFlush:  tt.CloseFires,
			Boundary:    tt.BoundaryPasses,
			BothSingle:  tt.BothOnce,
			Payload:     tt.LastPayload,
			Windows:     tt.WindowsFromFirst,
			Anchor:      tt.AnchorStart,
			ClockBack:   back,
			PanicPolicy: tt.PanicPropagates,
			AfterFlush:  tt.FlushKeepsInterval,
		},
	}
}
