package clock

import (
	"sync"
	"time"

	ct "github.com/escapement-go/escapement/conformance/clocktest"
	"github.com/jonboulle/clockwork"
)

// heap keeps functions in a heap of its own, and one timer of the clock below for the first.
type heap struct {
	below    *ct.Funcs
	branches int
	mutant   string // what a mistake leaves out, or gets wrong

	mu    sync.Mutex
	all   []*heaped
	first clockwork.Timer
}

type heaped struct {
	*heap
	at time.Time
	i  int // in all, -1 if it is not armed
	f  func()
}

// heapedFunctions has AfterFunc from a heap of so many branches.
func heapedFunctions(branches int, mutant string) func(f *ct.Funcs) {
	return func(f *ct.Funcs) {
		below := *f
		h := &heap{below: &below, branches: branches, mutant: mutant}
		f.AfterFunc = func(d time.Duration, fn func()) clockwork.Timer {
			h.mu.Lock()
			defer h.mu.Unlock()
			t := &heaped{heap: h, i: -1, f: fn}
			t.arm(d)
			return t
		}
		f.Armed = nil   // what is in the heap is not counted
		f.SetWall = nil // what is in the heap is due at wall times
	}
}

func (h *heap) swap(i, k int) {
	h.all[i], h.all[k] = h.all[k], h.all[i]
	h.all[i].i, h.all[k].i = i, k
}

// before reports whether function i is due before function k.
func (h *heap) before(i, k int) bool {
	gap := h.all[k].at.Sub(h.all[i].at)
	return gap > 0 && (gap > 1 || h.mutant != "tell")
}

// above is the place above a place.
func (h *heap) above(i int, mutant string) int {
	if h.mutant == mutant {
		return i / h.branches
	}
	return (i - 1) / h.branches
}

func (h *heap) rise(i int) {
	for i > 0 && h.before(i, h.above(i, "parent")) {
		h.swap(i, h.above(i, "parent"))
		i = h.above(i, "parent")
	}
}

func (h *heap) sink(i int) {
	for {
		k := h.branches*i + 1
		end := k + h.branches
		if h.mutant == "far" {
			end++
		}
		for other := k + 1; other < min(end, len(h.all)); other++ {
			if h.before(other, k) {
				k = other
			}
		}
		if k >= len(h.all) || !h.before(k, i) {
			return
		}
		h.swap(i, k)
		i = k
	}
}

// arm puts the function into the heap.
func (t *heaped) arm(d time.Duration) {
	if d <= 0 {
		go t.f()
		return
	}
	t.at, t.i = t.below.Now().Add(d), len(t.all)
	t.all = append(t.all, t)
	t.rise(t.i)
	t.wait()
}

// disarm takes the function out of the heap.
func (t *heaped) disarm() bool {
	i, last := t.i, len(t.all)-1
	if i < 0 {
		return false
	}
	t.swap(i, last)
	t.all, t.i = t.all[:last], -1
	switch {
	case i == last:
	case i > 0 && t.before(i, t.above(i, "gap")):
		if t.mutant != "rise" {
			t.rise(i)
		}
	case t.mutant != "sink":
		t.sink(i)
	}
	t.wait()
	return true
}

// wait arms the timer below for the first function.
func (h *heap) wait() {
	if h.first != nil {
		h.first.Stop()
		h.first = nil
	}
	if len(h.all) > 0 {
		h.first = h.below.AfterFunc(h.below.Until(h.all[0].at), h.expire)
	}
}

// expire starts the functions that are due.
func (h *heap) expire() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for now := h.below.Now(); len(h.all) > 0 && !h.all[0].at.After(now); {
		t := h.all[0]
		t.disarm()
		go t.f()
	}
}

func (t *heaped) Chan() <-chan time.Time { return nil }

func (t *heaped) Stop() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.disarm()
}

func (t *heaped) Reset(d time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.disarm()
	t.arm(d)
	return was
}
