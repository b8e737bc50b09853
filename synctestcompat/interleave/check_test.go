//lint:file-ignore SA2001 a lock that protects nothing is one point more to explore

package interleave

import (
	"os"
	"strings"
	stdsync "sync"
	"testing"
	stdtime "time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/escapement-go/escapement/synctestcompat/interleave/shim/point"
	"github.com/escapement-go/escapement/synctestcompat/interleave/shim/sync"
	"github.com/escapement-go/escapement/synctestcompat/interleave/shim/sync/atomic"
	"github.com/escapement-go/escapement/synctestcompat/interleave/shim/time"
)

// lost loses an update in some orders.
func lost(t *T) {
	var n atomic.Int64
	add := func() { n.Store(n.Load() + 1) }
	together(add, add)
	if n.Load() != 2 {
		t.Errorf("n is %d", n.Load())
	}
}

func contains(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("got\n%s\nwant %q in it", got, w)
		}
	}
}

// The first failure is always the same, and its line runs only it.
func TestReplay(t *testing.T) {
	first := explored(t, lost)
	contains(t, first.Failure, "n is 1", "1 preemption", "t     0", "-run '^TestReplay$'",
		Variable+"='"+first.Replay+"'")
	for range 20 {
		if again := explored(t, lost); again.Failure != first.Failure {
			t.Fatalf("first\n%s\nthen\n%s", first.Failure, again.Failure)
		}
	}
	_, text, _ := strings.Cut(first.Replay, ":")
	e := newExplorer(t, lost, nil)
	defer e.close()
	r := e.replay(text)
	contains(t, r.Failure, "n is 1")
	for _, wrong := range []string{"x", "1.1", "1.1-zz", "2.1,1.1-0000"} {
		if r := e.replay(wrong); !strings.Contains(r.Failure, Variable) {
			t.Errorf("%s: %q", wrong, r.Failure)
		}
	}
	contains(t, e.replay("first-0000").Failure, "no longer exists")
	contains(t, e.replay("0.7-0000").Failure, "no longer exists")
}

func TestBoundsAndRuns(t *testing.T) {
	if r := explored(t, lost, Bound(0)); r.Failure != "" || len(r.Runs) != 1 {
		t.Errorf("at bound 0: %s, %s", r.Summary(), r.Failure)
	}
	right := func(t *T) {
		var mu sync.Mutex
		together(func() { mu.Lock(); mu.Unlock() }, func() { mu.Lock(); mu.Unlock() })
	}
	if r := explored(t, right, Runs(5)); r.Failure != "" || r.Left == 0 {
		t.Errorf("with 5 runs: %s, %s", r.Summary(), r.Failure)
	}
	e := newExplorer(t, right, nil)
	defer e.close()
	e.cfg.runs = 5 // as if that were the default
	contains(t, e.explore().Failure, "but not all were explored", "not explored: at least")
	contains(t, explored(t, right, Points(8)).Failure, "not explored", "more than 8 points")
}

// What differs each time is reported, and not taken for a result.
func TestDivergence(t *testing.T) {
	calls := 0
	r := explored(t, func(t *T) {
		var mu sync.Mutex
		lock := func() { mu.Lock(); mu.Unlock() }
		if calls++; calls%2 == 0 {
			together(lock)
		}
		together(lock, lock)
	})
	contains(t, r.Failure, "is not deterministic")
}

// What is made on first use, in some orders only, is no divergence.
func TestFirstUse(t *testing.T) {
	var once sync.Once
	r := explored(t, func(t *T) {
		var n atomic.Int64
		together(func() { n.Store(1) }, func() {
			if n.Load() == 0 {
				once.Do(func() {})
			}
		})
	})
	if r.Failure != "" {
		t.Error(r.Failure)
	}
}

// A lock of code that is not rewritten is held while a goroutine is held up.
func TestWatchdog(t *testing.T) {
	r := explored(t, func(t *T) {
		var mu stdsync.Mutex
		var n atomic.Int64
		add := func() {
			mu.Lock()
			defer mu.Unlock()
			n.Add(1)
		}
		together(add, add)
	})
	contains(t, r.Failure, "sync.Mutex.Lock", "-with", "check_test.go")
}

var outside = make(chan int)

// A channel from outside of the bubble is named.
func TestWatchdog_channel(t *testing.T) {
	r := explored(t, func(t *T) { point.Recv(outside) })
	contains(t, r.Failure, "made outside of the function")
}

func TestStillTime(t *testing.T) {
	stale := func(t *T) {
		done := make(chan bool)
		point.Go(func() { time.Sleep(stdtime.Second); point.Close(done) })
		began := time.Now()
		var n atomic.Int64
		n.Add(1)
		if time.Now() != began {
			t.Error("time has moved")
		}
		point.Recv(done)
	}
	contains(t, explored(t, stale).Failure, "time has moved", "time moves on to 1s, though another")
	if r := explored(t, stale, StillTime()); r.Failure != "" {
		t.Error(r.Failure)
	}
}

// FailNow ends the goroutine and not the cleanup, which runs in the bubble; a skip is no failure.
func TestT(t *testing.T) {
	var log []string
	r := explored(t, func(t *T) {
		log = nil
		t.Cleanup(func() { log = append(log, "first") })
		t.Cleanup(func() { log = append(log, t.Context().Err().Error()); t.FailNow() })
		t.Logf("%d", 1)
		t.Fatal("fatal")
	})
	contains(t, r.Failure, "fatal", "check_test.go")
	if got := strings.Join(log, ", "); got != "context canceled, first" {
		t.Errorf("cleanup: %s", got)
	}
	if r := explored(t, func(t *T) { t.Skip("no") }); !r.Skipped || r.Failure != "" {
		t.Errorf("skipped: %v, %s", r.Skipped, r.Failure)
	}
}

// Where nothing is rewritten the function is called once.
func TestPlain(t *testing.T) {
	synctestcompat.Require(t)
	calls := 0
	e := newExplorer(t, func(t *T) { calls++; time.Sleep(time.Hour) }, nil)
	if r := e.plain(); r.Rewritten || r.Failure != "" || calls != 1 {
		t.Errorf("%+v after %d calls", r, calls)
	}
	e.f = func(t *T) { t.Fatal("wrong") }
	contains(t, e.plain().Failure, "wrong", "in the only order that ran")
	e.f = func(t *T) { <-make(chan int) }
	contains(t, e.plain().Failure, "deadlock")
}

// What a fake clock starts takes part: it may begin after what comes next.
func TestFakeClock(t *testing.T) {
	r := explored(t, func(t *T) {
		c := fakeclock.New()
		var mu sync.Mutex
		stopped, late := false, false
		c.AfterFunc(stdtime.Second, func() {
			mu.Lock()
			defer mu.Unlock()
			late = stopped
		})
		done := make(chan bool, 1)
		point.Go(func() {
			mu.Lock()
			stopped = true
			mu.Unlock()
			point.To(done).Send(true)
		})
		c.Advance(stdtime.Second)
		point.Recv(done)
		if late {
			t.Error("ran after it was stopped")
		}
	})
	contains(t, r.Failure, "ran after it was stopped")
}

func TestMain(m *testing.M) {
	os.Unsetenv(Variable)
	os.Exit(m.Run())
}
