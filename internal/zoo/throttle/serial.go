package throttle

import (
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	tt "github.com/escapement-go/escapement/conformance/throttletest"
)

// serialKind runs one callback at a time, on the goroutine that is at hand: what falls due meanwhile follows on
// that one.
var serialKind = kind{
	name: "zoo throttle with one callback at a time",
	traits: tt.Traits{
		Edges:    []tt.Edges{tt.Leading, tt.Trailing, tt.LeadingAndTrailing},
		Boundary: tt.BoundaryPasses, BothSingle: tt.BothOnce,
		Payload: tt.LastPayload, Anchor: tt.AnchorStart,
		PanicPolicy: tt.PanicPropagates, AfterFlush: tt.FlushOpensInterval,
	},
	make: func(b base) tt.Funcs {
		d := &serial{base: b}
		return tt.Funcs{Call: d.call, Flush: d.flush, Stop: d.stop}
	},
	mistakes: []mistake{
		{"the interval of what waited for a callback counts from that one", "TH-BUSY"},
		{"what a callback that panics has held up is lost", "X-PANIC"},
		{"an interval of 0 keeps the newest event only", "TH-ZERO"},
		{"a flush while a callback runs does nothing", "TH-FLUSH"},
		{"a flush that emits opens no interval", "TH-FLUSH"},
		{"a timer that a flush overtakes ends the interval of the flush", "TH-FLUSH"},
		{"a stop while a callback runs waits for ever", "X-CALLS"},
		{"a stop from the callback lets it run again", "TH-STOP"},
	},
}

type serial struct {
	base
	mu      sync.Mutex
	used    bool
	until   time.Time
	pending bool
	due     bool // what is pending follows the callback that runs
	value   int
	queue   []int // with an interval of 0
	running bool
	stopped bool
	gen     int // of the timer
	timer   clockwork.Timer
}

func (d *serial) call(v int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	trails, leads := d.cfg.Edges&tt.Trailing != 0, d.cfg.Edges&tt.Leading != 0
	now := d.clock.Now()
	switch {
	case d.stopped:
	case d.cfg.Interval == 0:
		if d.running && d.is("an interval of 0 keeps the newest event only") {
			d.queue = nil
		}
		if d.queue = append(d.queue, v); !d.running {
			d.run()
		}
	case d.pending:
		d.value = v
	case d.used && now.Before(d.until):
		if trails {
			d.pending, d.value = true, v
			d.arm(d.until.Sub(now))
		}
	case leads && d.running:
		d.pending, d.due, d.value = trails, trails, v
	case leads:
		d.pending, d.value = true, v
		d.run()
	default:
		d.used, d.until = true, now.Add(d.cfg.Interval)
		d.pending, d.value = true, v
		d.arm(d.cfg.Interval)
	}
}

func (d *serial) arm(in time.Duration) {
	if d.timer != nil {
		d.timer.Stop()
	}
	d.gen++
	gen := d.gen
	d.timer = d.clock.AfterFunc(in, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		switch {
		case gen != d.gen && d.is("a timer that a flush overtakes ends the interval of the flush"):
			d.used = false
		case gen != d.gen || !d.pending || d.due:
		case d.running:
			d.due = true
		default:
			d.run()
		}
	})
}

// run runs the callback, and again for what has fallen due meanwhile.
func (d *serial) run() {
	d.running = true
	defer d.leave()
	now := d.clock.Now()
	for {
		v := d.value
		if d.cfg.Interval == 0 {
			v, d.queue = d.queue[0], d.queue[1:]
		}
		d.pending, d.due = false, false
		d.used, d.until = true, now.Add(d.cfg.Interval)
		func() {
			d.mu.Unlock()
			defer d.mu.Lock()
			d.emit(v)
		}()
		if !d.due && len(d.queue) == 0 {
			return
		}
		if !d.is("the interval of what waited for a callback counts from that one") {
			now = d.clock.Now()
		}
	}
}

// leave ends the last run, or one whose callback panicked.
func (d *serial) leave() {
	d.running = false
	if !d.due {
		return
	}
	d.due = false
	if d.is("what a callback that panics has held up is lost") {
		d.pending = false
		return
	}
	d.arm(1)
}

func (d *serial) flush() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.pending || d.running && d.is("a flush while a callback runs does nothing") {
		return
	}
	d.gen++
	if d.is("a timer that a flush overtakes ends the interval of the flush") {
		d.timer.Stop()
	}
	if d.due = d.running; d.running {
		return
	}
	until := d.until
	if d.run(); d.is("a flush that emits opens no interval") {
		d.until = until
	}
}

func (d *serial) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.running && d.is("a stop while a callback runs waits for ever") {
		d.mu.Unlock()
		<-make(chan struct{})
	}
	d.stopped, d.pending, d.queue = true, false, nil
	d.due = d.running && d.is("a stop from the callback lets it run again")
	d.gen++
	if d.timer != nil {
		d.timer.Stop()
	}
}
