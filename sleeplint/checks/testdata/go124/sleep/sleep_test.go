package sleep

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestSleeps(t *testing.T) {
	time.Sleep(10 * time.Millisecond) // want `the test sleeps 10ms; a bubble does not wait for it`
	<-time.After(time.Second)         // want `the test sleeps 1s`
	select {                          // no other case, no limit
	case <-time.After(time.Second): // want `the test sleeps 1s`
	}
	for range 3 {
		time.Sleep(duration()) // want `the test sleeps; `
	}
	t.Run("subtest", func(t *testing.T) {
		time.Sleep(time.Minute) // want `the test sleeps 1m0s`
	})
	func() {
		time.Sleep(time.Minute) // want `the test sleeps 1m0s`
	}()
}

func helper(t testing.TB) {
	time.Sleep(time.Minute) // want `the test sleeps 1m0s`
}

type suite struct{}

func (suite) TestSleeps() {
	time.Sleep(time.Minute) // want `the test sleeps 1m0s`
}

func TestAllIsWell(t *testing.T) {
	var wg sync.WaitGroup
	done := make(chan bool)
	go func() { // another goroutine may well take its time
		time.Sleep(time.Minute)
		close(done)
	}()
	time.AfterFunc(time.Minute, func() { time.Sleep(time.Minute) })
	select {
	case <-done:
	case <-time.After(time.Minute): // a limit for a test that hangs
		t.Fatal("hangs")
	}
	time.Sleep(0)
	wg.Wait()
	time.Sleep(time.Minute) //sleeplint:ok the file system's clock has a grain of its own
	//sleeplint:ok the file system's clock has a grain of its own
	time.Sleep(time.Minute)
	time.Sleep(time.Minute) //nolint:sleeplint // as golangci-lint has it
	//sleeplint:ok
	time.Sleep(time.Minute) // want `the test sleeps 1m0s`
}

func TestCollected(t *testing.T) {
	runtime.GC()
	time.Sleep(time.Minute) // neither a clock nor a bubble holds the garbage collector
}

func TestBusy(t *testing.T) {
	var stop atomic.Bool
	go worker(t, &stop)
	time.Sleep(time.Minute) // this is how long it works
	stop.Store(true)
}

func worker(t *testing.T, stop *atomic.Bool) { // a goroutine of its own
	for !stop.Load() {
		time.Sleep(time.Minute)
	}
}

func noTest() { time.Sleep(time.Minute) }

func duration() time.Duration { return time.Second }
