package conformance_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/escapement-go/escapement/debounce"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/synctestcompat"
)

// ties is how often each step meets its timer.
func ties() int { return prove.Number(100, 500, 500, 100_000) }

// tieLog is what callbacks did in one round.
type tieLog struct {
	mu      sync.Mutex
	start   time.Time
	fires   string
	running int
	ended   bool // a Stop has returned
	late    bool // a callback started or ran after that
}

func (l *tieLog) fire(v int) {
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

func (l *tieLog) stopped() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.late = l.late || l.running > 0
}

// tie is a step that meets a timer, and the outcomes that it may have: what it
// returned, if anything, and the fires.
type tie struct {
	name  string
	run   func(log *tieLog) (said string)
	legal []string
}

// meet sleeps until the instant at which the timer is due.
func meet() { time.Sleep(tieWait) }

const tieWait = 100 * time.Millisecond

func debouncerTies() []tie {
	pending := func(log *tieLog) *debounce.Debouncer[int] {
		d := debounce.New(tieWait, log.fire)
		d.Call(1)
		return d
	}
	return []tie{
		{"debounce.Debouncer/Call", func(log *tieLog) string { d := pending(log); meet(); d.Call(2); return "" },
			[]string{" 1@100ms 2@200ms", " 2@200ms"}},
		{"debounce.Debouncer/Cancel", func(log *tieLog) string { d := pending(log); meet(); return fmt.Sprint(d.Cancel()) },
			[]string{"true", "false 1@100ms"}},
		{"debounce.Debouncer/CancelAndCall", func(log *tieLog) string {
			d := pending(log)
			meet()
			said := fmt.Sprint(d.Cancel())
			d.Call(2)
			return said
		}, []string{"true 2@200ms", "false 1@100ms 2@200ms"}},
		{"debounce.Debouncer/Flush", func(log *tieLog) string { d := pending(log); meet(); return fmt.Sprint(d.Flush()) },
			[]string{"true 1@100ms", "false 1@100ms"}},
		{"debounce.Debouncer/Stop", func(log *tieLog) string { d := pending(log); meet(); d.Stop(); log.stopped(); return "" },
			[]string{"", " 1@100ms"}},
	}
}

func throttleTies() []tie {
	pending := func(log *tieLog) *limiters.ThrottleFunc[int] {
		h := limiters.NewThrottleFunc(tieWait, log.fire)
		h.Call(1)
		h.Call(2)
		return h
	}
	trailing := func(log *tieLog) *limiters.ThrottleFunc[int] {
		h := limiters.NewThrottleFunc(tieWait, log.fire, limiters.Trailing)
		h.Call(1)
		return h
	}
	return []tie{
		{"limiters.ThrottleFunc/Call", func(log *tieLog) string { h := pending(log); meet(); h.Call(3); return "" },
			[]string{" 1@0s 2@100ms 3@200ms", " 1@0s 3@100ms"}},
		{"limiters.ThrottleFunc/TrailingCall", func(log *tieLog) string { h := trailing(log); meet(); h.Call(2); return "" },
			[]string{" 1@100ms 2@200ms", " 2@100ms"}},
		{"limiters.ThrottleFunc/Cancel", func(log *tieLog) string { h := pending(log); meet(); return fmt.Sprint(h.Cancel()) },
			[]string{"true 1@0s", "false 1@0s 2@100ms"}},
		{"limiters.ThrottleFunc/Flush", func(log *tieLog) string { h := pending(log); meet(); return fmt.Sprint(h.Flush()) },
			[]string{"true 1@0s 2@100ms", "false 1@0s 2@100ms"}},
		{"limiters.ThrottleFunc/Stop", func(log *tieLog) string { h := pending(log); meet(); h.Stop(); log.stopped(); return "" },
			[]string{" 1@0s", " 1@0s 2@100ms"}},
	}
}

// A step that meets the timer in life has one of the outcomes that the docs allow,
// however often it is tried: nothing is lost, nothing fires that was cancelled, and
// after Stop nothing runs. With -v the outcomes are counted.
func TestTies(t *testing.T) {
	synctestcompat.Require(t)
	for _, tie := range append(debouncerTies(), throttleTies()...) {
		t.Run(tie.name, func(t *testing.T) {
			seen := map[string]int{}
			for left := ties(); left > 0; left -= min(left, 1000) {
				synctestcompat.Run(t, func(*testing.T) {
					for range min(left, 1000) {
						log := &tieLog{start: time.Now()}
						said := tie.run(log)
						synctestcompat.Wait()
						synctestcompat.Sleep(3 * tieWait)
						seen[said+log.fires]++
						if log.late {
							t.Errorf("a callback ran after Stop had returned")
						}
					}
				})
			}
			for _, outcome := range tie.legal {
				t.Logf("%6d times %q", seen[outcome], outcome)
				delete(seen, outcome)
			}
			for outcome, n := range seen {
				t.Errorf("%d times %q, want one of %q", n, outcome, tie.legal)
			}
		})
	}
}
