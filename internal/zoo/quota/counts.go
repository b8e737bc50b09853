package quota

import (
	"sync"
	"time"

	qt "github.com/escapement-go/escapement/conformance/quotatest"
)

// counts is a log that remembers how many events came at each instant, and drops what has left the window at
// every request. Mutant names a mistake, if there is one.
func counts(mutant string) qt.Spec {
	return qt.Spec{
		Name: "a log of counts", Time: qt.Explicit, Kind: qt.SlidingLog,
		Traits: qt.Traits{Edge: qt.EdgeHalfOpen, CountDenied: qt.DeniedFree, BackTime: qt.BackClamp},
		New: func(_ qt.Env, cfg qt.Config) qt.Funcs {
			l := &countingLog{cfg: cfg, mutant: mutant}
			return qt.Funcs{TakeAt: l.takeAt}
		},
	}
}

type countingLog struct {
	cfg    qt.Config
	mutant string

	mu     sync.Mutex
	newest time.Time
	log    []counted
	used   int
}

func (l *countingLog) takeAt(t time.Time, n int) qt.Answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.Before(l.newest) {
		t = l.newest
	}
	before := l.newest
	l.newest = t
	for len(l.log) > 0 && t.Sub(l.log[0].at) >= l.cfg.Window {
		l.used -= l.log[0].n
		l.log = l.log[1:]
	}
	fits := n <= l.cfg.Limit-l.used
	if l.mutant == sumsPastLargest {
		fits = n <= l.cfg.Limit && l.used+n <= l.cfg.Limit
	}
	if !fits && l.mutant == deniedSetBack {
		l.newest = before
	}
	if !fits || n <= 0 {
		return qt.Answer{OK: n == 0}
	}
	l.log = append(l.log, counted{at: t, n: n})
	l.used += n
	return qt.Answer{OK: true}
}
