package syntax

import (
	"fmt"
	"slices"
	"testing"
	"unsafe"

	stdsync "sync"

	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

// check runs f in all orders, and returns what it returned.
func check(t *testing.T, f func(*interleave.T) string, opts ...interleave.Option) []string {
	t.Helper()
	if !interleave.Rewritten("github.com/escapement-go/escapement/synctestcompat/interleave/testdata/syntax") {
		t.Fatal("this package is not rewritten")
	}
	var all []string
	r := interleave.Explore(t, func(t *interleave.T) {
		if got := f(t); !slices.Contains(all, got) {
			all = append(all, got)
		}
	}, opts...)
	if r.Failure != "" {
		t.Fatal(r.Failure)
	}
	t.Log(r.Summary())
	slices.Sort(all)
	return all
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSelect(t *testing.T) {
	want(t, check(t, func(t *interleave.T) string {
		errs, stop, out := make(chan error, 2), make(chan struct{}), make(chan fmt.Stringer, 1)
		errs <- &failure{"a"}
		errs <- &failure{"b"}
		close(stop)
		got := first(errs, stop, out)
		if len(out) > 0 {
			got += "|" + (<-out).String()
		}
		return got
	}), "b", "sent b|1s", "sent then a|1s", "stopped", "stopped|1s", "then a")
}

func TestLen(t *testing.T) {
	want(t, check(t, func(*interleave.T) string {
		q, all := make(queue[int], 2), []int{1}
		go q.put(all...)
		var out chan<- int = q
		return fmt.Sprint(waiting(q) <= len(out), len(all))
	}), "true 1")
}

func TestTotal(t *testing.T) {
	want(t, check(t, func(*interleave.T) string { return fmt.Sprint(Total()) }, interleave.Runs(500)), "5333")
}

func TestEach(t *testing.T) {
	want(t, check(t, func(*interleave.T) string { return fmt.Sprint(each(3)) }, interleave.Bound(0)),
		"[0 1 2]", "[0 2 1]", "[1 0 2]", "[1 2 0]", "[2 0 1]", "[2 1 0]")
}

func TestShadowed(t *testing.T) {
	want(t, check(t, func(*interleave.T) string { return fmt.Sprint(Shadowed(), Dotted()) }), "5 1")
}

func TestCounter(t *testing.T) {
	want(t, check(t, func(*interleave.T) string {
		var c counter
		var wg stdsync.WaitGroup
		wg.Add(2)
		for range 2 {
			go func() { defer wg.Done(); c.add() }()
		}
		wg.Wait()
		return fmt.Sprint(c.n.Load())
	}), "2")
}

func TestOneLine(t *testing.T) {
	want(t, check(t, func(*interleave.T) string {
		c := make(chan int, 1)
		n := oneLine(c)
		c <- 1
		n += oneLine(c)
		c <- 1
		return fmt.Sprint(n, ", ", lines(c))
	}), "1, 1 in line 170")
}

// What is replaced has the size of what it replaces.
func TestSizes(t *testing.T) {
	var mu stdsync.Mutex
	if got := unsafe.Sizeof(mu); got != 8 {
		t.Errorf("a Mutex has %d bytes", got)
	}
	if got := unsafe.Sizeof(counter{}); got != 24 { // on 32 bits, too: an atomic.Int64 is aligned to 8
		t.Errorf("a counter has %d bytes, want 24", got)
	}
}
