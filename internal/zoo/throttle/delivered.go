package throttle

import (
	"time"

	"github.com/jonboulle/clockwork"

	tt "github.com/escapement-go/escapement/conformance/throttletest"
)

// deliveredKind is a stream whose intervals begin when its reader has taken an item.
var deliveredKind = kind{
	name: "zoo stream that counts from delivery",
	traits: tt.Traits{
		Edges:    []tt.Edges{tt.Leading, tt.Trailing, tt.LeadingAndTrailing},
		Boundary: tt.BoundaryEither, BothSingle: tt.BothOnce, Payload: tt.LastPayload,
		CloseFlush: tt.CloseFires, Anchor: tt.AnchorStart,
	},
	make: func(b base) tt.Funcs {
		if b.cfg.Interval <= 0 {
			panic("interval must be > 0")
		}
		d := &delivered{feed: newFeed(b), timer: b.clock.NewTimer(time.Hour)}
		d.timer.Stop()
		go d.loop()
		return d.funcs()
	},
	mistakes: []mistake{{"an interval begins before the reader has taken what opens it", "TH-BUSY"}},
}

type delivered struct {
	*feed
	timer   clockwork.Timer
	ended   <-chan time.Time // nil while no interval runs
	pending *item
}

func (d *delivered) loop() {
	defer close(d.out)
	defer d.timer.Stop()
	for on := true; on; {
		select { // an interval that is over ends before the next event is taken
		case <-d.ended:
			on = d.over()
			continue
		default:
		}
		select {
		case <-d.quit:
			return
		case <-d.ended:
			on = d.over()
		case next := <-d.in:
			switch leads := d.cfg.Edges&tt.Leading != 0; {
			case next.last:
				if d.pending != nil {
					d.put(*d.pending)
				}
				return
			case next.err:
				on = d.put(next)
			case d.ended == nil && leads:
				on = d.opens(next)
			case d.ended == nil:
				d.pending = &next
				d.begin()
			case d.cfg.Edges&tt.Trailing != 0:
				d.pending = &next
			}
		}
	}
}

func (d *delivered) begin() {
	d.timer.Reset(d.cfg.Interval)
	d.ended = d.timer.Chan()
}

// opens hands over an item that opens an interval.
func (d *delivered) opens(next item) bool {
	if d.is("an interval begins before the reader has taken what opens it") {
		d.begin()
		return d.put(next)
	}
	defer d.begin()
	return d.put(next)
}

// over ends an interval.
func (d *delivered) over() bool {
	d.ended = nil
	next := d.pending
	d.pending = nil
	return next == nil || d.opens(*next)
}
