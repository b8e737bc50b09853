package debounce

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/synctestcompat"
)

// reader starts a goroutine that notes what comes out, taking slow for each.
func reader[T any](j *journal, out <-chan T, slow time.Duration) {
	go func() {
		for v := range out {
			j.log("%v", v)
			time.Sleep(slow)
		}
		j.log("closed")
	}()
}

func TestStream(t *testing.T) {
	for _, tt := range []struct {
		name string
		opts []Option
		want []string
	}{
		{"trailing", nil, []string{"150ms: 2", "400ms: 4", "400ms: closed"}},
		{"drop", []Option{DropOnClose()}, []string{"150ms: 2", "400ms: closed"}},
		{"leading", []Option{Leading()}, []string{"0s: 1", "350ms: 3", "400ms: closed"}},
		{"both", []Option{LeadingAndTrailing()}, []string{"0s: 1", "150ms: 2", "350ms: 3", "400ms: 4", "400ms: closed"}},
		{"twice", []Option{LeadingAndTrailingTwice()}, []string{"0s: 1", "150ms: 2", "350ms: 3", "400ms: 4", "400ms: closed"}},
		{"bound", []Option{MaxWait(70 * ms)}, []string{"70ms: 2", "400ms: 4", "400ms: closed"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctestcompat.Run(t, func(t *testing.T) {
				j := newJournal()
				in := make(chan int)
				reader(j, Stream(context.Background(), in, 100*ms, nil, tt.opts...), 0)
				in <- 1
				synctestcompat.Sleep(50 * ms)
				in <- 2
				synctestcompat.Sleep(300 * ms)
				in <- 3
				synctestcompat.Sleep(50 * ms)
				in <- 4
				close(in)
				synctestcompat.Wait()
				j.check(t, tt.want...)
			})
		})
	}
}

func TestStream_zeroWait(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		j := newJournal()
		in := make(chan int, 3)
		in <- 1
		in <- 2
		close(in)
		reader(j, Stream(context.Background(), in, 0, nil), 0)
		synctestcompat.Wait()
		j.check(t, "0s: 1", "0s: 2", "0s: closed")
	})
}

// Errors pass at once and leave the burst alone.
func TestStream_bypass(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		j := newJournal()
		in := make(chan any)
		isErr := func(v any) bool { _, ok := v.(error); return ok }
		reader(j, Stream(context.Background(), in, 100*ms, isErr, LeadingAndTrailing()), 0)
		failed := errors.New("failed")
		in <- failed
		synctestcompat.Sleep(10 * ms)
		in <- "a"
		in <- "b"
		synctestcompat.Sleep(90 * ms)
		in <- failed
		synctestcompat.Sleep(10 * ms)
		close(in)
		synctestcompat.Wait()
		j.check(t, "0s: failed", "10ms: a", "100ms: failed", "110ms: b", "110ms: closed")
	})
}

// A slow reader slows the sender down; nothing is lost but what a later value of its
// burst replaces.
func TestStream_slowReader(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		j, sent := newJournal(), newJournal()
		in := make(chan int)
		reader(j, Stream(context.Background(), in, 100*ms, nil), time.Second)
		for v := range 4 {
			in <- v
			sent.log("%d", v)
			synctestcompat.Sleep(200 * ms)
		}
		close(in)
		synctestcompat.Sleep(time.Hour)
		sent.check(t, "0s: 0", "200ms: 1", "1.1s: 2", "2.1s: 3")
		j.check(t, "100ms: 0", "1.1s: 1", "2.1s: 2", "3.1s: 3", "4.1s: closed")
	})
}

