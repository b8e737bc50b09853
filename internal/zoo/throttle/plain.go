package throttle

import (
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	tt "github.com/escapement-go/escapement/conformance/throttletest"
)

// plainKind is a throttle whose callback gets no payload.
var plainKind = kind{
	name: "zoo throttle without payload",
	traits: tt.Traits{
		Edges:    []tt.Edges{tt.LeadingAndTrailing, tt.Leading},
		Boundary: tt.BoundaryPasses, BothSingle: tt.BothOnce, Payload: tt.NoPayload,
	},
	make: func(b base) tt.Funcs {
		d := &plain{base: b}
		return tt.Funcs{Call: d.call, Reset: d.reset}
	},
	mistakes: []mistake{
		{"a timer that has expired emits all the same", "TH-SPACE"},
		{"a timer that has expired takes what is new", "TH-SPACE"},
		{"a timer that has expired ends the interval after a reset", "TH-RESET"},
		{"what comes while it emits is forgotten", "TH-BUSY"},
	},
}

// plain asks no clock on the leading edge.
type plain struct {
	base
	mu      sync.Mutex
	used    bool
	last    time.Time
	waiting bool
	gen     int
	timer   clockwork.Timer
}

func (d *plain) call(int) {
	if d.cfg.Edges == tt.Leading {
		d.cool()
		return
	}
	d.mu.Lock()
	now := d.clock.Now()
	rest := d.cfg.Interval - now.Sub(d.last)
	switch {
	case !d.used || rest <= 0:
		d.used, d.last, d.waiting = true, now, false
		d.gen++
		d.mu.Unlock()
		d.emit(0)
		return
	case !d.waiting:
		d.waiting = true
		d.gen++
		gen := d.gen
		d.clock.AfterFunc(rest, func() { d.trail(gen) })
	}
	d.mu.Unlock()
}

func (d *plain) trail(gen int) {
	d.mu.Lock()
	if d.is("a timer that has expired takes what is new") {
		gen = d.gen
	}
	if (gen != d.gen || !d.waiting) && !d.is("a timer that has expired emits all the same") {
		d.mu.Unlock()
		return
	}
	d.last = d.clock.Now()
	forgets := d.is("what comes while it emits is forgotten")
	d.waiting = forgets
	d.mu.Unlock()
	d.emit(0)
	if forgets {
		d.mu.Lock()
		d.waiting = false
		d.mu.Unlock()
	}
}

func (d *plain) cool() {
	d.mu.Lock()
	if d.timer != nil && d.cfg.Interval > 0 {
		d.mu.Unlock()
		return
	}
	d.gen++
	gen := d.gen
	d.timer = d.clock.AfterFunc(d.cfg.Interval, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if gen == d.gen || d.is("a timer that has expired ends the interval after a reset") {
			d.timer = nil
		}
	})
	d.mu.Unlock()
	d.emit(0)
}

func (d *plain) reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	d.used = false
	d.gen++
}
