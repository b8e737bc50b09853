package interleave

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

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
}

// outcomes returns what goroutines that do these operations can see, in all orders.
func outcomes(t *testing.T, lines []string, opts ...Option) map[string]bool {
	t.Helper()
	all := make(map[string]bool)
	r := explored(t, func(t *T) {
		w := &world{c: make(chan int, 1)}
		w.ctx, w.cancel = context.WithCancel(context.Background())
		saw, ended := make([][]any, len(lines)), make(chan int, len(lines))
		for i, line := range lines {
			point.Go(func() {
				for _, name := range strings.Fields(line) {
					saw[i] = append(saw[i], operations[name](w))
				}
				point.To(ended).Send(i)
			})
		}
		w.cancel()
		for range lines {
			point.Recv(ended)
		}
		all[fmt.Sprint(saw, w.n.Load(), len(w.c))] = true
	}, opts...)
	if r.Failure != "" {
		t.Fatal(r.Failure)
	}
	return all
}

// What is left out comes to nothing that is not seen otherwise.
func TestReduction(t *testing.T) {
	programs := [][]string{
		{"double", "add", "add"},
		{"add err double", "add err"},
		{"take", "len len", "send"},
	}
	names := []string{"add", "load", "double", "err", "cancel", "len", "send", "take", "read", "write", "keep", "drop"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		draw := func() string { return names[r.IntN(len(names))] }
		programs = append(programs, []string{draw() + " " + draw(), draw() + " " + draw() + " " + draw()})
	}
	for _, lines := range programs {
		reduced := outcomes(t, lines)
		for outcome := range outcomes(t, lines, Unreduced()) {
			if !reduced[outcome] {
				t.Errorf("%q: %s is not found", lines, outcome)
			}
		}
	}
}
