package batch

import (
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	bt "github.com/escapement-go/escapement/conformance/batchtest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// message is what a loop gets: an item, or a request to flush, to be answered by closing done.
type message struct {
	v    int
	done chan struct{}
}

// loop is a goroutine that gathers items from a channel and runs the consumer itself.
type loop struct {
	clock  clockwork.Clock
	cfg    bt.Config
	hand   func([]int)
	in     chan message
	quit   chan struct{}
	ended  chan struct{}
	mutant string
}

func newLoop(env bt.Env, cfg bt.Config, hand func([]int), room int, mutant string) *loop {
	l := &loop{clock: env.Clock, cfg: cfg, hand: hand, in: make(chan message, room), quit: make(chan struct{}),
		ended: make(chan struct{}), mutant: mutant}
	go l.run()
	return l
}

func (l *loop) run() {
	defer close(l.ended)
	var items []int
	var timer clockwork.Timer
	var old <-chan time.Time
	take := func() {
		if timer != nil {
			if l.mutant != "the loop keeps the timer of a full batch" || len(items) == 0 {
				timer.Stop()
				old = nil
			}
		}
		if len(items) > 0 {
			out := items
			items = nil
			l.hand(out)
		}
	}
	get := func(m message) {
		if m.done != nil {
			take()
			close(m.done)
			return
		}
		if items = append(items, m.v); len(items) == 1 && l.cfg.Delay > 0 && (old == nil || l.mutant == "") {
			timer = l.clock.NewTimer(l.cfg.Delay)
			old = timer.Chan()
		}
		if l.cfg.Size > 0 && len(items) >= l.cfg.Size {
			take()
		}
	}
	for {
		select {
		case m, ok := <-l.in:
			if !ok {
				take()
				return
			}
			get(m)
		case <-old:
			take()
		case <-l.quit:
			for {
				select {
				case m := <-l.in: // what came before
					get(m)
					continue
				default:
				}
				break
			}
			take()
			return
		}
	}
}

func (l *loop) put(v int) error {
	select {
	case <-l.quit:
		return errClosed
	default:
	}
	select {
	case l.in <- message{v: v}:
		return nil
	case <-l.quit:
		return errClosed
	}
}

// flush asks for a flush, and waits for it unless a caller must not wait.
func (l *loop) flush(wait bool) {
	m := message{done: make(chan struct{})}
	select {
	case l.in <- m:
	case <-l.ended:
		return
	}
	if !wait {
		return
	}
	select {
	case <-m.done:
	case <-l.ended:
	}
}

// loopSpec is a loop whose callers wait for it, and which Close waits for; with room, one that does not let them.
func loopSpec(source bt.TimeSource, room int, mutant string) bt.Spec {
	name, tr := "zoo loop", firstItem(bt.BusyBlocks)
	tr.Reentrancy = bt.ReentrancyForbidden
	if room > 0 {
		name, tr = "zoo loop with a buffer", firstItem(bt.BusyQueuesAnew)
	}
	return bt.Spec{
		Name: name, Time: source, Traits: tr,
		New: func(env bt.Env, cfg bt.Config, batch func([]int)) bt.Funcs {
			l := newLoop(env, cfg, batch, room, mutant)
			end := sync.OnceFunc(func() {
				close(l.quit)
				if room == 0 {
					<-l.ended
				}
			})
			return bt.Funcs{Put: l.put, Flush: func() { l.flush(room == 0) }, Close: end}
		},
	}
}

// closed is a loop whose input Close closes, so that who waits in a send then panics.
func closed(source bt.TimeSource) bt.Spec {
	spec := loopSpec(source, 0, "")
	spec.Name = "zoo closed channel"
	spec.New = func(env bt.Env, cfg bt.Config, batch func([]int)) bt.Funcs {
		l := newLoop(env, cfg, batch, 0, "")
		return bt.Funcs{Add: func(v int) { l.in <- message{v: v} }, Close: func() { close(l.in); <-l.ended }}
	}
	return spec
}

// pipeline is a loop that sends batches to another goroutine, which runs the consumer: while that runs, one batch more
// is gathered, and then callers wait.
func pipeline(source bt.TimeSource) bt.Spec {
	return bt.Spec{
		Name: "zoo pipeline", Time: source, Traits: firstItem(bt.BusyBlocks),
		New: func(env bt.Env, cfg bt.Config, batch func([]int)) bt.Funcs {
			out, done := make(chan []int), make(chan struct{})
			l := newLoop(env, cfg, func(items []int) { out <- items }, 0, "")
			go func() {
				defer close(done)
				for items := range out {
					batch(items)
				}
			}()
			end := sync.OnceFunc(func() {
				close(l.quit)
				<-l.ended
				close(out)
				<-done
			})
			return bt.Funcs{Put: l.put, Close: end}
		},
	}
}

// ticked is how a ticker hands batches over.
type ticked struct{ anew, flushed, empty bool }

// ticker hands over with the ticks of a ticker: on a grid, or with one that each hand-over starts anew; perhaps
// empty batches, too. It takes no delay of 0.
func ticker(source bt.TimeSource, how ticked) bt.Spec {
	name, tr := "zoo ticker", bt.Traits{Anchor: bt.AnchorGrid, CloseFlush: bt.CloseFires, Busy: bt.BusyOverlaps}
	if how.anew {
		name, tr.Anchor = "zoo ticker that starts anew", bt.AnchorLastBatch
	}
	if how.flushed {
		name += ", with each flush, too"
	}
	if how.empty {
		name, tr.EmptyBatches = name+", with empty batches", true
	}
	return bt.Spec{
		Name: name, Time: source, Traits: tr,
		New: func(env bt.Env, cfg bt.Config, batch func([]int)) bt.Funcs {
			ticks := env.Clock.NewTicker(cfg.Delay)
			b := &timed{clock: env.Clock, cfg: bt.Config{Size: cfg.Size}, hand: func(items []int) {
				if how.anew {
					ticks.Reset(cfg.Delay)
				}
				batch(items)
			}}
			stop := zoo.OnTicks(ticks, func() {
				b.mu.Lock()
				items := b.take()
				b.mu.Unlock()
				if len(items) > 0 || how.empty {
					go b.hand(items) // as the ticks go on
				}
			})
			flush := b.flush
			if how.flushed {
				flush = func() { b.flush(); ticks.Reset(cfg.Delay) }
			}
			end := func() {
				stop()
				b.close()
				ticks.Stop()
			}
			return bt.Funcs{Put: b.put, Flush: flush, Close: end}
		},
	}
}

// atOnce hands over after a delay of nothing, too: on a timer of 0.
func atOnce(source bt.TimeSource) bt.Spec {
	spec := timedSpec(source, "a delay of 0 is a timer")
	spec.Name = "zoo timer of nothing"
	return spec
}
