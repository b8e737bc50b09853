package limiters

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/escapement-go/escapement/synctestcompat"
)

//go:noinline
func deep(frames int, f func()) {
	if frames > 0 {
		deep(frames-1, f)
		return
	}
	f()
}

type wayFrom struct {
	name string
	call func(f func())
}

// waysFrom lead from a function to what it calls.
var waysFrom = []wayFrom{
	{"straight", func(f func()) { f() }},
	{"deep", func(f func()) { deep(5_000, f) }},
	{"deferred in a panic", func(f func()) {
		defer func() { recover() }()
		defer f()
		panic("in vain")
	}},
	{"function of another", func(f func()) {
		NewThrottleFunc(time.Hour, func(int) { f() }).Call(1)
	}},
	{"item of another", func(f func()) {
		_, _ = NewLeakyBucket(time.Hour, 0, func(int) { f() }).Put(1)
	}},
}

// stoppable is what runs a function that may end it.
type stoppable struct {
	give func(v int)
	end  func()
}

// stoppables run the function at once for the first value that is given and, unless
// the interval is 0, interval later for the second.
var stoppables = []struct {
	name string
	new  func(interval time.Duration, f func(int)) stoppable
}{
	{"ThrottleFunc.Stop", func(interval time.Duration, f func(int)) stoppable {
		h := NewThrottleFunc(interval, f)
		return stoppable{h.Call, h.Stop}
	}},
	{"LeakyBucket.Stop", func(interval time.Duration, f func(int)) stoppable {
		b := NewLeakyBucket(interval, 1, f)
		return stoppable{func(v int) { _, _ = b.Put(v) }, b.Stop}
	}},
	{"LeakyBucket.Close", func(interval time.Duration, f func(int)) stoppable {
		b := NewLeakyBucket(interval, 1, f)
		return stoppable{func(v int) { _, _ = b.Put(v) }, func() { _ = b.Close(context.Background()) }}
	}},
}

// Stop and Close do not wait when the function calls them, on the goroutine of a caller
// or of a timer. If they did the bubble would report a deadlock.
func TestEndedByFunction(t *testing.T) {
	for _, s := range stoppables {
		for _, way := range waysFrom {
			t.Run(s.name+"/"+way.name, func(t *testing.T) {
				for _, last := range []int{1, 2} { // at once, and by the timer
					synctestcompat.Run(t, func(t *testing.T) { endedByFunction(t, s.new, way, last) })
				}
			})
		}
	}
}

func endedByFunction(t *testing.T, new func(time.Duration, func(int)) stoppable, way wayFrom, last int) {
	returned := 0
	var l stoppable
	l = new(time.Second, func(v int) {
		if v == last {
			way.call(func() { l.end(); returned++ })
		}
	})
	l.give(1)
	l.give(2)
	synctestcompat.Sleep(time.Hour)
	if returned != 1 {
		t.Errorf("called for %d, it returned %d times, want once", last, returned)
	}
}

// A goroutine that the function has started is not the function.
func TestEndedByChildOfFunction(t *testing.T) {
	for _, s := range stoppables {
		t.Run(s.name, func(t *testing.T) {
			synctestcompat.Run(t, func(t *testing.T) {
				began, took := time.Now(), time.Duration(0)
				var l stoppable
				l = s.new(time.Second, func(int) {
					go func() {
						l.end()
						took = time.Since(began)
					}()
					time.Sleep(time.Minute)
				})
				l.give(1)
				synctestcompat.Sleep(time.Hour)
				if took != time.Minute {
					t.Errorf("it returned after %v, want %v", took, time.Minute)
				}
			})
		})
	}
}

// While a panic of the function, or what ends its goroutine, goes through its caller,
// its frames are still there, but it is not running. A later run is not the one that
// is over.
func TestEndedBeyondPanic(t *testing.T) {
	for name, leave := range map[string]func(){"panic": func() { panic("from f") }, "Goexit": runtime.Goexit} {
		for _, s := range stoppables {
			t.Run(s.name+"/"+name, func(t *testing.T) {
				synctestcompat.Run(t, func(t *testing.T) { endedBeyond(t, s.new, leave) })
			})
		}
	}
}

func endedBeyond(t *testing.T, new func(time.Duration, func(int)) stoppable, leave func()) {
	began, took := time.Now(), time.Duration(0)
	l := new(0, func(v int) {
		if v == 1 {
			leave()
		}
		time.Sleep(time.Minute)
	})
	go func() {
		defer func() { recover() }()
		defer func() {
			go l.give(2)
			synctestcompat.Wait()
			l.end()
			took = time.Since(began)
		}()
		l.give(1)
	}()
	time.Sleep(time.Hour)
	synctestcompat.Wait()
	if took != time.Minute {
		t.Errorf("it returned after %v, want %v", took, time.Minute)
	}
}

// A run on the caller's goroutine allocates nothing.
func TestFunctionDoesNotAllocate(t *testing.T) {
	sum := 0
	for _, s := range stoppables {
		l := s.new(0, func(v int) { sum += v })
		if got := testing.AllocsPerRun(100, func() { l.give(1) }); got != 0 {
			t.Errorf("%s: a run allocates %v times, want 0", s.name, got)
		}
		l.end()
	}
}
