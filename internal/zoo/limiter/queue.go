package limiter

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
)

var errTooMany = errors.New("more than the burst")

// queueBucket keeps those who wait in a list that a timer serves, in whole units: a
// token is as many as the Per of its rate has nanoseconds. Nothing is taken before it
// is there, so who gives up leaves everything. Correct unless mutant says otherwise.
type queueBucket struct {
	clock  clockwork.Clock
	mutant string

	mu     sync.Mutex
	rate   lt.Rate
	burst  int
	level  int64
	last   time.Time
	queue  []*queued
	wakeup clockwork.Timer
	asked  bool // somebody has asked for tokens; only a mistake wants to know
}

type queued struct {
	n      int
	served chan struct{} // closed when it is decided
	err    error         // what it then returns
}

func newQueue(clock clockwork.Clock, cfg lt.Config, mutant string) *queueBucket {
	if cfg.Burst < 1 || cfg.Rate.Events < 1 || int64(cfg.Rate.Per) > math.MaxInt64/4/int64(cfg.Burst) {
		panic("queueBucket: want a rate and a burst of at least 1")
	}
	l := &queueBucket{clock: clock, mutant: mutant, rate: cfg.Rate, burst: cfg.Burst, last: clock.Now()}
	l.level = l.units(cfg.Burst)
	return l
}

func (l *queueBucket) units(n int) int64 { return int64(n) * int64(l.rate.Per) }

func (l *queueBucket) fill() {
	now := l.clock.Now()
	elapsed := int64(now.Sub(l.last))
	if elapsed < 0 && l.mutant != "a clock that is set back far overflows" {
		return
	}
	l.last = now
	room := l.units(l.burst) - l.level
	if elapsed > room/int64(l.rate.Events) {
		if room < 1 && l.mutant == "a look at a full bucket adds a unit" {
			room = 1
		}
		l.level += max(0, room)
	} else {
		l.level += elapsed * int64(l.rate.Events)
	}
}

// serve gives to those who wait what is there, and sets the timer for the next. With the mistake one it lets only one
// go, and comes back when the next one's tokens would have come to an empty bucket.
func (l *queueBucket) serve(one bool) {
	l.fill()
	served := false
	for len(l.queue) > 0 && !(one && served) {
		first := l.queue[0]
		refused := first.n > l.burst
		switch l.mutant {
		case "who waits for more than a lower burst stays first":
			refused = false
		case "who waits for one more than a lower burst stays first":
			refused = first.n > l.burst+1
		}
		if refused {
			first.err = errTooMany
		} else if l.level -= l.units(first.n); l.level < 0 {
			l.level += l.units(first.n)
			break
		}
		close(first.served)
		served = true
		l.queue = l.queue[1:]
	}
	if l.wakeup != nil {
		l.wakeup.Stop()
	}
	if len(l.queue) > 0 {
		missing, e := l.units(l.queue[0].n), int64(l.rate.Events)
		if !one || !served {
			missing -= l.level
		}
		l.wakeup = l.clock.AfterFunc(time.Duration((missing+e-1)/e), func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.serve(false)
		})
	}
}

func (l *queueBucket) allow(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fill()
	l.asked = true
	waits := len(l.queue) > 0 && l.mutant != "a request overtakes those who wait"
	if n < 0 || n > l.burst || n > 0 && waits || l.level < l.units(n) {
		return false
	}
	l.level -= l.units(n)
	return true
}

func (l *queueBucket) waitN(ctx context.Context, n int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w := &queued{n: n, served: make(chan struct{})}
	l.mu.Lock()
	if n < 0 || n > l.burst {
		l.mu.Unlock()
		return errTooMany
	}
	if l.mutant == "a wait for several takes one less" && n > 1 {
		w.n--
	}
	if l.mutant == "who comes last is served first" {
		l.queue = slices.Insert(l.queue, 0, w)
	} else {
		l.queue = append(l.queue, w)
	}
	l.serve(false)
	l.mu.Unlock()
	select {
	case <-w.served:
		return w.err
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.queue, w)
	if i < 0 && l.mutant == "who is served as he gives up returns an error" {
		return ctx.Err()
	}
	if i < 0 {
		return w.err // decided meanwhile
	}
	l.queue = slices.Delete(l.queue, i, i+1)
	switch l.mutant {
	case "who gives up leaves the next asleep":
		l.wakeup.Stop()
	case "who gives up leaves the timer":
	case "who gives up lets one go":
		l.serve(true)
	default:
		l.serve(false)
	}
	return ctx.Err()
}

func (l *queueBucket) setLimit(r lt.Rate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fill()
	if l.mutant == "a limit that is set before anybody asks empties the bucket" && !l.asked {
		l.level = 0
	}
	if r.Per != l.rate.Per && l.mutant != "a limit in another period leaves the units" {
		l.level = int64(float64(l.level) / float64(l.rate.Per) * float64(r.Per))
	}
	l.rate = r
	if l.mutant != "a new limit leaves the timer" {
		l.serve(false)
	}
}

func (l *queueBucket) setBurst(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fill()
	l.burst = n
	l.level = min(l.level, l.units(n))
	l.serve(false)
}

func queueSpec(mutant string, source lt.TimeSource) lt.Spec {
	return lt.Spec{
		Name: "zoo: bucket with a queue: " + mutant,
		Time: source,
		New: func(env lt.Env, cfg lt.Config) lt.Funcs {
			l := newQueue(env.Clock, cfg, mutant)
			return lt.Funcs{AllowN: l.allow, WaitN: l.waitN, SetLimit: l.setLimit, SetBurst: l.setBurst}
		},
		Traits: lt.Traits{
			Initial: lt.InitialFull, Oversize: lt.OversizeRejected, BackTime: lt.BackClamp,
			ZeroRate: lt.ZeroRateRefused, Inf: lt.InfAbsent, Fair: lt.FairFIFO,
			DeadlineCheck: lt.DeadlineSleeps, Refund: lt.RefundFull,
			OnChange: lt.OnChangeServes, OnBurstRaised: lt.RaiseBringsNothing,
		},
	}
}
