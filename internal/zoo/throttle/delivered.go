package throttle

import (
	"sync"
	"sync/atomic"
	"time"

	tt "github.com/escapement-go/escapement/conformance/throttletest"
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

func newDelivered(clock clockwork.Clock, cfg tt.Config, mutant string) *delivered {
	if cfg.Interval <= 0 {
		panic("interval must be > 0")
	}
	d := &delivered{out: make(chan item), timer: clock.NewTimer(time.Hour)}
	d.feed = feed{in: make(chan item), quit: make(chan struct{}), mutant: mutant}
	d.timer.Stop()
	go d.loop(cfg)
	return d
}

func (d *delivered) loop(cfg tt.Config) {
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
			switch leads := cfg.Edges&tt.Leading != 0; {
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
			case cfg.Edges&tt.Trailing != 0:
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

func deliveredSpec(mutant string, source tt.TimeSource) tt.Spec {
	spec := timedSpec("", source, tt.Leading, tt.Trailing, tt.LeadingAndTrailing)
	spec.Name = "zoo stream that counts from delivery"
	spec.New = func(env tt.Env, cfg tt.Config, emit func(int)) tt.Funcs {
		d := newDelivered(env.Clock, cfg, mutant)
		var closed atomic.Bool
		go func() {
			for next := range d.out {
				emit(next.v)
			}
			closed.Store(true)
		}()
		return tt.Funcs{
			Call:   func(v int) { d.send(item{v: v}) },
			Fault:  func(v int) { d.send(item{v: v, err: true}) },
			Close:  func() { d.send(item{last: true}) },
			Cancel: sync.OnceFunc(func() { close(d.quit) }),
			Closed: closed.Load,
		}
	}
	spec.Traits.Boundary = tt.BoundaryEither
	spec.Traits.Windows, spec.Traits.ClockBack, spec.Traits.PanicPolicy, spec.Traits.AfterFlush = 0, 0, 0, 0
	return spec
}
