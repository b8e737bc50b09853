package throttle

import (
	"sync"
	"sync/atomic"

	tt "github.com/escapement-go/escapement/conformance/throttletest"
	"github.com/jonboulle/clockwork"
)

// feed is the input of a stream, which ends with its context.
type feed struct {
	in     chan item
	quit   chan struct{}
	mutant string
}

// item is what goes through a stream.
type item struct {
	v    int
	err  bool
	last bool
}

// waitsForGood is a mistake of who brings an event.
const waitsForGood = "an event that waits for the stream does not look at the context"

func (f feed) send(next item) {
	if f.mutant == waitsForGood {
		f.in <- next
		return
	}
	select {
	case f.in <- next:
	case <-f.quit:
	}
}

// stream is a throttle of a stream, correct unless mutant names its mistake.
func stream(clock clockwork.Clock, cfg tt.Config, emit func(int), mutant string) tt.Funcs {
	in, out, quit := make(chan item), make(chan int), make(chan struct{})
	f := feed{in: in, quit: quit, mutant: mutant}
	var closed atomic.Bool
	go func() {
		for v := range out {
			emit(v)
		}
		closed.Store(true)
	}()
	go func() {
		if mutant != "the output is never closed" {
			defer close(out)
		}
		d := &timed{clock: clock, cfg: cfg}
		for {
			var next item
			select {
			case next = <-in:
			case <-quit:
				if mutant == "a context that ends is not looked at" {
					<-in
				}
				return
			}
			switch {
			case next.last:
				return
			case next.err && mutant == "errors wait their turn":
				if !d.allowAt(clock.Now()) {
					continue
				}
			case next.err && mutant == "an error opens an interval":
				d.allowAt(clock.Now())
			case !next.err && !d.allowAt(clock.Now()):
				continue
			}
			if mutant == "a send does not look at the context" {
				out <- next.v
				continue
			}
			select {
			case out <- next.v:
			case <-quit:
				return
			}
		}
	}()
	cancel := sync.OnceFunc(func() { close(quit) })
	return tt.Funcs{
		Call:   func(v int) { f.send(item{v: v}) },
		Fault:  func(v int) { f.send(item{v: v, err: true}) },
		Close:  func() { f.send(item{last: true}) },
		Cancel: cancel,
		Closed: closed.Load,
	}
}

func streamSpec(mutant string, source tt.TimeSource) tt.Spec {
	return tt.Spec{
		Name: "zoo stream",
		Time: source,
		New: func(env tt.Env, cfg tt.Config, emit func(int)) tt.Funcs {
			return stream(env.Clock, cfg, emit, mutant)
		},
		Traits: tt.Traits{
			Edges:    []tt.Edges{tt.Leading},
			Boundary: tt.BoundaryPasses,
		},
	}
}

// erringSpec is a stream with every edge on whose items no goroutine waits.
func erringSpec(mutant string, source tt.TimeSource) tt.Spec {
	spec := timedSpec("", source, tt.Leading, tt.Trailing, tt.LeadingAndTrailing)
	spec.Name = "zoo stream with errors"
	spec.New = func(env tt.Env, cfg tt.Config, emit func(int)) tt.Funcs {
		d := &timed{clock: env.Clock, cfg: cfg, emit: emit, mutant: mutant}
		return tt.Funcs{
			Call:   func(v int) { d.note(false); d.call(v) },
			Fault:  func(v int) { d.note(true); emit(v) },
			Close:  d.end,
			Closed: d.closed,
		}
	}
	spec.Traits.Windows, spec.Traits.Anchor, spec.Traits.PanicPolicy = 0, 0, 0
	return spec
}

// note says whether the last item was an error.
func (d *timed) note(erred bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.erred = erred
}
