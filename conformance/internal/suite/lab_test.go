package suite

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/synctestcompat"
)

// soon is when runs that hang are first looked at in tests.
const soon = time.Millisecond

// hasty is a lab that runs play in bubbles and looks soon.
func hasty(t *testing.T, play func()) *lab {
	return &lab{suite: &Suite{},
		t: t, time: conformance.Injected, bubble: true, first: soon,
		rounds: new(atomic.Int64), stage: new(atomic.Pointer[Stage]),
		skip: func(Job) string { return "" },
		play: func(*Stage) { play() },
	}
}

// However soon the lab looks, a run is not stuck while somebody outside its bubble runs who
// holds the lock that it waits for: on a busy machine that takes any time.
func TestLab_slowIsNotStuck(t *testing.T) {
	synctestcompat.Require(t)
	var mu sync.Mutex
	mu.Lock()
	asked := make(chan struct{})
	go func() { // outside
		<-asked
		for range 100 { // looks
			for now := time.Now(); time.Since(now) < soon; {
			}
		}
		mu.Unlock()
	}()
	l := hasty(t, func() { close(asked); mu.Lock() })
	if h := l.once(); h != nil {
		t.Errorf("given up, although the lock is given back: %v", h.Goroutines)
	}
}

// Nobody outside runs: the same run is given up as soon as the stacks show it, and they are
// kept.
func TestLab_stuck(t *testing.T) {
	synctestcompat.Require(t)
	var mu sync.Mutex
	mu.Lock()
	switch h := hasty(t, mu.Lock).once(); {
	case h == nil:
		t.Error("a run that waits for a lost lock has ended")
	case !slices.ContainsFunc(h.Goroutines, func(g Goroutine) bool { return g.Bubble && isLocked(g.Waiting) }):
		t.Errorf("no goroutine waits for a lock: %v", h.Goroutines)
	}
}

// The second schedule of a bubble begins later, and so its environment says.
func TestStage_startsLater(t *testing.T) {
	synctestcompat.Require(t)
	synctestcompat.Run(t, func(*testing.T) {
		j := Job{Schedule: MustParse("wait=100ms | call 1 @0")}
		for range 2 {
			env := newStage(&Suite{T: t}, j, NewBubbleTime(j.Schedule.Config)).Plain()
			if now := env.Clock.Now(); !env.Start.Equal(now) {
				t.Errorf("a schedule that begins at %v starts at %v", now, env.Start)
			}
			time.Sleep(time.Second)
		}
	})
}
