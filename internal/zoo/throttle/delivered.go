package throttle

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/conformance/throttletest"
	"github.com/jonboulle/clockwork"
)

// beforeReader is a mistake of delivered.
const beforeReader = "an interval begins before the reader has taken what opens it"

// delivered is a stream whose intervals begin when its reader has taken an item, correct unless mutant names
// its mistake.
type delivered struct {
	feed
	out   chan item
	timer clockwork.Timer
	ended <-chan time.Time // nil while no interval runs
}

func newDelivered(clock clockwork.Clock, cfg throttletest.Config, mutant string) *delivered {
	if cfg.Interval <= 0 {
		panic("interval must be > 0")
	}
	d := &delivered{out: make(chan item), timer: clock.NewTimer(time.Hour)}
	d.feed = feed{in: make(chan item), quit: make(chan struct{}), mutant: mutant}
	d.timer.Stop()
	go d.loop(cfg)
	return d
}

func (d *delivered) loop(cfg throttletest.Config) {
	defer close(d.out)
	defer d.timer.Stop()
	var pending *item
	begin := func() {
		d.timer.Reset(cfg.Interval)
		d.ended = d.timer.Chan()
	}
	opens := func(next item) bool {
		if d.mutant == beforeReader {
			begin()
			return d.put(next)
		}
		defer begin()
		return d.put(next)
	}
	on := true
	over := func() {
		if d.ended = nil; pending != nil {
			next := *pending
			pending = nil
			on = opens(next)
		}
	}
	for on {
		select { // an interval that is over ends before the next event is taken
		case <-d.ended:
			over()
			continue
		default:
		}
		select {
		case <-d.quit:
			return
		case <-d.ended:
			over()
		case next := <-d.in:
			switch leads := cfg.Edges&throttletest.Leading != 0; {
			case next.last:
				if pending != nil {
					d.put(*pending)
				}
				return
			case next.err:
				on = d.put(next)
			case d.ended == nil && leads:
				on = opens(next)
			case d.ended == nil:
				pending = &next
				begin()
			case cfg.Edges&throttletest.Trailing != 0:
				pending = &next
			}
		}
	}
}

// put hands an item to the reader, unless the context ends.
func (d *delivered) put(next item) bool {
	select {
	case d.out <- next:
		return true
	case <-d.quit:
		return false
	}
}

func deliveredSpec(mutant string, source throttletest.TimeSource) throttletest.Spec {
	spec := timedSpec("", source, throttletest.Leading, throttletest.Trailing, throttletest.LeadingAndTrailing)
	spec.Name = "zoo stream that counts from delivery"
	spec.New = func(env throttletest.Env, cfg throttletest.Config, emit func(int)) throttletest.Funcs {
		d := newDelivered(env.Clock, cfg, mutant)
		var closed atomic.Bool
		go func() {
			for next := range d.out {
				emit(next.v)
			}
			closed.Store(true)
		}()
		return throttletest.Funcs{
			Call:   func(v int) { d.send(item{v: v}) },
			Fault:  func(v int) { d.send(item{v: v, err: true}) },
			Close:  func() { d.send(item{last: true}) },
			Cancel: sync.OnceFunc(func() { close(d.quit) }),
			Closed: closed.Load,
		}
	}
	spec.Traits.Boundary = throttletest.BoundaryEither
	spec.Traits.Windows, spec.Traits.ClockBack, spec.Traits.PanicPolicy, spec.Traits.AfterFlush = 0, 0, 0, 0
	return spec
}
