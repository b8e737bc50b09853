package throttle

import (
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	tt "github.com/escapement-go/escapement/conformance/throttletest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// asynchronous are designs in which a channel or a goroutine knows whether an interval runs.
func asynchronous() []zoo.Design {
	return []zoo.Design{
		{Name: "a token in a channel, which a timer puts back", Spec: tt.Spec{
			Name: "token channel", Time: tt.PackageTime,
			New: func(_ tt.Env, cfg tt.Config, emit func(int)) tt.Funcs {
				if cfg.Interval <= 0 {
					panic("interval must be > 0")
				}
				tokens := make(chan struct{}, max(1, cfg.K))
				for range cap(tokens) {
					tokens <- struct{}{}
				}
				return tt.Funcs{Call: func(v int) {
					select {
					case <-tokens:
						time.AfterFunc(cfg.Interval, func() { tokens <- struct{}{} })
						emit(v)
					default:
					}
				}}
			},
			Traits: tt.Traits{
				Edges: []tt.Edges{tt.Leading}, Boundary: tt.BoundaryEither,
				Windows: tt.WindowsSliding, Anchor: tt.AnchorStart,
				PanicPolicy: tt.PanicPropagates,
			},
		}},
		{Name: "a goroutine with a mailbox for one", Spec: tt.Spec{
			Name: "mailbox", Time: tt.Injected,
			New: func(env tt.Env, cfg tt.Config, emit func(int)) tt.Funcs {
				m := newMailbox(env.Clock, cfg.Interval, emit)
				return tt.Funcs{Call: m.call, Stop: sync.OnceFunc(func() { close(m.done) })}
			},
			Traits: tt.Traits{
				Edges: []tt.Edges{tt.Trailing}, Payload: tt.LastPayload,
				PanicPolicy: tt.PanicRecovered, StopBarrier: tt.NoBarrier,
			},
		}},
	}
}

// mailbox keeps the newest event until an interval has passed since the last emission, or
// since the first event after that interval.
type mailbox struct {
	clock    clockwork.Clock
	interval time.Duration
	emit     func(int)
	wake     chan struct{}
	done     chan struct{}

	mu    sync.Mutex
	full  bool
	since time.Time // of the first event in the box
	value int
}

func newMailbox(clock clockwork.Clock, interval time.Duration, emit func(int)) *mailbox {
	if interval <= 0 {
		panic("interval must be > 0")
	}
	m := &mailbox{clock: clock, interval: interval, emit: emit, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go m.run()
	return m
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
		if emitted && from.Sub(last) < m.interval {
			from = last
		}
		timer := m.clock.NewTimer(from.Add(m.interval).Sub(m.clock.Now()))
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
