package conformance

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// A probe of concurrent use has two goroutines meet at each of its instances, round
// after round: between a check and the act after it are often nanoseconds, and another
// call comes between them in a small part of the meetings only. There are places
// instances, fewer under -race, where each step takes long.
const (
	meeters  = 2
	meetings = 6      // rounds
	patience = 20_000 // turns to spin, until another goroutine may need the processor
)

// meeting counts what is done at one of the places in a round, and what comes of it.
type meeting struct {
	begun, fires atomic.Int64
	found        atomic.Int64 // how many had begun at the first fire
}

func (m *meeting) fire() {
	if m.fires.Add(1) == 1 {
		m.found.Store(m.begun.Load())
	}
}

// end ends a round of each calls for each of the meeters: how often it fired, and whether
// only when the last call had begun. A goroutine that fires for others may come then, and
// one fire is for all.
func (m *meeting) end(each int64) (fires int64, late bool) {
	m.begun.Store(0)
	return m.fires.Swap(0), m.found.Swap(0) == meeters*each
}

// meet has the goroutines call f for each place, both as nearly at one instant as the
// machine can, and waits until all have returned; f must not block. They spin until the
// other is there: those that are woken follow one another, and short calls would not meet.
func (l *lab) meet(f func(g, i int)) {
	defer l.twoProcessors()()
	var wg sync.WaitGroup
	var at [meeters]struct {
		atomic.Int64
		_ [56]byte // a cache line of its own
	}
	for g := range meeters {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range places {
				at[g].Store(int64(i + 1))
				for n := 0; at[1-g].Load() <= int64(i); n++ {
					if n > patience {
						runtime.Gosched()
					}
				}
				for range (i*7 + g*13) % 31 { // who comes first, and by how much, varies
					at[g].Load()
				}
				f(g, i)
			}
		}()
	}
	wg.Wait()
}

// crowd calls f for each place n times from each of two goroutines, or, where a call
// blocks, from one that comes after it on the same processor. Each call of one row meets one
// of the other. It returns when all calls have begun.
func (l *lab) crowd(places, n int, f func(i, k int)) {
	defer l.twoProcessors()()
	var at [meeters]struct {
		atomic.Int64
		_ [56]byte
	}
	var begun sync.WaitGroup
	var next func(g, i, k int)
	next = func(g, i, k int) {
		switch { // it has the processor when this one blocks or ends
		case k+1 < n:
			go next(g, i, k+1)
		case i+1 < places:
			go next(g, i+1, 0)
		}
		turn := int64(i*n + k)
		at[g].Store(turn + 1)
		for n := 0; at[1-g].Load() <= turn; n++ {
			if n > patience {
				runtime.Gosched()
			}
		}
		begun.Done()
		f(i, g*n+k)
	}
	begun.Add(meeters * places * n)
	for g := range meeters {
		go next(g, 0, 0)
	}
	begun.Wait()
}

// twoProcessors makes the process run on two processors at least, until the result is
// called; on one where two are not safe.
func (l *lab) twoProcessors() (restore func()) {
	n := runtime.GOMAXPROCS(0)
	if n >= meeters || l.timersCrash() {
		return func() {}
	}
	runtime.GOMAXPROCS(meeters)
	return func() { runtime.GOMAXPROCS(n) }
}
