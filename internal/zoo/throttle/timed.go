package throttle

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"

	tt "github.com/escapement-go/escapement/conformance/throttletest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// timed is a throttle with every edge, and with keys.
type timed struct {
	base
	mu             sync.Mutex
	used           bool
	until          time.Time
	pending        bool
	value          int
	gen, n         int
	armed          bool
	timer          clockwork.Timer
	total, first   int  // emissions, and how many there had been when the interval began
	opened         int  // intervals
	dead           int  // the number of a timer that a flush stopped
	busy           bool // only of mutants
	erred          bool // the last item was an error
	ended, stopped bool

	keyless *timed         // of one for a key: the one that has it
	keys    map[int]*timed // of one without a key
	order   []int          // in which the keys came
	heard   atomic.Int64   // the newest payload of any key
}

func (d *timed) allowAt(now time.Time) bool {
	unlocked := d.is("checks without the lock") || d.is("counts without the lock")
	if !unlocked {
		d.mu.Lock()
		defer d.mu.Unlock()
	}
	if d.n++; d.n == 3 && d.is("panics on the third event") {
		panic("index out of range")
	}
	if !d.used && d.is("the first event only starts the interval") {
		d.used, d.until = true, now.Add(d.cfg.Interval)
		return d.cfg.Interval == 0
	}
	early := d.used && now.Before(d.until.Add(-d.cfg.Interval))
	if early && (d.is("everything passes until a clock that is set back is where it was") ||
		d.cfg.K > 1 && d.is("several pass until a clock that is set back is where it was")) {
		return true
	}
	d.reckon(now)
	open := !d.used || !now.Before(d.until)
	most := max(1, d.cfg.K)
	if most > 1 && d.is("lets one more pass") {
		most++
	}
	if d.is("counts emissions in a byte") {
		d.total %= 256
	}
	if d.used && !open && d.total-d.first < most {
		d.total++
		if d.is("an interval counts from its newest event") {
			d.until = now.Add(d.cfg.Interval)
		}
		return true
	}
	switch d.mutant {
	case "the zero time is the last emission":
		open = open && now.Sub(time.Time{}) >= d.cfg.Interval
	case "silence is 32 bits of milliseconds":
		silence := now.Sub(d.until.Add(-d.cfg.Interval))
		open = open && (!d.used || uint32(silence.Milliseconds()) >= uint32(d.cfg.Interval.Milliseconds()))
	case "after a hundred years nothing passes":
		open = open && (!d.used || now.Sub(d.until) < 100*365*24*time.Hour)
	case "an event at the end waits":
		open = !d.used || now.After(d.until) || d.cfg.Interval == 0
	case "zero interval blocks":
		open = open && (!d.used || d.cfg.Interval > 0)
	case "every denial extends the interval":
		if !open {
			d.until = now.Add(d.cfg.Interval)
		}
	}
	if !open {
		return false
	}
	if unlocked {
		for range 100 {
			runtime.Gosched() // lets others in
		}
	}
	d.used, d.until, d.first = true, now.Add(d.cfg.Interval), d.total
	d.total++
	d.opened++
	switch d.mutant {
	case "an interval ends on package time too":
		time.AfterFunc(d.cfg.Interval, d.reset)
	case "the interval is a nanosecond short":
		d.until = d.until.Add(-1)
	case "the end of an interval is counted in nanoseconds since 1970":
		d.until = time.Unix(0, now.UnixNano()+int64(d.cfg.Interval))
	}
	return true
}

// reckon ends the interval if the clock was set back to before it.
func (d *timed) reckon(now time.Time) {
	freezes := d.is("a clock that is set back freezes it") ||
		d.is("a clock that is set back freezes several") && d.cfg.K > 1 ||
		d.is("a clock that is set back after the first interval freezes it") && d.opened > 1
	if now.Before(d.until.Add(-d.cfg.Interval)) && !freezes {
		d.used = false
	}
}

