// Package ties lets a step meet the timer that is due at its very instant, as it happens in life: on package time, in a
// bubble, again and again. It is for tests of what has timers.
package ties

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Wait is the time after which the timer is due.
const Wait = 100 * time.Millisecond

// Meet sleeps until then.
func Meet() { time.Sleep(Wait) }

// Tie is a step that meets a timer.
type Tie struct {
	// Name is that of the subtest.
	Name string
	// Run arms the timer, calls [Meet] and does the step, on an instance of its own whose
	// callback is log.Fire. It returns what the step answered, if anything.
	Run func(log *Log) (said string)
	// Legal are the outcomes that the docs allow: what was said, and each fire, as in
	// "true 1@100ms".
	Legal []string
}

// Log is what callbacks did in one round.
type Log struct {
	mu      sync.Mutex
	start   time.Time
	fires   string
	running int
	ended   bool // a Stop has returned
	late    bool // a callback started or ran after that
}

// Fire is the callback.
func (l *Log) Fire(v int) {
	l.mu.Lock()
	l.fires += fmt.Sprintf(" %d@%v", v, time.Since(l.start))
	l.late = l.late || l.ended
	l.running++
	l.mu.Unlock()
	runtime.Gosched() // whoever does not wait has its turn
	l.mu.Lock()
	l.running--
	l.late = l.late || l.ended
	l.mu.Unlock()
}

// Stopped says that nothing may run from now on.
func (l *Log) Stopped() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.late = l.late || l.running > 0
}

// Run checks that each tie has one of its legal outcomes, however often it is tried, and that no callback runs after
// Stopped. With -v the outcomes are counted.
func Run(t *testing.T, all []Tie) {
	t.Helper()
	synctestcompat.Require(t)
	for _, tie := range all {
		t.Run(tie.Name, func(t *testing.T) {
			seen, late := tie.often(t, prove.Number(100, 500, 500, 100_000))
			if late > 0 {
				t.Errorf("%d times a callback ran after Stop had returned", late)
			}
			for _, outcome := range tie.Legal {
				t.Logf("%6d times %q", seen[outcome], outcome)
				delete(seen, outcome)
			}
			for outcome, n := range seen {
				t.Errorf("%d times %q, want one of %q", n, outcome, tie.Legal)
			}
		})
	}
}

// often tries a tie so many times and counts what came of it, and after how many a callback
// ran after Stopped.
func (tie Tie) often(t *testing.T, n int) (seen map[string]int, late int) {
	seen = map[string]int{}
	const inBubble = 1000 // more make a bubble slow
	for ; n > 0; n -= min(n, inBubble) {
		synctestcompat.Run(t, func(*testing.T) {
			for range min(n, inBubble) {
				outcome, ran := tie.once()
				seen[outcome]++
				if ran {
					late++
				}
			}
		})
	}
	return seen, late
}

// once tries a tie and reports what came of it, and whether a callback ran after Stopped.
func (tie Tie) once() (outcome string, late bool) {
	log := &Log{start: time.Now()}
	said := tie.Run(log)
	synctestcompat.Wait()
	synctestcompat.Sleep(3 * Wait)
	log.mu.Lock()
	defer log.mu.Unlock()
	return said + log.fires, log.late
}
