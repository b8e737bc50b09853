package rapidbubble

import (
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// failing are properties that fail from 501 on, each in a way of its own, with what
// the output must then say. They fail whatever test runs them, so a process of its own
// does.
var failing = []struct {
	name string
	prop func(t *T, outer *testing.T)
	says []string
	opts []Option
}{
	{"Fatalf", func(t *T, _ *testing.T) {
		if n := drawN(t); n > 500 {
			t.Fatalf("%d is too many", n)
		}
	}, []string{"501 is too many", "draw n: 501"}, nil},
	{"Errorf", func(t *T, _ *testing.T) {
		if n := drawN(t); n > 500 {
			t.Errorf("%d is too many", n)
		}
	}, []string{"501 is too many", "draw n: 501"}, nil},
	{"Panic", func(t *T, _ *testing.T) {
		if n := drawN(t); n > 500 {
			panicsAt(n)
		}
	}, []string{"panic: 501 is too many", "rapidbubble.panicsAt", "draw n: 501"}, nil},
	{"SkipBelow", func(t *T, _ *testing.T) {
		n := drawN(t)
		if n < 400 {
			t.Skip("too few to tell")
		}
		if n > 500 {
			t.Fatalf("%d is too many", n)
		}
	}, []string{"501 is too many"}, nil},
	{"Filter", func(t *T, _ *testing.T) {
		if n := rapid.IntRange(0, 1e6).Filter(func(n int) bool { return n%2 == 0 }).Draw(t.T, "n"); n > 500 {
			t.Fatalf("%d is too many", n)
		}
	}, []string{"draw n: 5", "is too many"}, nil},
	{"SkipsTooMuch", func(t *T, _ *testing.T) {
		if n := drawN(t); n != 7 {
			t.SkipNow()
		}
	}, []string{"only generated"}, nil},
	{"TwoBugs", func(t *T, _ *testing.T) { // the one that was found is not left for the other
		n := drawN(t)
		if n > 500 {
			t.Fatalf("%d is too many", n)
		}
		if n == 3 {
			t.Fatalf("3 is another bug")
		}
	}, []string{"501 is too many"}, nil},
	{"Deadlock", func(t *T, _ *testing.T) {
		if n := drawFew(t); n > 500 {
			blocks()
		}
	}, []string{"deadlock: the property is still blocked", "chan receive in", "rapidbubble.blocks at failing_test.go:", "draw n: 501"}, nil},
	{"DeadlockWhileTicking", func(t *T, _ *testing.T) {
		if n := drawFew(t); n > 500 {
			go tick(time.NewTicker(time.Minute), nil)
			blocks()
		}
	}, []string{"deadlock: the property is still blocked after 10h0m0s", "rapidbubble.blocks at failing_test.go:", "draw n: 501"},
		[]Option{Horizon(10 * time.Hour)}},
	{"Leak", func(t *T, _ *testing.T) {
		if n := drawFew(t); n > 500 {
			go blocks()
		}
	}, []string{"goroutines left behind", "chan receive in", "rapidbubble.blocks at failing_test.go:", "started by", "draw n: 501"}, nil},
	{"LeakedTicker", func(t *T, _ *testing.T) {
		if n := drawFew(t); n > 500 {
			go tick(time.NewTicker(time.Minute), nil)
		}
	}, []string{"goroutines left behind", "rapidbubble.tick at failing_test.go:", "draw n: 501"}, nil},
	{"LeakWhileOthersEnd", func(t *T, _ *testing.T) {
		if n := drawFew(t); n > 500 {
			go blocks()
		}
	}, []string{"goroutines left behind", "rapidbubble.blocks at failing_test.go:", "draw n: 501"},
		[]Option{func(r *runner) { r.running = func() int { return 0 } }}},
	{"FailureThatLeaks", func(t *T, _ *testing.T) {
		if n := drawFew(t); n > 500 {
			go blocks()
			t.Fatalf("%d is too many", n)
		}
	}, []string{"501 is too many", "draw n: 501"}, nil},
	{"ErrorThatLeaks", func(t *T, _ *testing.T) {
		if n := drawFew(t); n > 500 {
			go blocks()
			t.Errorf("%d is too many", n)
		}
	}, []string{"501 is too many", "draw n: 501"}, nil},
	{"PanicInCleanup", func(t *T, _ *testing.T) {
		n := drawN(t)
		t.Cleanup(func() {
			if n > 500 {
				panicsAt(n)
			}
		})
	}, []string{"panic: 501 is too many", "draw n: 501"}, nil},
	{"Goexit", func(t *T, _ *testing.T) {
		if n := drawN(t); n > 500 {
			runtime.Goexit()
		}
	}, []string{"runtime.Goexit", "draw n: 501"}, nil},
	{"OuterFatal", func(t *T, outer *testing.T) {
		if n := drawN(t); n > 500 {
			outer.Fatal("on the wrong T")
		}
	}, []string{"on the wrong T", "fail and skip on the property's own T"}, nil},
	{"Guard", func(t *T, _ *testing.T) {
		n := drawN(t)
		time.AfterFunc(time.Second, t.Guard(func() {
			if n > 500 {
				t.Fatalf("%d is too many", n)
			}
		}))
		time.Sleep(time.Minute)
	}, []string{"501 is too many", "draw n: 501"}, nil},
	{"GuardedPanic", func(t *T, _ *testing.T) {
		n := drawN(t)
		go t.Guard(func() {
			if n > 500 {
				panicsAt(n)
			}
		})()
		time.Sleep(time.Minute)
	}, []string{"panic: 501 is too many", "rapidbubble.panicsAt", "draw n: 501"}, nil},
	{"Repeat", func(t *T, _ *testing.T) {
		sum := 0
		t.Repeat(map[string]func(*T){
			"add":  func(t *T) { sum += rapid.IntRange(1, 100).Draw(t.T, "by") },
			"wait": func(t *T) { time.Sleep(time.Second) },
			"": func(t *T) {
				if sum > 150 {
					t.Fatalf("the sum is %d", sum)
				}
			},
		})
	}, []string{"the sum is 151"}, nil},
	{"Custom", func(t *T, _ *testing.T) {
		pair := rapid.Custom(func(t *rapid.T) [2]int {
			return [2]int{rapid.IntRange(0, 1000).Draw(t, "a"), rapid.IntRange(0, 1000).Draw(t, "b")}
		})
		if p := pair.Draw(t.T, "p"); p[0]+p[1] > 500 {
			t.Fatalf("too many")
		}
	}, []string{"too many"}, nil},
	{"MutexHang", func(t *T, _ *testing.T) {
		if n := drawFew(t); n > 500 {
			var mu sync.Mutex
			mu.Lock()
			go func() {
				time.Sleep(time.Second)
				mu.Unlock()
			}()
			locks(&mu)
		}
	}, []string{"hang: a goroutine waits for a mutex", "sync.Mutex.Lock in", "rapidbubble.locks at failing_test.go:", "sleep in", "draw n: 501"},
		[]Option{func(r *runner) { r.patience = 5 * time.Millisecond }}},
}

func drawN(t *T) int { return rapid.IntRange(0, 1e6).Draw(t.T, "n") }

// drawFew is for what leaves goroutines behind: with each, the next look at the stacks
// takes longer.
func drawFew(t *T) int { return rapid.IntRange(490, 510).Draw(t.T, "n") }

type tooMany int

//go:noinline
func panicsAt(n int) { panic(errorOf(n)) }

func errorOf(n int) error { return tooMany(n) }

func (n tooMany) Error() string { return strconv.Itoa(int(n)) + " is too many" }

//go:noinline
func blocks() { <-make(chan int) }

func tick(t *time.Ticker, stop <-chan bool) {
	for {
		select {
		case <-t.C:
		case <-stop:
			return
		}
	}
}

//go:noinline
func locks(mu *sync.Mutex) { mu.Lock() }
