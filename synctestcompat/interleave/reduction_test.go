package interleave

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/synctestcompat/interleave/shim/context"
	"github.com/escapement-go/escapement/synctestcompat/interleave/shim/point"
	"github.com/escapement-go/escapement/synctestcompat/interleave/shim/sync"
	"github.com/escapement-go/escapement/synctestcompat/interleave/shim/sync/atomic"
)

// world is what the operations of a drawn program share.
type world struct {
	n      atomic.Int64
	mu     sync.Mutex
	rw     sync.RWMutex
	m      sync.Map
	wg     sync.WaitGroup // counts what "done" does
	c      chan int
	ctx    context.Context
	cancel func()
}

// operations do one thing each, and return what they saw.
var operations = map[string]func(w *world) any{
	"add":    func(w *world) any { return w.n.Add(1) },
	"load":   func(w *world) any { return w.n.Load() },
	"double": func(w *world) any { n := w.n.Load(); w.n.Store(2 * n); return n },
	"err": func(w *world) any {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.ctx.Err()
	},
	"cancel": func(w *world) any { w.cancel(); return nil },
	"len": func(w *world) any {
		w.mu.Lock()
		defer w.mu.Unlock()
		return point.Len(w.c)
	},
	"send": func(w *world) any { return point.Select(true, point.To(w.c).Case(1)) },
	"take": func(w *world) any { return point.Select(true, point.From(w.c)) },
	"read": func(w *world) any {
		w.rw.RLock()
		defer w.rw.RUnlock()
		return w.n.Load()
	},
	"write": func(w *world) any {
		w.rw.Lock()
		defer w.rw.Unlock()
		return w.n.Add(2)
	},
	"keep": func(w *world) any { _, loaded := w.m.LoadOrStore("k", 1); return loaded },
	"drop": func(w *world) any { _, loaded := w.m.LoadAndDelete("k"); return loaded },
	"done": func(w *world) any { w.wg.Done(); return nil },
	"wait": func(w *world) any { w.wg.Wait(); return nil },
	"lock": func(w *world) any {
		w.mu.Lock()
		defer w.mu.Unlock()
		return nil
	},
	"try": func(w *world) any {
		ok := w.mu.TryLock()
		if ok {
			w.mu.Unlock()
		}
		return ok
	},
	"share": func(w *world) any {
		w.rw.RLock()
		defer w.rw.RUnlock()
		return nil
	},
}

// outcomes returns what goroutines that do these operations can see, in all orders, and how many those are.
func outcomes(t *testing.T, lines []string, opts ...Option) (all map[string]bool, orders int) {
	t.Helper()
	all = make(map[string]bool)
	r := explored(t, func(t *T) {
		w := &world{c: make(chan int, 1)}
		w.wg.Add(strings.Count(fmt.Sprint(lines), "done"))
		w.ctx, w.cancel = context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Add(len(lines))
		saw := make([][]any, len(lines))
		for i, line := range lines {
			point.Go(func() {
				for _, name := range strings.Fields(line) {
					saw[i] = append(saw[i], operations[name](w))
				}
				running.Done()
			})
		}
		w.cancel()
		running.Wait()
		all[fmt.Sprint(saw, w.n.Load(), len(w.c))] = true
	}, opts...)
	if r.Failure != "" {
		t.Fatal(r.Failure)
	}
	for _, n := range r.Runs {
		orders += n
	}
	return all, orders
}

// What is left out comes to nothing that is not seen otherwise.
func TestReduction(t *testing.T) {
	programs := [][]string{
		{"double", "add", "add"},
		{"add err double", "add err"},
		{"take", "len len", "send"},
		{"add done", "double done", "wait load"},
		{"done add", "wait load", "wait double"},
		{"read", "read", "write"},
		{"share load", "share add", "write"},
		{"lock load", "add lock", "double"},
		{"lock load", "try", "try add"},
	}
	if prove.Reaches(prove.Suite) { // it takes longest
		programs = append(programs, []string{"load", "load", "load", "add"})
	}
	names := []string{"add", "load", "double", "err", "cancel", "len", "send", "take", "read", "write", "keep", "drop"}
	r := rand.New(rand.NewPCG(1, 2))
	for range prove.Number(5, 5, 20, 200) {
		draw := func() string { return names[r.IntN(len(names))] }
		programs = append(programs, []string{draw() + " " + draw(), draw() + " " + draw() + " " + draw()})
	}
	for _, lines := range programs {
		reduced, orders := outcomes(t, lines)
		full, all := outcomes(t, lines, Unreduced())
		for outcome := range full {
			if !reduced[outcome] {
				t.Errorf("%q: %s is not found", lines, outcome)
			}
		}
		if orders > all {
			t.Errorf("%q: %d orders are left of %d", lines, orders, all)
		}
	}
}

// Operations of one kind commute, so that fewer orders are left than of those that do not.
func TestReduction_kinds(t *testing.T) {
	for same, other := range map[string]string{"load": "add", "done": "keep", "share": "write"} {
		_, fewer := outcomes(t, []string{same, same, same})
		if _, more := outcomes(t, []string{other, other, other}); fewer >= more {
			t.Errorf("three times %q: %d orders, three times %q: %d", same, fewer, other, more)
		}
	}
}
