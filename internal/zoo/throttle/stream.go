package throttle

import (
	"sync"
	"sync/atomic"

	tt "github.com/escapement-go/escapement/conformance/throttletest"
)

// feed is the input of a stream, which ends with its context, and its output.
type feed struct {
	base
	in, out chan item
	quit    chan struct{}
}

// item is what goes through a stream.
type item struct {
	v    int
	err  bool
	last bool
}

func newFeed(b base) *feed {
	return &feed{base: b, in: make(chan item), out: make(chan item), quit: make(chan struct{})}
}

// funcs are the operations of a stream with a reader that emits.
func (f *feed) funcs() tt.Funcs {
	var closed atomic.Bool
	go func() {
		for next := range f.out {
			f.emit(next.v)
		}
		closed.Store(true)
	}()
	return tt.Funcs{
		Call:   func(v int) { f.send(item{v: v}) },
		Fault:  func(v int) { f.send(item{v: v, err: true}) },
		Close:  func() { f.send(item{last: true}) },
		Cancel: sync.OnceFunc(func() { close(f.quit) }),
		Closed: closed.Load,
	}
}

// send brings an item.
func (f *feed) send(next item) {
	if f.is("an event that waits for the stream does not look at the context") {
		f.in <- next
		return
	}
	select {
	case f.in <- next:
	case <-f.quit:
	}
}

// put hands an item to the reader, unless the context ends.
func (f *feed) put(next item) bool {
	if f.is("a send does not look at the context") {
		f.out <- next
		return true
	}
	select {
	case f.out <- next:
		return true
	case <-f.quit:
		return false
	}
}

// streamKind is a throttle of a stream.
var streamKind = kind{
	name:   "zoo stream",
	traits: tt.Traits{Edges: []tt.Edges{tt.Leading}, Boundary: tt.BoundaryPasses},
	make: func(b base) tt.Funcs {
		f := newFeed(b)
		go f.throttle()
		return f.funcs()
	},
	mistakes: []mistake{
		{"errors wait their turn", "TH-ERR"},
		{"an error opens an interval", "TH-ERRNEUT"},
		{"a context that ends is not looked at", "TH-CTX"},
		{"the output is never closed", "TH-CLOSE"},
		{"a send does not look at the context", "TH-CTX"},
		{"an event that waits for the stream does not look at the context", "TH-CTX"},
	},
}

func (f *feed) throttle() {
	if !f.is("the output is never closed") {
		defer close(f.out)
	}
	d := &timed{base: f.base}
	for on := true; on; {
		select {
		case next := <-f.in:
			switch {
			case next.last:
				return
			case next.err && f.is("an error opens an interval"):
				d.allowAt(f.clock.Now())
			case next.err && !f.is("errors wait their turn"):
			case !d.allowAt(f.clock.Now()):
				continue
			}
			on = f.put(next)
		case <-f.quit:
			if f.is("a context that ends is not looked at") {
				<-f.in
			}
			return
		}
	}
}

// erringKind is a stream with every edge on whose items no goroutine waits.
func erringKind() kind {
	k := timedKind().with(mistake{"an error that comes last takes what is pending with it", "TH-CLOSE"})
	k.name = "zoo stream with errors"
	k.make = func(b base) tt.Funcs {
		d := &timed{base: b}
		return tt.Funcs{
			Call:   func(v int) { d.note(false); d.call(v) },
			Fault:  func(v int) { d.note(true); b.emit(v) },
			Close:  d.end,
			Closed: d.closed,
		}
	}
	k.traits.Edges = []tt.Edges{tt.Leading, tt.Trailing, tt.LeadingAndTrailing}
	k.traits.Windows, k.traits.Anchor, k.traits.PanicPolicy = 0, 0, 0
	return k
}

// note says whether the last item was an error.
func (d *timed) note(erred bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.erred = erred
}
