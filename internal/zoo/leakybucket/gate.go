package leakybucket

import (
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	lb "github.com/escapement-go/escapement/conformance/leakybuckettest"
)

// The mistakes of a gate.
const (
	oneMoreCaller = "one more caller may wait"
	opensAtStop   = "a stop lets everybody pass"
	leavesTimer   = "who is stopped leaves his timer armed"
)

// gate blocks its callers until their turn, and turns away who finds as many waiting as may, who
// comes when it is closed, and everybody when it is stopped.
type gate struct {
	clock  clockwork.Clock
	cfg    lb.Config
	mutant string
	done   chan struct{}

	mu      sync.Mutex
	next    time.Time
	waiting int
	closed  bool
	stopped bool
}

func (g *gate) take() bool {
	g.mu.Lock()
	if g.closed {
		defer g.mu.Unlock()
		return g.stopped && g.mutant == opensAtStop
	}
	most := g.cfg.Backlog
	if g.mutant == oneMoreCaller {
		most++
	}
	now := g.clock.Now()
	wait := max(0, g.next.Sub(now))
	if wait > 0 && g.waiting >= most {
		g.mu.Unlock()
		return false
	}
	g.next = now.Add(wait + g.cfg.Interval)
	if wait == 0 {
		g.mu.Unlock()
		return true
	}
	g.waiting++
	g.mu.Unlock()
	timer := g.clock.NewTimer(wait)
	if g.mutant != leavesTimer {
		defer timer.Stop()
	}
	select {
	case <-timer.Chan():
	case <-g.done:
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting--
	return true
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

func (g *gate) stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.stopped {
		close(g.done)
	}
	g.closed, g.stopped = true, true
}

func gateSpec(source lb.TimeSource, mutant string) lb.Spec {
	return lb.Spec{
		Name: "zoo gate",
		Time: source,
		New: func(env lb.Env, cfg lb.Config, _ func(int)) lb.Funcs {
			g := &gate{clock: env.Clock, cfg: cfg, mutant: mutant, done: make(chan struct{})}
			return lb.Funcs{Take: g.take, Close: g.close, Stop: g.stop}
		},
		Traits: lb.Traits{FirstItem: lb.FirstAtOnce, CloseFlush: lb.CloseAtDeadline,
			ClockBack: lb.BackStands},
	}
}
