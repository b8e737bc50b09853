package leakybucket

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	lb "github.com/escapement-go/escapement/conformance/leakybuckettest"
)

// choosyLeaky is a queue that knows when each item of it leaves, and has one timer.
type choosyLeaky struct {
	clock  clockwork.Clock
	cfg    lb.Config
	traits lb.Traits
	whims  leakyWhims
	mutant string
	leave  func(int)
	made   time.Time

	mu     sync.Mutex
	queue  []choosyItem
	next   time.Time // no item leaves before
	began  bool      // next is set
	timer  clockwork.Timer
	closed bool
	gone   chan struct{} // closed when the input has ended and nothing waits
}

type choosyItem struct {
	v     int
	at    time.Time
	ghost bool // cancelled: it keeps its instant for nobody
}

// leakyWhims is what no trait is about.
type leakyWhims struct {
	keeps   bool // what is cancelled keeps its place and its instant until then
	cancels bool
	closes  bool
	blocks  bool // Close returns when nothing waits any more
	stops   bool
	runs    bool // an item that leaves at once leaves on a goroutine of its own, not below Put
	saved   bool // a new bucket has its slack
	rests   bool // a period goes on after the last item, and the next may wait for less than one; lb.FirstWaits
}

// due is when an item leaves that comes now, after all that wait.
func (b *choosyLeaky) due(now time.Time) time.Time {
	follows := b.began && b.next.After(now)
	switch b.traits.FirstItem {
	case lb.FirstOnGrid:
		if !follows {
			return b.made.Add((now.Sub(b.made)/b.cfg.Interval + 1) * b.cfg.Interval)
		}
	case lb.FirstWaits:
		if !follows || len(b.queue) == 0 && !b.whims.rests {
			return now.Add(b.cfg.Interval)
		}
	default:
		if !follows {
			return now
		}
	}
	return b.next
}

// after sets the first instant at which the next one may leave: an interval after one
// that was due at t.
func (b *choosyLeaky) after(t time.Time) {
	b.next, b.began = t.Add(b.cfg.Interval), true
}

func (b *choosyLeaky) put(v int) bool {
	accepted, leaves := b.enter(v)
	switch {
	case leaves && b.whims.runs:
		go b.leave(v)
	case leaves:
		b.leave(v)
	}
	return accepted
}

// enter decides whether v is accepted, and whether it leaves at once.
func (b *choosyLeaky) enter(v int) (accepted, leaves bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false, false
	}
	now, atOnce := b.clock.Now(), b.traits.FirstItem == lb.FirstAtOnce
	saved := now.Add(-time.Duration(b.traits.Slack) * b.cfg.Interval)
	switch {
	case !atOnce:
	case !b.began && !b.whims.saved:
		b.next = now
	case !b.began || b.next.Before(saved): // no more than the slack
		b.next = saved
	}
	at := b.due(now)
	switch {
	case atOnce && len(b.queue) == 0 && !at.After(now):
		if b.after(b.next); b.traits.Slack == 0 {
			b.after(now)
		}
		return true, true
	case len(b.queue) >= b.cfg.Backlog && !b.traits.Unbounded:
		return false, false
	}
	b.queue = append(b.queue, choosyItem{v: v, at: at})
	if atOnce {
		at = b.next
	}
	b.after(at)
	b.arm()
	return true, false
}

// arm arms the timer for the head of the queue.
func (b *choosyLeaky) arm() {
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	if len(b.queue) > 0 {
		b.timer = b.clock.AfterFunc(b.queue[0].at.Sub(b.clock.Now()), b.expire)
	} else if b.closed && b.gone != nil {
		close(b.gone)
		b.gone = nil
	}
}

// expire lets the head of the queue leave.
func (b *choosyLeaky) expire() {
	b.mu.Lock()
	if len(b.queue) == 0 || b.clock.Now().Before(b.queue[0].at) {
		b.mu.Unlock()
		return
	}
	it := b.queue[0]
	b.queue = b.queue[1:]
	b.arm()
	b.mu.Unlock()
	if !it.ghost {
		b.leave(it.v)
	}
}

