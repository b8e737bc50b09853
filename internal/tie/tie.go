// Package tie shows what becomes of steps that meet a timer in life: in a bubble, at the
// instant at which the timer is due, whichever of the two comes first.
package tie

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Wait is the wait, or the interval, of what is tried.
const Wait = 100 * time.Millisecond

// Meet sleeps until the instant at which a timer is due that is started now.
func Meet() { time.Sleep(Wait) }

// Step is a step that meets a timer.
type Step struct {
	Name string
	// Run makes an instance whose callback is log.Fire, takes the step, and returns what
	// the step returned, if anything.
	Run func(log *Log) (said string)
	// Legal are the outcomes that the documentation allows: what the step returned, and
	// each callback as " value@instant".
	Legal []string
}

// Log is what callbacks did in one round.
type Log struct {
	mu      sync.Mutex
	start   time.Time
	fires   string
	running int
	stopped bool
	late    bool // a callback started or ran after that
}

// Fire is the callback.
func (l *Log) Fire(v int) {
	l.mu.Lock()
	l.fires += fmt.Sprintf(" %d@%v", v, time.Since(l.start))
	l.late = l.late || l.stopped
	l.running++
	l.mu.Unlock()
	runtime.Gosched() // whoever does not wait has its turn
	l.mu.Lock()
	l.running--
	l.late = l.late || l.stopped
	l.mu.Unlock()
}

// Stopped says that a stop has returned, after which no callback may run.
func (l *Log) Stopped() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	l.late = l.late || l.running > 0
}

// Run takes each step some hundreds of times, or with -short a hundred, and checks that
// each time it has a legal outcome. With -v the outcomes are counted.
func Run(t *testing.T, steps []Step) {
	t.Helper()
	synctestcompat.Require(t)
	for _, s := range steps {
		t.Run(s.Name, func(t *testing.T) {
			seen := outcomes(t, s)
			for _, outcome := range s.Legal {
				t.Logf("%6d times %q", seen[outcome], outcome)
				delete(seen, outcome)
			}
			for outcome, n := range seen {
				t.Errorf("%d times %q, want one of %q", n, outcome, s.Legal)
			}
		})
	}
}

// outcomes counts the outcomes of a step, a thousand rounds to a bubble.
func outcomes(t *testing.T, s Step) map[string]int {
	seen := map[string]int{}
	for left := prove.Number(100, 500, 500, 100_000); left > 0; left -= min(left, 1000) {
		synctestcompat.Run(t, func(*testing.T) {
			for range min(left, 1000) {
				log := &Log{start: time.Now()}
				said := s.Run(log)
				synctestcompat.Wait()
				synctestcompat.Sleep(3 * Wait)
				seen[said+log.fires]++
				if log.late {
					t.Errorf("a callback ran after the stop had returned")
				}
			}
		})
	}
	return seen
}
