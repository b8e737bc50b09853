package batch

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	bt "github.com/escapement-go/escapement/conformance/batchtest"
	"github.com/escapement-go/escapement/internal/zoo"
)

var errClosed = errors.New("closed")

// timed has one timer, which is armed for the first item of each batch, and hands over on the goroutine that decides:
// the caller's, or the timer's. Batches are numbered, so that a timer that comes late does nothing.
type timed struct {
	clock  clockwork.Clock
	cfg    bt.Config
	hand   func([]int)
	mutant string

	mu     sync.Mutex
	items  []int
	number int // of the open batch
	born   time.Time
	timer  clockwork.Timer
	closed bool
	count  int // of items
	unsafe int
	taken  []int // the last batch
}

func (b *timed) is(mutant string) bool { return b.mutant == mutant }

func (b *timed) put(v int) error {
	if b.is("counts without the lock") {
		b.unsafe++
	}
	b.mu.Lock()
	if b.closed {
		defer b.mu.Unlock()
		return b.afterClose(v)
	}
	if b.count++; b.is("drops every fourth item") && b.count%4 == 0 {
		b.mu.Unlock()
		return nil
	}
	if b.is("refuses every fourth item") && b.count%4 == 0 {
		b.mu.Unlock()
		return errClosed
	}
	if b.is("panics with the fourth item") && b.count == 4 {
		b.mu.Unlock()
		panic("too many")
	}
	if b.add(v); len(b.items) == 1 || b.is("each item starts the delay anew") {
		b.begin()
	}
	if !b.full() {
		b.mu.Unlock()
		return nil
	}
	if b.is("takes a full batch under another lock") {
		b.mu.Unlock()
		runtime.Gosched()
		b.mu.Lock()
		if len(b.items) == 0 {
			b.mu.Unlock()
			return nil
		}
	}
	b.release(b.take())
	if b.is("goroutine left behind when it is full") {
		zoo.LeaveForGood()
	}
	return nil
}

// afterClose is what comes of an item after Close.
func (b *timed) afterClose(v int) error {
	switch {
	case b.is("accepts after close"):
		return nil
	case b.is("hands over after close"):
		b.number++
		b.hand([]int{v})
	}
	return errClosed
}

// add adds an item to the open batch.
func (b *timed) add(v int) {
	if b.is("the newest item goes first") {
		b.items = append([]int{v}, b.items...)
		return
	}
	b.items = append(b.items, v)
}

// full reports whether the open batch is full.
func (b *timed) full() bool {
	size := b.cfg.Size
	switch {
	case size == 0:
		return false
	case b.is("one more item than the size"):
		size++
	case b.is("one item less than the size"):
		size = max(1, size-1)
	case b.is("a size of one is two"):
		size = max(2, size)
	case b.is("ten items are enough"):
		size = min(size, 10)
	case b.is("never full"):
		return false
	}
	return len(b.items) >= size
}

// begin starts the delay of the open batch.
func (b *timed) begin() {
	d := b.cfg.Delay
	if d == 0 && !b.is("a delay of nothing is a millisecond") && !b.is("a delay of 0 is a timer") {
		return
	}
	switch {
	case d == 0 && b.is("a delay of nothing is a millisecond"):
		d = time.Millisecond
	case b.is("a nanosecond late"):
		d++
	case b.is("a nanosecond early") && d > 1:
		d--
	case b.is("rounds the delay to milliseconds"):
		d = max(time.Millisecond, d.Round(time.Millisecond))
	case b.is("an item of 1970 has no age") && b.clock.Now().UnixNano() == 0:
		return
	case b.is("the delay is armed once only") && b.number > 0:
		return
	case b.is("no delay after a full batch") && b.count > b.cfg.Size && b.cfg.Size > 0 && b.number > 0:
		return
	case b.is("the delay counts from the last hand-over") && b.number > 0:
		d = max(1, d-b.clock.Since(b.born))
	case b.is("idle time counts as delay") && b.count > 1 && b.clock.Since(b.born) > 2*d:
		d = 0
	}
	if b.timer != nil && b.is("each item starts the delay anew") {
		b.timer.Stop()
	}
	if !b.is("the delay counts from the last hand-over") {
		b.born = b.clock.Now()
	}
	n := b.number
	if b.is("the delay ends on package time too") {
		time.AfterFunc(d, func() { b.expire(n) })
	}
	b.timer = b.clock.AfterFunc(d, func() { b.expire(n) })
}