func (b *choosyLeaky) cancel(v int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.queue, func(it choosyItem) bool { return it.v == v && !it.ghost })
	switch {
	case i < 0:
		return false
	case b.mutant == "with a slack cancel does nothing":
		return true
	case b.whims.keeps:
		b.queue[i].ghost = true
		return true
	}
	for k := len(b.queue) - 1; k > i; k-- { // the others move up
		b.queue[k].at = b.queue[k-1].at
	}
	b.queue = slices.Delete(b.queue, i, i+1)
	b.next = b.next.Add(-b.cfg.Interval)
	b.arm()
	return true
}

func (b *choosyLeaky) close() {
	b.mu.Lock()
	b.closed = true
	if b.mutant == "a close that drops keeps the queue and stops the timer" {
		if b.timer != nil {
			b.timer.Stop() // or it has fired, and arms itself for the next one
		}
		b.mu.Unlock()
		return
	}
	if b.traits.CloseFlush == lb.CloseDrops && b.mutant != "with a slack close lets what waits leave" {
		b.queue = nil
	}
	if b.gone == nil {
		b.gone = make(chan struct{})
	}
	gone := b.gone
	b.arm()
	b.mu.Unlock()
	if b.whims.blocks {
		<-gone
	}
}

func (b *choosyLeaky) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.mutant != "with a slack stop lets what waits leave" {
		b.queue = nil
	}
	b.arm()
}

// closeMutant is a bucket whose Close drops what waits, with a mistake that shows where it comes as an item leaves. It
// has no cancel, which would arm the timer.
func closeMutant(mutant string) lb.Spec {
	tr := lb.Traits{FirstItem: lb.FirstAtOnce, CloseFlush: lb.CloseDrops}
	return choosyLeakySpec(lb.Injected, tr, leakyWhims{closes: true, stops: true}, mutant)
}

// slackMutant is a bucket with a slack that has a mistake.
func slackMutant(mutant string) lb.Spec {
	tr := lb.Traits{FirstItem: lb.FirstAtOnce, Slack: 3, CloseFlush: lb.CloseDrops}
	return choosyLeakySpec(lb.Injected, tr, leakyWhims{cancels: true, closes: true, stops: true, saved: true}, mutant)
}

func choosyLeakySpec(source lb.TimeSource, tr lb.Traits, w leakyWhims, mutant string) lb.Spec {
	return lb.Spec{
		Name: "a choosy leaky bucket", Time: source, Traits: tr,
		New: func(env lb.Env, cfg lb.Config, leave func(int)) lb.Funcs {
			b := &choosyLeaky{clock: env.Clock, cfg: cfg, traits: tr, whims: w, mutant: mutant, leave: leave,
				made: env.Clock.Now()}
			f := lb.Funcs{Put: b.put}
			if w.cancels {
				f.Cancel = b.cancel
			}
			if w.closes {
				f.Close = b.close
			}
			if w.stops {
				f.Stop = b.stop
			}
			return f
		},
	}
}

// chosen are buckets with choices drawn from a seed, which is always the same.
func chosen(n int) []lb.Spec {
	rnd := rand.New(rand.NewPCG(3, 3))
	var out []lb.Spec
	for i := range n {
		coin := func() bool { return rnd.IntN(2) == 0 }
		w := leakyWhims{
			keeps:   coin(),
			cancels: coin(),
			closes:  coin(),
			blocks:  coin(),
			stops:   coin(),
			runs:    coin(),
			rests:   coin(),
			saved:   coin(),
		}
		tr := lb.Traits{FirstItem: lb.FirstItem(1 + i%3), Unbounded: rnd.IntN(3) == 0}
		if w.closes {
			tr.CloseFlush = []lb.CloseFlush{lb.CloseAtDeadline, lb.CloseDrops}[rnd.IntN(2)]
		}
		if tr.FirstItem == lb.FirstAtOnce && coin() {
			tr.Slack = rnd.IntN(4)
		}
		spec := choosyLeakySpec([]lb.TimeSource{lb.Injected, lb.PackageTime}[(i+i/2)%2], tr, w, "")
		spec.Name = fmt.Sprintf("%s %d", spec.Name, i)
		out = append(out, spec)
	}
	return out
}