// call is an event. What it does with the lock held, it does in decide.
func (d *timed) call(v int) {
	switch d.mutant {
	case "callback under the lock":
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.cfg.Edges&tt.Leading != 0 {
			d.emit(v)
		}
		return
	case "a panic leaves it busy":
		if d.busy {
			return
		}
		d.busy = true
		d.enter(v)
		d.busy = false
		return
	case "an interval of 0 lasts until a timer ends it, and its callback must not bring events":
		if d.cfg.Interval == 0 && !d.cool() {
			return
		}
	case "keeps a lock when an event waits":
		defer func() { zoo.LockIf(&d.mu, d.pending) }()
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
	switch edges := d.cfg.Edges; {
	case edges == tt.NoEdges && !d.is("no edge is the leading one"):
		return
	case edges == tt.NoEdges, edges == tt.Leading && !d.is("a leading throttle emits later"):
		if d.allowAt(d.clock.Now()) {
			d.emit(v)
			if d.is("an interval counts from the end of its callback") {
				d.mu.Lock()
				d.until = d.clock.Now().Add(d.cfg.Interval)
				d.mu.Unlock()
			}
		}
		return
	}
	d.mu.Lock()
	leads := d.decide(v)
	d.mu.Unlock()
	if !leads {
		return
	}
	d.emit(v)
	switch d.mutant {
	case "both edges emit at once":
		if d.cfg.Edges == tt.LeadingAndTrailing {
			d.emit(v)
		}
	case "what came during the callback follows at once":
		d.flush()
	}
}

// decide reports whether an event is emitted at once. mu is held.
func (d *timed) decide(v int) (leads bool) {
	now := d.clock.Now()
	d.reckon(now)
	running := d.used && now.Before(d.until)
	if d.pending && d.armed && !d.is("an event at the very end overtakes what is pending") {
		running = true // the timer is on the way
	}
	trails := d.cfg.Edges == tt.Trailing
	switch {
	case d.stopped,
		d.busy && d.is("a panic on the trailing edge wedges it"),
		trails && d.cfg.Interval == 0 && d.is("an interval of zero never trails"),
		v == 0 && d.is("a zero payload is no event"):
		return false
	case trails && !running && !d.until.IsZero() && d.is("a trailing throttle leads after its first interval"):
		d.until = now.Add(d.cfg.Interval)
		return true
	case running:
		if !d.pending || !d.is("emits the first payload") {
			d.value = v
		}
		if !d.armed || d.pending && d.is("events put off the end") {
			d.arm(d.cfg.Interval) // the clock was set back after the timer had fired
		}
		d.pending = true
		return false
	}
	if d.is("looks and begins under two locks") {
		d.mu.Unlock()
		runtime.Gosched()
		d.mu.Lock()
	}
	d.used, d.until = true, now.Add(d.cfg.Interval)
	leads = d.cfg.Edges&tt.Leading != 0 || d.is("a trailing throttle leads too")
	if !leads || d.is("emits a single event twice") {
		d.pending, d.value = true, v
	}
	d.arm(d.cfg.Interval)
	return leads
}

func (d *timed) arm(in time.Duration) {
	if d.timer != nil {
		d.timer.Stop()
	}
	d.gen++
	gen := d.gen
	d.armed = true
	switch d.mutant {
	case "the trailing edge is rounded to milliseconds":
		in = in.Truncate(time.Millisecond)
	case "the trailing edge leaves a timer armed":
		d.clock.AfterFunc(1000*in, func() {})
	}
	d.timer = d.clock.AfterFunc(in, func() {
		d.mu.Lock()
		if gen == d.dead && d.is("a timer that a flush overtakes emits all the same") {
			d.mu.Unlock()
			d.emit(0)
			return
		}
		d.armed = d.armed && gen != d.gen
		if d.stopped && d.is("an interval that ends after stop leaves a goroutine") && d.clock.Now().Equal(d.until) {
			zoo.LeaveForGood()
		}
		if gen != d.gen || !d.pending && !d.is("emits without an event") || d.is("drops what came last") {
			d.mu.Unlock()
			return
		}
		again := d.pending
		d.pending = false
		if again && !d.is("a trailing emission opens nothing") {
			d.until = d.clock.Now().Add(d.cfg.Interval)
			d.arm(d.cfg.Interval)
		}
		v := d.value
		if d.keyless != nil && d.is("keys share what waits for the trailing edge") {
			v = int(d.keyless.heard.Load())
		}
		d.busy = d.busy || d.is("a panic on the trailing edge wedges it")
		d.mu.Unlock()
		d.emit(v)
		d.mu.Lock()
		defer d.mu.Unlock()
		switch d.mutant {
		case "a panic on the trailing edge wedges it":
			d.busy = false
		case "arms its timer again behind the callback":
			d.arm(d.until.Sub(d.clock.Now()))
		case "a trailing interval counts from the end of its callback":
			if d.until = d.clock.Now().Add(d.cfg.Interval); !d.stopped {
				d.arm(d.cfg.Interval)
			}
		}
	})
}

// flush emits what is pending, and reports whether anything was. The interval runs on.
func (d *timed) flush() (had bool) {
	d.mu.Lock()
	v, had := d.value, d.pending
	d.pending = had && d.is("a flushed event comes again")
	switch {
	case had && d.is("a flush emits under the lock"):
		defer d.mu.Unlock()
		d.emit(v)
		return true
	case had && d.is("a flush stops the timer and leaves the interval running"):
		d.gen++
	case had && d.is("a timer that a flush overtakes emits all the same"):
		d.timer.Stop()
		d.dead, d.armed = d.gen, false
	case !had && d.is("a flush of nothing ends the interval"):
		d.used = false
	case !had && d.used && d.is("a flush of nothing begins the interval anew"):
		d.until = d.clock.Now().Add(d.cfg.Interval)
	}
	d.mu.Unlock()
	if had || d.is("flush emits what is not pending") {
		d.emit(v)
	}
	return had
}

func (d *timed) drop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.pending {
		return
	}
	switch d.mutant {
	case "a dropped event opens an interval":
		d.until = d.until.Add(d.cfg.Interval)
	case "a drop begins the interval anew":
		d.until = d.clock.Now().Add(d.cfg.Interval)
		d.arm(d.cfg.Interval)
	case "a drop stops the timer and leaves the interval running":
		d.timer.Stop()
	}
	d.pending = d.is("drop leaves what is pending")
}

