package limiter

import (
	"runtime"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
)

// pacer hands out single turns, and who waits sleeps until its own comes. It is correct unless mutant
// names one of its mistakes.
type pacer struct {
	clock  clockwork.Clock
	mutant string
	every  time.Duration
	slack  time.Duration // how long unused turns are kept

	mu   sync.Mutex
	next time.Time // the first turn that is free
}

// turn brings the pacer up to now.
func (p *pacer) turn(now time.Time) {
	if oldest := now.Add(-p.slack); p.next.Before(oldest) {
		p.next = oldest
	}
}

func (p *pacer) allow() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock.Now()
	if p.turn(now); p.next.After(now) {
		return false
	}
	p.next = p.next.Add(p.every)
	return true
}

func (p *pacer) wait() {
	p.mu.Lock()
	now := p.clock.Now()
	if p.mutant != "a wait keeps all idle time" {
		p.turn(now)
	}
	if p.mutant == "a wait cuts now to milliseconds" {
		now = now.Truncate(time.Millisecond)
	}
	d := p.next.Sub(now)
	if p.mutant == "a wait sleeps whole microseconds" {
		d = d.Truncate(time.Microsecond)
	}
	next := p.next.Add(p.every)
	if p.mutant == "two waits at once take one turn" {
		p.mu.Unlock()
		runtime.Gosched()
		p.mu.Lock()
	}
	p.next = next
	p.mu.Unlock()
	if d > 0 {
		p.clock.Sleep(d)
	}
}

func pacerSpec(mutant string, source lt.TimeSource) lt.Spec {
	return lt.Spec{
		Name: "zoo: pacer: " + mutant,
		Time: source,
		New: func(env lt.Env, cfg lt.Config) lt.Funcs {
			every, burst := cfg.Rate.Interval(), time.Duration(cfg.Burst)
			if burst == 0 && mutant == "a burst of 0 is a default" {
				burst = 10
			}
			tooLong := burst > 1<<62/max(1, every) && mutant != "a burst that takes centuries to come overflows"
			if cfg.Rate.Events < 1 || every < 1 || burst < 1 || tooLong {
				panic("pacer: want a burst of at least 1, and an interval")
			}
			slack := (burst - 1) * every
			p := &pacer{clock: env.Clock, mutant: mutant, every: every, slack: slack, next: env.Clock.Now().Add(-slack)}
			return lt.Funcs{Allow: p.allow, Wait: func(n int) { single(n); p.wait() }}
		},
		Traits: lt.Traits{
			Initial: lt.InitialFull, OneAtATime: true, BackTime: lt.BackClamp, ZeroRate: lt.ZeroRateRefused,
			Inf: lt.InfAbsent, Fair: lt.FairFIFO,
		},
	}
}

// pacerMutants are mistakes of waits that requests do not make.
var pacerMutants = []mistake{
	{name: "a wait keeps all idle time", rule: "RL-ENV", family: "waits at all rates"},
	{name: "a wait sleeps whole microseconds", rule: "W-NOTEARLY", family: "waits at all rates"},
	{name: "a wait cuts now to milliseconds", rule: "W-EXACT", family: "waits at all rates"},
}
