package debouncer

import (
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// lined are designs whose fires stand in line for whoever runs callbacks already.
func lined() []zoo.Design {
	return []zoo.Design{
		{Name: "two timers, and fires that stand in line", Spec: lineSpec("", debouncertest.Injected)},
	}
}

// lineSpec describes it.
func lineSpec(mutant string, source debouncertest.TimeSource) debouncertest.Spec {
	return debouncertest.Spec{
		Name: "line", Time: source,
		New: func(env debouncertest.Env, cfg debouncertest.Config, fire func(int)) debouncertest.Funcs {
			l := newLine(env.Clock, cfg, fire, mutant)
			return debouncertest.Funcs{
				Call: l.call, Cancel: l.cancel, Flush: l.flush, Pending: l.pending, Stop: l.stop,
			}
		},
		Traits: debouncertest.Traits{
			Edges: []debouncertest.Edges{
				debouncertest.Trailing, debouncertest.Leading,
				debouncertest.LeadingAndTrailing, debouncertest.NoEdges,
			},
			Payload: debouncertest.LastPayload, BothSingle: debouncertest.BothOnce,
			Tie: debouncertest.ResetFirst, StaleFire: debouncertest.StaleForbidden,
			CancelBarrier: debouncertest.NoBarrier, AfterCancel: debouncertest.CancelReusable,
			StopPending: debouncertest.StopDrops, ZeroWait: debouncertest.ZeroSync,
			Overlap: debouncertest.Serial, MaxWait: debouncertest.MaxWaitFromFirst,
			ClockBack: debouncertest.BackStands,
		},
	}
}

// lineMutants are its mistakes, which show behind a callback.
var lineMutants = []mistake{
	{"a pause that ends while a callback runs begins anew", "DB-BOTHN"},
	{"a bound that passes while a callback runs is none", "DB-MAX"},
}

// line has a timer for the pause and one for the bound, correct unless mutant names one of its
// mistakes.
type line struct {
	mutant            string
	clock             clockwork.Clock
	wait, bound       time.Duration
	leading, trailing bool
	fire              func(int)

	mu      sync.Mutex
	open    bool // a burst is going on
	last    time.Time
	unfired bool // an event waits for the trailing edge, or for the bound
	first   time.Time
	value   int
	pause   clockwork.Timer // set while open
	limit   clockwork.Timer // set while something is unfired, if there is a bound
	stopped bool
	queue   []int
	runs    bool // somebody runs the callbacks of queue
}

func newLine(clock clockwork.Clock, cfg debouncertest.Config, fire func(int), mutant string) *line {
	if cfg.Wait < 0 {
		panic("wait must be >= 0")
	}
	l := &line{clock: clock, wait: cfg.Wait, bound: cfg.MaxWait, fire: fire, mutant: mutant}
	if l.bound > 0 && l.bound < l.wait {
		l.bound = l.wait
	}
	l.leading = cfg.Edges == debouncertest.Leading || cfg.Edges == debouncertest.LeadingAndTrailing
	l.trailing = cfg.Edges == debouncertest.Trailing || cfg.Edges == debouncertest.LeadingAndTrailing
	return l
}

func (l *line) call(v int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return
	}
	now := l.clock.Now()
	if l.wait == 0 {
		if l.leading || l.trailing {
			l.deliver(v)
		}
		return
	}
	if l.open && now.Sub(l.last) > l.wait { // the timer is late
		l.close()
	}
	leads := !l.open && l.leading
	l.last = now
	if l.open {
		l.pause.Stop()
	}
	l.open = true
	l.pause = l.clock.AfterFunc(l.wait, l.expired)
	switch {
	case leads:
		l.deliver(v)
	case l.trailing:
		if !l.unfired {
			l.unfired, l.first = true, now
			if l.bound > 0 {
				l.limit = l.clock.AfterFunc(l.bound, l.reached)
			}
		}
		l.value = v
		l.deliver()
	}
}

// expired is the timer of the pause.
func (l *line) expired() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mutant == "a pause that ends while a callback runs begins anew" && l.runs {
		l.pause = l.clock.AfterFunc(l.wait, l.expired)
		return
	}
	if l.open && l.clock.Now().Sub(l.last) >= l.wait {
		l.close()
		l.deliver()
	}
}

// reached is the timer of the bound.
func (l *line) reached() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.runs && l.mutant == "a bound that passes while a callback runs is none" {
		return
	}
	if l.unfired && l.clock.Now().Sub(l.first) >= l.bound {
		l.take()
		l.deliver()
	}
}

// close ends the burst, and puts in line what is unfired.
func (l *line) close() {
	l.open = false
	l.pause.Stop()
	l.take()
}

// take puts in line what is unfired.
func (l *line) take() {
	if l.unfired {
		l.queue = append(l.queue, l.value)
	}
	l.drop()
}

func (l *line) drop() {
	l.unfired = false
	if l.limit != nil {
		l.limit.Stop()
		l.limit = nil
	}
}

// deliver puts more in line, and runs callbacks until none is left unless somebody does
// already. It is called with the lock, and gives it up meanwhile.
func (l *line) deliver(more ...int) {
	l.queue = append(l.queue, more...)
	if l.runs {
		return
	}
	l.runs = true
	for len(l.queue) > 0 {
		v := l.queue[0]
		l.queue = l.queue[1:]
		l.one(v)
	}
	l.runs = false
}

func (l *line) one(v int) {
	l.mu.Unlock()
	returned := false
	defer func() {
		l.mu.Lock()
		if returned {
			return
		}
		l.runs = false // it panics: others run what is left
		if len(l.queue) > 0 {
			go func() {
				l.mu.Lock()
				defer l.mu.Unlock()
				l.deliver()
			}()
		}
	}()
	l.fire(v)
	returned = true
}

func (l *line) cancel() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open {
		l.open = false
		l.pause.Stop()
		l.drop()
	}
}

func (l *line) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unfired {
		l.close()
		l.deliver()
	}
}

func (l *line) pending() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unfired
}

func (l *line) stop() {
	l.cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped, l.queue = true, nil
}