// While a value that is overdue waits for its reader, nothing is read. The stream once
// chose by chance between the two when a bypassed value had been taken late.
func TestStream_overdue(t *testing.T) {
	for range 50 {
		synctestcompat.Run(t, func(t *testing.T) {
			j := newJournal()
			in := make(chan int)
			out := Stream(context.Background(), in, 100*ms, func(v int) bool { return v < 0 })
			in <- 1
			in <- -1
			go func() {
				in <- 2
				time.Sleep(time.Nanosecond) // so that the journal has an order
				j.log("2 was read")
				close(in)
			}()
			for range 3 {
				synctestcompat.Sleep(time.Second)
				j.log("%d", <-out)
			}
			j.check(t, "1s: -1", "2s: 1", "2.000000001s: 2 was read", "3s: 2")
		})
	}
}

// However ctx ends, the channel is closed at that instant and nothing stays behind:
// the bubble would not end.
func TestStream_ctx(t *testing.T) {
	for name, arrange := range map[string]func(in chan int){
		"idle":               func(chan int) {},
		"pending":            func(in chan int) { in <- 1 },
		"nobody reads":       func(in chan int) { in <- 1; synctestcompat.Sleep(time.Hour) },
		"nobody reads, more": func(in chan int) { in <- 1; time.Sleep(50 * ms); in <- 2; synctestcompat.Sleep(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			synctestcompat.Run(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(context.Background())
				in := make(chan int)
				out := Stream(ctx, in, 100*ms, nil)
				arrange(in)
				cancel()
				synctestcompat.Wait()
				select {
				case v, ok := <-out:
					if ok {
						t.Errorf("received %v after ctx was done", v)
					}
				default:
					t.Error("the channel is open after ctx was done")
				}
				select {
				case in <- 9:
					t.Error("the input is read after ctx was done")
				default:
				}
			})
		})
	}
}

// A stream fires what a debouncer fires for the same calls.
func TestStream_likeDebouncer(t *testing.T) {
	for _, v := range variants(100 * ms) {
		synctestcompat.Run(t, func(t *testing.T) {
			j, k := newJournal(), newJournal()
			in := make(chan int)
			reader(j, Stream(context.Background(), in, v.wait, nil, v.options...), 0)
			d := New(v.wait, func(v int) { k.log("%d", v) }, v.options...)
			for i := range 200 {
				in <- i
				d.Call(i)
				synctestcompat.Sleep(time.Duration(i*i*37%170+1) * ms)
			}
			d.Flush()
			close(in)
			synctestcompat.Wait()
			d.Stop()
			k.log("closed")
			if got, want := fmt.Sprint(j.lines), fmt.Sprint(k.lines); got != want {
				t.Errorf("%s:\nstream    %s\ndebouncer %s", v.name, got, want)
			}
		})
	}
}

// A value that is read at the very deadline of the one before begins a new burst, and there
// is never more than one timer.
func TestStream_atTheDeadline(t *testing.T) {
	for range 30 {
		synctestcompat.Run(t, func(t *testing.T) {
			j := newJournal()
			in := make(chan int)
			out := Stream(context.Background(), in, 100*ms, nil)
			if cap(out) != 0 {
				t.Errorf("cap(out) = %d, want 0", cap(out))
			}
			reader(j, out, 0)
			in <- 1
			time.Sleep(100 * ms) // no settling: whether the timer is first is chance
			in <- 2
			synctestcompat.Sleep(time.Hour)
			j.check(t, "100ms: 1", "200ms: 2")
			close(in)
		})
	}
	clock := fakeclock.New()
	in, gone := make(chan int), make(chan bool)
	out := Stream(context.Background(), in, 100, func(v int) bool { return v < 0 }, WithClock(clock), MaxWait(250))
	for v := range 20 {
		in <- v
		in <- -1
		if got := <-out; got != -1 {
			t.Fatalf("received %d, want the one that passes at once", got)
		}
		if got := len(clock.Timers()); got != 1 {
			t.Errorf("%d timers are armed while %d is pending, want 1", got, v)
		}
	}
	go func() {
		for range out {
		}
		close(gone)
	}()
	close(in)
	<-gone
	if got := len(clock.Timers()); got != 0 {
		t.Errorf("%d timers are armed at the end, want 0", got)
	}
}
