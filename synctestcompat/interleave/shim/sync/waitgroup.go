package sync

import (
	"sync"

	"github.com/escapement-go/escapement/internal/sched"
)

// WaitGroup is std's.
type WaitGroup struct{ wg sync.WaitGroup }

// count is what a run keeps about a WaitGroup.
type count struct{ n int }

// Add is std's.
func (wg *WaitGroup) Add(delta int) { wg.add("WaitGroup.Add", delta) }

// Done is std's.
func (wg *WaitGroup) Done() { wg.add("WaitGroup.Done", -1) }

func (wg *WaitGroup) add(name string, delta int) {
	g := sched.Self()
	if g == nil {
		wg.wg.Add(delta)
		return
	}
	g.Point(name, wg)
	s := sched.State[count](g, wg)
	if s.n += delta; s.n < 0 && !g.Dying() {
		panic("sync: negative WaitGroup counter")
	}
}

// Wait is std's.
func (wg *WaitGroup) Wait() {
	g := sched.Self()
	if g == nil {
		wg.wg.Wait()
		return
	}
	s := sched.State[count](g, wg)
	g.Await("WaitGroup.Wait", wg, func() bool { return s.n <= 0 })
}

// Go is std's of Go 1.25.
func (wg *WaitGroup) Go(f func()) {
	wg.Add(1)
	sched.Go(func() {
		defer wg.Done()
		f()
	})
}