// end is the end of the input: it emits what is pending.
func (d *timed) end() {
	d.mu.Lock()
	v, emits := d.value, d.pending
	d.pending, d.ended = false, true
	d.mu.Unlock()
	if !d.is("the end of the input leaves what waits for a key") {
		for _, own := range d.keys {
			own.end()
		}
	}
	lost := d.is("drops what is pending at the end") ||
		d.erred && d.is("an error that comes last takes what is pending with it")
	if emits && !lost {
		d.emit(v)
	}
}

func (d *timed) closed() bool { d.mu.Lock(); defer d.mu.Unlock(); return d.ended }

func (d *timed) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	if !d.is("stop leaves what waits for a key") {
		for _, own := range d.keys {
			own.stop()
		}
	}
	runs := d.is("stop leaves the timer of the interval armed") || d.is("stop lets the pending event come") ||
		d.is("an interval that ends after stop leaves a goroutine") && !d.clock.Now().Before(d.until)
	expired := d.timer != nil && !runs && !d.timer.Stop()
	switch {
	case expired && d.is("a timer that has expired emits after stop"), d.is("stop lets the pending event come"):
	case d.is("flush emits what stop has dropped"):
		d.gen++
	default:
		d.pending = false
	}
}

// timedKind is a throttle with every edge.
func timedKind() kind {
	var shared *timed
	return kind{
		name: "zoo throttle",
		make: func(b base) tt.Funcs {
			switch b.mutant {
			case "goroutine left behind":
				zoo.LeaveForGood()
			case zoo.LosesTime:
				b.clock = zoo.LosingTime(b.clock)
			}
			d := &timed{base: b, keys: map[int]*timed{}}
			f := tt.Funcs{
				Call: d.call, CallKey: d.callKey, ResetKey: d.resetKey, AllowAt: d.allowAt, Reset: d.reset,
				Drop: d.drop, Flush: d.flushAll, Stop: d.stop, Close: d.end, Closed: d.closed,
			}
			switch b.mutant {
			case "instances share an interval":
				if shared == nil || shared.clock != d.clock {
					shared = d
				}
				return tt.Funcs{Call: func(v int) {
					if d == shared || shared.allowAt(d.clock.Now()) {
						d.call(v)
					}
				}}
			case "a reset is done by a goroutine":
				f.Reset = func() { go d.reset() }
			case "an event with the payload of the one before is none":
				f.Call = zoo.Deduped(d.call)
			case "an event is handed over on a goroutine":
				f.Call = zoo.Overtaking(d.call)
			}
			return f
		},
		traits: tt.Traits{
			Edges:      []tt.Edges{tt.Leading, tt.Trailing, tt.LeadingAndTrailing, tt.NoEdges},
			CloseFlush: tt.CloseFires, Boundary: tt.BoundaryPasses, BothSingle: tt.BothOnce,
			Payload: tt.LastPayload, Windows: tt.WindowsFromFirst, Anchor: tt.AnchorStart,
			ClockBack: tt.BackBounded, PanicPolicy: tt.PanicPropagates, AfterFlush: tt.FlushKeepsInterval,
		},
		mistakes: timedMistakes,
	}
}
