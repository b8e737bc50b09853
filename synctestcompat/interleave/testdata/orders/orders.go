// Package orders has two tables of small limiters, debouncers, semaphores and
// caches, each with a body that asserts what must hold in every order of its
// goroutines and timers. Those of Mistaken have one mistake of order each, which
// shows in some orders only and is no data race; those of Right have none.
//
// They were written from the laws of such types and not from what explores them,
// and are not to be changed so that something finds or spares them.
package orders

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

// A Program is one type with one use of it.
type Program struct {
	Name string
	Kind string // the mistake, or the primitives of one that is right
	Body func(*interleave.T)
}

type allower interface{ allow() bool }

// oneEachSecond asserts that a limiter of one event per second, with a burst of
// one, does not grant two at one instant, whatever a call that began earlier does.
func oneEachSecond(fresh func() allower) func(*interleave.T) {
	return func(t *interleave.T) {
		l := fresh()
		var wg sync.WaitGroup
		wg.Add(1)
		go func() {
			defer wg.Done()
			l.allow()
		}()
		time.Sleep(time.Second)
		first := l.allow()
		wg.Wait()
		if second := l.allow(); first && second {
			t.Error("two events were granted at one instant, burst is 1")
		}
	}
}

// exactly asserts that of so many callers at one instant limit are granted.
func exactly(limit, callers int, fresh func() allower) func(*interleave.T) {
	return func(t *interleave.T) {
		l := fresh()
		var granted atomic.Int64
		var wg sync.WaitGroup
		for range callers {
			wg.Add(1)
			go func() {
				defer wg.Done()
				if l.allow() {
					granted.Add(1)
				}
			}()
		}
		wg.Wait()
		if got := granted.Load(); got != int64(limit) {
			t.Errorf("%d of %d callers at one instant were granted, want %d", got, callers, limit)
		}
	}
}
