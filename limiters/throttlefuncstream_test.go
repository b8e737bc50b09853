package limiters

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/synctestcompat"
)

// notes are what happened when, by whatever goroutine.
type notes struct {
	mu    sync.Mutex
	began time.Time
	lines []string
}

func newNotes() *notes { return &notes{began: time.Now()} }

func (n *notes) add(what any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, fmt.Sprintf("%v@%v", what, time.Since(n.began)))
}

func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.lines, ", ")
}

// read starts a goroutine that notes what comes out, taking slow for each.
func (n *notes) read(out <-chan Item[int], slow time.Duration) {
	go func() {
		for item := range out {
			n.add(item.Value)
			time.Sleep(slow)
		}
		n.add("closed")
	}()
}

// A stream lets out what a ThrottleFunc runs for the same events, and what is pending at the
// end at once.
func TestThrottleFuncStream_likeThrottleFunc(t *testing.T) {
	for _, edges := range allEdges {
		for _, interval := range []time.Duration{0, 100 * ms} {
			t.Run(fmt.Sprint(edges, " ", interval), func(t *testing.T) {
				synctestcompat.Run(t, func(t *testing.T) {
					got, want := newNotes(), newNotes()
					in := make(chan Item[int])
					got.read(ThrottleFuncStream(context.Background(), in, interval, edges), 0)
					h := NewThrottleFunc(interval, func(v int) { want.add(v) }, edges)
					for i := range 200 {
						in <- Item[int]{Value: i}
						h.Call(i)
						synctestcompat.Sleep(time.Duration(i*i*37%170)*ms + time.Duration(i)) // not at the ends of windows
					}
					h.Flush()
					close(in)
					synctestcompat.Wait()
					want.add("closed")
					if got.String() != want.String() {
						t.Errorf("got\n%v\nwant\n%v", got, want)
					}
				})
			})
		}
	}
}

// Errors pass at once, ahead of what is pending, unless that is overdue: then it is its turn,
// and nothing is read before.
func TestThrottleFuncStream_errors(t *testing.T) {
	failed := errors.New("failed")
	for range 30 {
		synctestcompat.Run(t, func(t *testing.T) {
			got := newNotes()
			in := make(chan Item[int])
			out := ThrottleFuncStream(context.Background(), in, 100*ms, Trailing)
			in <- Item[int]{Value: 1}
			in <- Item[int]{Value: -1, Err: failed}
			go func() {
				in <- Item[int]{Value: 2}
				time.Sleep(time.Nanosecond) // so that the notes have an order
				got.add("2 was read")
				close(in)
			}()
			for range 3 {
				synctestcompat.Sleep(time.Second)
				got.add((<-out).Value)
			}
			if got, want := got.String(), "-1@1s, 1@2s, 2 was read@2.000000001s, 2@3s"; got != want {
				t.Fatalf("got %s, want %s", got, want)
			}
		})
	}
}

// A slow reader slows the sender down: while an item waits for it nothing is read.
func TestThrottleFuncStream_slowReader(t *testing.T) {
	for edges, want := range map[Edges]string{
		Leading:            "0@0s, 2@1s, 3@2s, closed@3s",
		Leading | Trailing: "0@0s, 1@1s, 2@2s, 3@3s, closed@4s",
		Sample:             "1@100ms, 3@1.1s, closed@2.1s",
	} {
		synctestcompat.Run(t, func(t *testing.T) {
			got := newNotes()
			in := make(chan Item[int])
			got.read(ThrottleFuncStream(context.Background(), in, 100*ms, edges), time.Second)
			for v := range 4 {
				in <- Item[int]{Value: v}
				synctestcompat.Sleep(50 * ms)
			}
			close(in)
			synctestcompat.Sleep(time.Hour)
			if got.String() != want {
				t.Errorf("edges %d: got %s, want %s", edges, got, want)
			}
		})
	}
}

// However ctx ends, the channel is closed at that instant and nothing stays behind: the bubble
// would not end.
func TestThrottleFuncStream_ctx(t *testing.T) {
	for name, arrange := range map[string]func(in chan Item[int]){
		"idle":         func(chan Item[int]) {},
		"pending":      func(in chan Item[int]) { in <- Item[int]{Value: 1} },
		"nobody reads": func(in chan Item[int]) { in <- Item[int]{Value: 1}; synctestcompat.Sleep(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			synctestcompat.Run(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(context.Background())
				in := make(chan Item[int])
				out := ThrottleFuncStream(ctx, in, 100*ms, Trailing)
				arrange(in)
				cancel()
				synctestcompat.Wait()
				select {
				case item, ok := <-out:
					if ok {
						t.Errorf("received %v after ctx was done", item)
					}
				default:
					t.Error("the channel is open after ctx was done")
				}
				select {
				case in <- Item[int]{}:
					t.Error("the input is read after ctx was done")
				default:
				}
			})
		})
	}
}

func TestThrottleFuncStream_panics(t *testing.T) {
	ctx, in, clock := context.Background(), make(chan Item[int]), WithClock(fakeclock.New())
	wantPanic(t, "limiters: ThrottleFuncStream: interval -1ns must be >= 0: use 0 to let everything pass",
		func() { ThrottleFuncStream(ctx, in, -1, clock, nil) })
	wantPanic(t, "limiters: ThrottleFuncStream: edges 7: use Leading, Trailing, Leading|Trailing or Sample",
		func() { ThrottleFuncStream(ctx, in, 1, Leading|Trailing|Sample) })
}