// expire ends the delay of a batch.
func (b *timed) expire(n int) {
	b.mu.Lock()
	stale := b.is("a late timer takes the next batch") || b.is("timers are left armed, and take what there is")
	if b.is("timers are left armed, and take nothing, too") && n != b.number && len(b.items) > 0 {
		b.mu.Unlock()
		return
	}
	switch {
	case n != b.number && b.is("a late timer hands over nothing"):
		b.release(nil)
		return
	case n != b.number && b.is("a late timer hands its batch over again"):
		b.release(b.taken)
		return
	case len(b.items) == 0 && b.is("timers are left armed, and take nothing, too"):
		b.release(nil)
		return
	case n != b.number && !stale, len(b.items) == 0:
		b.mu.Unlock()
		return
	case b.is("a timer forgets an item") && len(b.items) > 1:
		b.items = b.items[1:]
	case b.is("the timer takes no more than two items") && len(b.items) > 2:
		rest := b.items[2:]
		b.items = b.items[:2]
		items := b.take()
		b.items = rest
		b.begin()
		b.release(items)
		return
	case b.is("a batch that is old stays open"):
		b.release(slices.Clone(b.items))
		return
	}
	b.release(b.take())
}

// take takes the open batch and stops its timer.
func (b *timed) take() []int {
	items := b.items
	switch {
	case b.is("a batch keeps its last item for the next one too") && len(items) > 2:
		b.items = []int{items[len(items)-1]}
	case b.is("the slice is used again"):
		b.items = items[:0]
	default:
		b.items = nil
	}
	b.number++
	if b.is("the delay counts from the last hand-over") {
		b.born = b.clock.Now()
	}
	b.taken = items
	if b.timer != nil && !strings.HasPrefix(b.mutant, "timers are left armed") {
		b.timer.Stop()
	}
	return items
}

// release hands over, and unlocks.
func (b *timed) release(items []int) {
	if b.is("the consumer runs under the lock") {
		defer b.mu.Unlock()
	} else {
		b.mu.Unlock()
	}
	b.hand(items)
}

func (b *timed) flush() {
	b.mu.Lock()
	empty := len(b.items) == 0
	switch {
	case b.is("flush does nothing"), b.closed:
		b.mu.Unlock()
	case empty && b.is("flush of nothing hands over nothing"):
		b.release(nil)
	case empty && b.is("flush of nothing starts a delay"):
		n := b.number
		b.clock.AfterFunc(b.cfg.Delay, func() { b.expire(n) })
		b.mu.Unlock()
	case empty:
		b.mu.Unlock()
	case b.is("flush drops what is there"):
		b.take()
		b.mu.Unlock()
	case b.is("flush leaves the batch open"):
		b.release(slices.Clone(b.items))
	case b.is("a late timer takes what came after a flush"):
		items := b.take()
		b.number--
		b.release(items)
	default:
		b.release(b.take())
	}
}

func (b *timed) close() {
	b.mu.Lock()
	b.closed = true
	switch {
	case len(b.items) == 0:
		if b.is("close hands over an empty batch") {
			b.release(nil)
			return
		}
		b.mu.Unlock()
	case b.is("close forgets what is there"),
		b.is("close forgets what came after a full batch") && b.cfg.Size > 1 && len(b.taken) == b.cfg.Size:
		b.take()
		b.mu.Unlock()
	case b.is("close leaves what is there to the timer"):
		b.mu.Unlock()
	case b.is("close leaves the timer armed"):
		items := b.items
		b.items, b.number = nil, b.number+1
		b.release(items)
	default:
		b.release(b.take())
	}
}

func timedSpec(source bt.TimeSource, mutant string) bt.Spec {
	return bt.Spec{
		Name: "zoo timer",
		Time: source,
		New: func(env bt.Env, cfg bt.Config, batch func([]int)) bt.Funcs {
			b := &timed{clock: env.Clock, cfg: cfg, hand: batch, mutant: mutant}
			return bt.Funcs{Put: b.put, Flush: b.flush, Close: b.close}
		},
		Traits: bt.Traits{Anchor: bt.AnchorFirstItem, CloseFlush: bt.CloseFires, Busy: bt.BusyOverlaps},
	}
}
