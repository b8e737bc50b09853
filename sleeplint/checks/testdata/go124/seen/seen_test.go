package seen

import (
	"sync"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
)

func withServer(t *testing.T, f func(t *testing.T)) { f(t) }

func TestBody(t *testing.T) {
	withServer(t, func(t *testing.T) {
		time.Sleep(time.Second) // want `the test sleeps 1s`
	})
}

func timed(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}

func TestCalledMeanwhile(t *testing.T) {
	timed(func() {
		time.Sleep(time.Second) // want `the test sleeps 1s`
	})
}

func TestClosure(t *testing.T) {
	wait := func(d time.Duration) {
		time.Sleep(d) // want `the test sleeps; `
	}
	wait(time.Second)
	later := func() { time.Sleep(time.Second) }
	go later()
}

func TestHelper(t *testing.T) {
	if nap() {
		both()
	}
	go both()
}

func nap() bool {
	time.Sleep(time.Second) // want `the test sleeps 1s`
	return doze()
}

func doze() bool {
	time.Sleep(time.Second) // want `the test sleeps 1s`
	return true
}

func both() { time.Sleep(time.Second) } // another goroutine calls it too

func BenchmarkHelper(b *testing.B) { onlyHere() }

func onlyHere() { time.Sleep(time.Second) }

func TestTimers(t *testing.T) {
	<-time.NewTimer(time.Second).C // want `the test sleeps 1s`
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	<-ticker.C           // want `the test sleeps; `
	for range ticker.C { // want `the test polls in real time`
		break
	}
	timer := time.NewTimer(time.Second)
	if !timer.Stop() {
		<-timer.C // it is drained
	}
	select {
	case <-timer.C:
	default:
	}
}

func TestTable(t *testing.T) {
	for _, row := range []struct {
		before func()
		run    func(t *testing.T)
		later  func()
	}{
		{
			before: func() {
				time.Sleep(time.Second) // want `the test sleeps 1s`
			},
			run: func(t *testing.T) {
				time.Sleep(time.Second) // want `the test sleeps 1s`
			},
			later: func() { time.Sleep(time.Second) },
		},
	} {
		row.before()
		t.Run("row", row.run)
		go row.later()
	}
}

type fixtures struct{}

func (fixtures) SetupTest() {
	time.Sleep(time.Second) // want `the test sleeps 1s`
}

func (f fixtures) TestOne() {
	f.settle()
}

func (fixtures) settle() {
	time.Sleep(time.Second) // want `the test sleeps 1s`
}

var _ = Describe("a tree", func() {
	BeforeEach(func() {
		time.Sleep(time.Second) // want `the test sleeps 1s; specs of ginkgo have no bubbles: wait for the event: `
	})
	It("sleeps", func() {
		time.Sleep(time.Second) // want `the test sleeps 1s; specs of ginkgo have no bubbles: wait for the event: `
		go func() { time.Sleep(time.Second) }()
	})
})

func TestElsewhere(t *testing.T) {
	var group sync.WaitGroup
	handle(func() { time.Sleep(time.Second) })
	inGoroutine(func() { time.Sleep(time.Second) })
	time.AfterFunc(time.Second, func() { time.Sleep(time.Second) })
	group.Wait()
}

var handler func()

func handle(f func()) { handler = f }

func inGoroutine(f func()) { go f() }
