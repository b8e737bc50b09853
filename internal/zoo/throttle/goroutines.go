package throttle

import (
	"sync"
	"time"

	tt "github.com/escapement-go/escapement/conformance/throttletest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// asynchronous are designs in which a channel or a goroutine knows whether an interval runs.
func asynchronous() []zoo.Design {
	channel := kind{
		name: "token channel", make: tokenChannel,
		traits: tt.Traits{
			Edges: []tt.Edges{tt.Leading}, Boundary: tt.BoundaryEither, Windows: tt.WindowsSliding,
			Anchor: tt.AnchorStart, PanicPolicy: tt.PanicPropagates,
		},
	}
	box := kind{
		name: "mailbox", make: newMailbox,
		traits: tt.Traits{
			Edges: []tt.Edges{tt.Trailing}, Payload: tt.LastPayload,
			PanicPolicy: tt.PanicRecovered, StopBarrier: tt.NoBarrier,
		},
	}
	return []zoo.Design{
		{Name: "a token in a channel, which a timer puts back", Spec: channel.spec(tt.PackageTime, "")},
		{Name: "a goroutine with a mailbox for one", Spec: box.spec(tt.Injected, "")},
	}
}

func tokenChannel(b base) tt.Funcs {
	if b.cfg.Interval <= 0 {
		panic("interval must be > 0")
	}
	tokens := make(chan struct{}, max(1, b.cfg.K))
	for range cap(tokens) {
		tokens <- struct{}{}
	}
	return tt.Funcs{Call: func(v int) {
		select {
		case <-tokens:
			time.AfterFunc(b.cfg.Interval, func() { tokens <- struct{}{} })
			b.emit(v)
		default:
		}
	}}
}

// mailbox keeps the newest event until an interval has passed since the last emission, or
// since the first event after that interval.
type mailbox struct {
	base
	wake, done chan struct{}

	mu    sync.Mutex
	full  bool
	since time.Time // of the first event in the box
	value int
}

func newMailbox(b base) tt.Funcs {
	if b.cfg.Interval <= 0 {
		panic("interval must be > 0")
	}
	m := &mailbox{base: b, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go m.run()
	return tt.Funcs{Call: m.call, Stop: sync.OnceFunc(func() { close(m.done) })}
}

func (m *mailbox) call(v int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.value = v
	if !m.full {
		m.full, m.since = true, m.clock.Now()
		m.wake <- struct{}{}
	}
}

func (m *mailbox) run() {
	var last time.Time
	emitted := false
	for {
		select {
		case <-m.wake:
		case <-m.done:
			return
		}
		m.mu.Lock()
		from := m.since
		m.mu.Unlock()
		if emitted && from.Sub(last) < m.cfg.Interval {
			from = last
		}
		timer := m.clock.NewTimer(from.Add(m.cfg.Interval).Sub(m.clock.Now()))
		select {
		case <-timer.Chan():
		case <-m.done:
			timer.Stop()
			return
		}
		m.mu.Lock()
		v := m.value
		m.full = false
		m.mu.Unlock()
		emitted, last = true, m.clock.Now()
		m.guarded(v)
	}
}

func (m *mailbox) guarded(v int) {
	defer func() { _ = recover() }()
	m.emit(v)
}
