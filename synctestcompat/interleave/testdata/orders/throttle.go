package orders

import (
	"time"

	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

// endsAtExpiry ends the input of a throttle as the interval of an item ends.
func endsAtExpiry(throttle func(in <-chan int, out chan<- int)) func(*interleave.T) {
	return func(t *interleave.T) {
		in, out := make(chan int), make(chan int)
		go throttle(in, out)
		in <- 1
		<-out
		time.Sleep(time.Second)
		close(in)
		for v := range out {
			t.Errorf("%d came at the end", v)
		}
		synctestcompat.Sleep(2 * time.Second)
	}
}

// passesNext asserts that an item passes that comes later than an interval after
// the one before it came out.
func passesNext(throttle func(in <-chan int, out chan<- int)) func(*interleave.T) {
	return func(t *interleave.T) {
		in, out := make(chan int), make(chan int)
		go throttle(in, out)
		in <- 1
		<-out
		time.Sleep(time.Second + 1)
		go func() { in <- 2; close(in) }()
		if _, ok := <-out; !ok {
			t.Error("an item that came 1.000000001s after the one before it was dropped")
		}
	}
}

// cooling drops what comes until its timer says that the second since the last
// item is over. The timer is armed when that item has come out, and sends to a
// channel that is closed at the end of the input.
func cooling(in <-chan int, out chan<- int) {
	defer close(out)
	over := make(chan struct{}, 1)
	defer close(over)
	var timer *time.Timer
	cools := false
	for {
		select {
		case v, ok := <-in:
			if !ok {
				if timer != nil {
					timer.Stop()
				}
				return
			}
			if cools {
				continue
			}
			out <- v
			cools = true
			timer = time.AfterFunc(time.Second, func() { over <- struct{}{} })
		case <-over:
			cools = false
		}
	}
}

// stamped needs no timer: it compares the time with that of the last item.
func stamped(in <-chan int, out chan<- int) {
	defer close(out)
	var last time.Time
	for v := range in {
		if now := time.Now(); last.IsZero() || now.Sub(last) >= time.Second {
			last = now
			out <- v
		}
	}
}
