package orders

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

type taker interface {
	take(ctx context.Context) error
	left() int
}

// cancelledTake asserts that a take whose context has ended before fails and takes
// nothing.
func cancelledTake(fresh func() taker) func(*interleave.T) {
	return func(t *interleave.T) {
		l := fresh()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := l.take(ctx); err == nil {
			t.Error("take succeeded, though its context had ended")
		}
		if got := l.left(); got != 1 {
			t.Errorf("%d tokens are left, want 1", got)
		}
	}
}

// eagerTokens takes whichever comes, and both may have.
type eagerTokens struct{ tokens chan struct{} }

func newEagerTokens() taker {
	l := &eagerTokens{tokens: make(chan struct{}, 1)}
	l.tokens <- struct{}{}
	return l
}

func (l *eagerTokens) left() int { return len(l.tokens) }

func (l *eagerTokens) take(ctx context.Context) error {
	select {
	case <-l.tokens:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type loop interface {
	add(v int)
	close()
}

// addAndClose asserts that what was added before close is handed over by its end.
func addAndClose(fresh func(consume func([]int)) loop) func(*interleave.T) {
	return func(t *interleave.T) {
		var handed atomic.Int64
		b := fresh(func(items []int) { handed.Add(int64(len(items))) })
		var wg sync.WaitGroup
		wg.Add(1)
		go func() {
			defer wg.Done()
			b.add(1)
		}()
		b.add(2)
		wg.Wait()
		b.close()
		if got := handed.Load(); got != 2 {
			t.Errorf("%d items were handed over, want 2", got)
		}
	}
}

// hastyBatcher collects items in a goroutine. When it is told to quit it hands
// over what it has collected and forgets what still stands in the channel.
type hastyBatcher struct {
	in   chan int
	quit chan struct{}
	done chan struct{}
}

func newHastyBatcher(consume func([]int)) loop {
	b := &hastyBatcher{in: make(chan int, 2), quit: make(chan struct{}), done: make(chan struct{})}
	go b.run(consume)
	return b
}

func (b *hastyBatcher) run(consume func([]int)) {
	defer close(b.done)
	var items []int
	for {
		select {
		case v := <-b.in:
			if items = append(items, v); len(items) == cap(b.in) {
				consume(items)
				items = nil
			}
		case <-b.quit:
			if len(items) > 0 {
				consume(items)
			}
			return
		}
	}
}

func (b *hastyBatcher) add(v int) { b.in <- v }

func (b *hastyBatcher) close() {
	close(b.quit)
	<-b.done
}
