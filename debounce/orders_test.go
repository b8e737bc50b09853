package debounce_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/escapement-go/escapement/debounce"
	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

// bench is a debouncer under test, and what it did: one word, so that looking on adds few orders.
type bench struct {
	*interleave.T
	d    *debounce.Debouncer[int]
	seen atomic.Uint64 // what follows, and a bit for each value that ran
}

const (
	running   = 1 << iota
	stopped   // Stop has returned
	cancelled // Cancel returned true
	closed    // Close returned nil
	ran       // value 0; the others follow
)

func newBench(t *interleave.T, opts ...debounce.Option) *bench {
	b := &bench{T: t}
	b.d = debounce.New(time.Second, func(v int) {
		switch before := b.seen.Or(running | ran<<v); {
		case before&running != 0:
			t.Error("two callbacks overlap")
		case before&stopped != 0:
			t.Error("ran after Stop")
		case before&(ran<<v) != 0:
			t.Errorf("%d ran twice", v)
		}
		b.seen.And(^uint64(running)) // another may go on before
	}, opts...)
	return b
}

// settle lets all that was put off run, however late it may begin.
func settle() {
	for range 2 {
		synctestcompat.Sleep(5 * time.Second)
	}
}

// note remembers what, if it is so.
func (b *bench) note(what uint64, so bool) {
	if so {
		b.seen.Or(what)
	}
}

// saw reports whether what was noted.
func (b *bench) saw(what uint64) bool { return b.seen.Load()&what != 0 }

// has reports whether v ran.
func (b *bench) has(v int) bool { return b.saw(ran << v) }

// steps are what is done beside the deadline of value 1.
var steps = []struct {
	name  string
	drops bool // values may never run
	do    func(b *bench, v int)
}{
	{"Call", false, func(b *bench, v int) { b.d.Call(v) }},
	{"Cancel", true, func(b *bench, _ int) { b.note(cancelled, b.d.Cancel()) }},
	{"Flush", false, func(b *bench, _ int) {
		if b.d.Flush() && b.seen.Load() < ran {
			b.Error("Flush returned true, and nothing ran")
		}
	}},
	{"Pending", false, func(b *bench, _ int) { b.d.Pending() }},
	{"Stop", true, func(b *bench, _ int) { b.d.Stop(); b.seen.Or(stopped) }},
	{"Close", true, func(b *bench, _ int) { b.note(closed, b.d.Close(context.Background()) == nil) }},
}

// Every order of two operations beside a deadline that has come, where this test runs by
//
//	go run ./synctestcompat/interleave/weave -run ^TestOrders ./limiters ./debounce
func TestOrders(t *testing.T) {
	synctestcompat.Require(t)
	for name, opts := range map[string][]debounce.Option{
		"trailing": nil, "both": {debounce.LeadingAndTrailing()}, "maxWait": {debounce.MaxWait(time.Second)},
	} {
		for i, first := range steps {
			for j, second := range steps[i:] {
				t.Run(fmt.Sprintf("%s_%s_%s", name, first.name, second.name), func(t *testing.T) {
					interleave.Check(t, func(t *interleave.T) { beside(t, opts, i, i+j) })
				})
			}
		}
	}
}

// beside does two steps when the deadline has come.
func beside(t *interleave.T, opts []debounce.Option, first, second int) {
	b := newBench(t, opts...)
	b.d.Call(1)
	time.Sleep(time.Second)
	var beside sync.WaitGroup
	beside.Add(1)
	go func() { steps[first].do(b, 2); beside.Done() }()
	steps[second].do(b, 3)
	beside.Wait()
	settle()
	if b.d.Pending() {
		t.Error("something is pending at the end")
	}
	names := steps[first].name + steps[second].name
	if b.saw(cancelled) && b.has(1) && !strings.Contains(names, "Call") {
		t.Error("Cancel returned true, and what was pending ran")
	}
	others := strings.Contains(names, "Call") || strings.Contains(names, "Cancel") || strings.Contains(names, "Stop")
	if b.saw(closed) && !b.has(1) && !others {
		t.Error("Close returned nil, and what was pending did not run")
	}
	if steps[first].drops || steps[second].drops {
		return
	}
	calls := []int{1}
	if steps[first].name == "Call" {
		calls = []int{2}
	}
	if steps[second].name == "Call" {
		calls = append(calls[:len(calls):len(calls)], 3)
		if steps[first].name != "Call" {
			calls = []int{3}
		}
	}
	if !slices.ContainsFunc(calls, b.has) {
		t.Errorf("none of %v ran", calls)
	}
}

// A key is called beside the deadline of another, and of its own.
func TestOrders_Keyed(t *testing.T) {
	interleave.Check(t, func(t *interleave.T) {
		ran := make(chan string, 8)
		d := debounce.NewKeyed(time.Second, func(k string, v int) { ran <- fmt.Sprint(k, v) })
		d.Call("a", 1)
		time.Sleep(time.Second)
		var beside sync.WaitGroup
		beside.Add(1)
		go func() { d.Call("b", 1); beside.Done() }()
		d.Call("a", 2)
		beside.Wait()
		settle()
		if d.Len() != 0 {
			t.Errorf("%d keys are left", d.Len())
		}
		close(ran)
		var all []string
		for v := range ran {
			all = append(all, v)
		}
		if !slices.Contains(all, "a2") || !slices.Contains(all, "b1") {
			t.Errorf("ran %v, want a2 and b1", all)
		}
	})
}

// With room for one key, the newest value of each still runs.
func TestOrders_KeyedEviction(t *testing.T) {
	interleave.Check(t, func(t *interleave.T) {
		ran := make(chan string, 8)
		d := debounce.NewKeyed(time.Second, func(k string, v int) { ran <- fmt.Sprint(k, v) }, debounce.MaxKeys(1))
		errs := make(chan error, 1)
		go func() { errs <- d.Call("a", 1) }()
		b := d.Call("b", 1)
		a := <-errs
		settle()
		close(ran)
		var all []string
		for v := range ran {
			all = append(all, v)
		}
		for key, err := range map[string]error{"a1": a, "b1": b} {
			if (err == nil) != slices.Contains(all, key) {
				t.Errorf("%s: the call returned %v, ran %v", key, err, all)
			}
		}
	})
}

func TestOrders_Batch(t *testing.T) {
	interleave.Check(t, func(t *interleave.T) {
		var all []int
		d := debounce.NewBatch(time.Second, func(vs []int) { all = append(all, vs...) })
		d.Call(1)
		time.Sleep(time.Second)
		var beside sync.WaitGroup
		beside.Add(1)
		go func() { d.Call(2); beside.Done() }()
		d.Call(3)
		beside.Wait()
		settle()
		slices.Sort(all)
		if !slices.Equal(all, []int{1, 2, 3}) {
			t.Errorf("ran %v, want each once", all)
		}
	})
}
