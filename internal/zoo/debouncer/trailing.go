package debouncer

import (
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/internal/zoo"
)

// trailing is a plain trailing debouncer with one timer and a generation
// count, correct unless mutant names one of its mistakes. Every mistake is one
// statement away from the correct code.
type trailing struct {
	clock  clockwork.Clock
	wait   time.Duration
	fire   func(int)
	mutant string

	mu       sync.Mutex
	idle     *sync.Cond
	timer    clockwork.Timer
	gen      int
	pending  bool
	value    int
	last     time.Time
	running  int
	queue    []int
	stopped  bool
	everFire bool
	calls    int
	shared   *trailing
	keys     map[int]*trailing
	began    time.Time     // the first event of all
	newest   time.Duration // the newest, since then
	dropped  int           // what was cancelled last
	deaf     time.Time     // only of the mutant that needs it
}

func newTrailing(clock clockwork.Clock, wait time.Duration, fire func(int), mutant string) *trailing {
	d := &trailing{clock: clock, wait: wait, fire: fire, mutant: mutant, keys: map[int]*trailing{}}
	d.idle = sync.NewCond(&d.mu)
	if mutant == "goroutine left behind" {
		zoo.LeaveForGood()
	}
	return d
}

func (d *trailing) is(mutant string) bool { return d.mutant == mutant }

func (d *trailing) call(v int) {
	if d.is("counts before it locks") {
		d.calls++
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped && !d.is("call after stop works") {
		return
	}
	if d.is("panics on the third event") && v == 3 {
		panic("index out of range")
	}
	if d.loses(v) {
		return
	}
	now := d.clock.Now()
	if now.Before(d.deaf) {
		return
	}
	if d.is("a late event lets the old one fire first") && d.pending && !now.Before(d.last.Add(d.wait)) {
		d.pending = false
		d.run(d.value)
	}
	if d.last = now; d.began.IsZero() {
		d.began = now
	}
	d.newest = d.clock.Since(d.began)
	if d.wait == 0 || d.is("a wait of a nanosecond is none") && d.wait == 1 {
		if d.is("zero wait never fires") {
			return
		}
		d.unlocked(v)
		return
	}
	if d.shared != nil {
		d.shared.cancel()
	}
	if !d.is("keeps the first payload") || !d.pending {
		d.value = v
	}
	wasPending := d.pending
	d.pending = true
	if d.is("not reset by later events") && wasPending {
		return
	}
	if d.is("a new burst is taken for the cancelled one") && !wasPending {
		d.gen--
	}
	d.arm()
}

// loses are mistakes that lose an event at once.
func (d *trailing) loses(v int) bool {
	switch d.mutant {
	case "a zero payload is no event":
		return v == 0
	case "no fire at all for one event":
		if d.pending || d.value != 0 {
			return false
		}
		d.value = v
		return true
	case "lost while running":
		return d.running > 0
	case "a negative wait never fires":
		return d.wait < 0
	case "a burst holds 63 events":
		if !d.pending {
			d.calls = 0
		}
		d.calls++
		return d.calls > 63
	}
	return false
}

// arm starts the quiet period anew.
func (d *trailing) arm() {
	if d.timer != nil && !d.is("old timers go on") {
		d.timer.Stop()
	}
	if !d.is("no generation check") {
		d.gen++
	}
	gen := d.gen
	wait := d.wait
	switch d.mutant {
	case "fires 1ns early":
		wait--
	case "fires 1ns late":
		wait++
	case "rounds the wait to milliseconds":
		wait = wait.Round(time.Millisecond)
	case "waits half as long after a fire":
		if d.everFire {
			wait /= 2
		}
	case "the deadline is counted in nanoseconds since 1970":
		wait = time.Unix(0, d.last.UnixNano()+int64(wait)).Sub(d.last)
	case "the deadline is counted in nanoseconds since the first event":
		wait = max(d.newest+wait, d.newest) - d.newest
	case "waits a microsecond at least":
		wait = max(wait, time.Microsecond)
	case "wait is 32 bits":
		wait = min(wait, math.MaxInt32*time.Microsecond)
	}
	if d.is("old timers go on") {
		d.timer = d.clock.AfterFunc(wait, func() { d.expire(d.gen) })
		return
	}
	d.timer = d.clock.AfterFunc(wait, func() { d.expire(gen) })
	if d.is("arms a timer of package time too") {
		time.AfterFunc(wait, func() { d.expire(gen) })
	}
}

func (d *trailing) expire(gen int) {
	d.mu.Lock()
	if d.is("keeps a lock when a timer fires for nothing") && gen != d.gen {
		return
	}
	defer d.mu.Unlock()
	if d.is("a timer that comes too late leaves a goroutine") && (gen != d.gen || !d.pending) {
		zoo.LeaveForGood()
	}
	blind := d.is("no generation check") || d.is("old timers go on") || d.is("cancel only drops the payload") ||
		d.is("no generation check with a wait of a nanosecond") && d.wait == 1
	if d.is("a timer that meets a cancel takes the next event with it") && gen != d.gen && d.dropped != 0 {
		d.pending = false
	}
	if (gen != d.gen || !d.pending) && !blind {
		return
	}
	if d.is("fires only once ever") && d.everFire {
		return
	}
	if now := d.clock.Now(); d.is("waits for the clock to come back") && now.Before(d.last) {
		d.timer = d.clock.AfterFunc(d.last.Sub(now), func() { d.expire(gen) })
		return
	}
	if rest := d.wait - (d.clock.Since(d.began) - d.newest); d.is("waits on what was set back") && rest > 0 {
		d.timer = d.clock.AfterFunc(rest, func() { d.expire(gen) })
		return
	}
	if rest := d.last.Add(d.wait).Sub(d.clock.Now()); d.is("looks again for no time") && rest >= 0 {
		d.timer = d.clock.AfterFunc(rest, func() { d.expire(gen) })
		return
	}
	v := d.value
	if !d.is("clears after the callback") {
		d.pending = false
	}
	d.run(v)
	if d.is("clears after the callback") {
		d.pending = false
		d.gen++
	}
	if d.is("arms its timer again behind the callback") {
		d.timer = d.clock.AfterFunc(d.wait, func() { d.expire(gen) })
	}
	if d.is("fires again when idle") {
		d.timer = d.clock.AfterFunc(3*d.wait/2, func() { d.fire(v) })
	}
}

// run calls the callback without the lock, one at a time.
func (d *trailing) run(v int) {
	if d.running > 0 && !d.is("callbacks overlap") {
		if !d.is("lost when two wait their turn") || len(d.queue) < 2 {
			d.queue = append(d.queue, v)
		}
		return
	}
	d.everFire = true
	d.running++
	if d.is("hands out another payload") {
		v += 100
	}
	d.once(v)
	if d.is("fires twice") {
		d.unlocked(v)
	}
}

// once runs the callback, and what came due meanwhile even if it panics.
func (d *trailing) once(v int) {
	returned := false
	defer func() {
		switch {
		case !returned && d.is("a panic leaves it running"):
			return
		case !returned && d.is("a panic forgets what waits its turn"):
			d.queue = nil
		}
		d.ran()
	}()
	if d.is("callback under the lock") {
		d.fire(v)
	} else {
		d.unlocked(v)
	}
	returned = true
}

func (d *trailing) unlocked(v int) {
	d.mu.Unlock()
	defer d.mu.Lock()
	if d.is("a panic is swallowed") {
		defer func() { _ = recover() }()
	}
	d.fire(v)
}

// ran ends a run of the callback and runs what came due meanwhile.
func (d *trailing) ran() {
	d.running--
	for len(d.queue) > 0 {
		v := d.queue[0]
		d.queue = d.queue[1:]
		if d.is("drops what came due while running") {
			continue
		}
		if d.is("what came due while running takes the newer event") && d.pending {
			v, d.pending = d.value, false
		}
		d.run(v)
	}
	d.idle.Broadcast()
}

func (d *trailing) cancel() (cancelled bool) {
	if d.is("keeps a lock when nothing is cancelled") {
		defer func() { zoo.LockIf(&d.mu, !cancelled) }()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.pending
	if d.is("cancel does nothing") {
		return was
	}
	if d.is("deaf until the cancelled deadline") && was {
		d.deaf = d.last.Add(d.wait)
	}
	if d.is("cancel after stop revives it") {
		d.stopped = false
	}
	if d.is("cancel is final") {
		d.stopped = true
	}
	if d.is("cancel only stops the timer") {
		if d.timer != nil {
			d.timer.Stop()
		}
		return was
	}
	if d.pending = false; was {
		d.dropped = d.value
	}
	if d.is("what waits its turn is not pending, and can be cancelled") {
		d.queue = nil
	}
	if d.timer != nil {
		d.timer.Stop()
	}
	return was || d.is("cancel always reports true") || d.is("cancel reports what is running") && d.running > 0 ||
		d.is("cancel reports what waits its turn") && len(d.queue) > 0
}

func (d *trailing) flush() {
	d.mu.Lock()
	defer d.mu.Unlock()
	nothing := !d.pending || d.stopped && !d.is("flush fires what stop has dropped")
	if nothing && !d.is("flush fires without an event") {
		return
	}
	if d.is("flush does nothing") {
		return
	}
	v := d.value
	if d.is("flush looks and fires under two locks") && d.clock.Since(d.last) < d.wait {
		d.mu.Unlock()
		runtime.Gosched()
		d.mu.Lock()
	}
	if d.is("flush keeps the timer") {
		d.unlocked(v)
		return
	}
	d.pending = false
	if d.timer != nil && !d.timer.Stop() && d.is(leavesDue) {
		return
	}
	if d.is("flush while running fires nothing") && d.running > 0 {
		return
	}
	d.run(v)
}

// leavesDue is a mistake: the timer that has expired finds nothing to fire.
const leavesDue = "flush leaves what is due to a timer, and takes it from it"

// end is the end of the input: it fires what is pending.
func (d *trailing) end() {
	if d.is("drops what is pending at the end") {
		d.cancel()
	}
	if d.is("fires at the end what was cancelled") {
		d.mu.Lock()
		d.pending = d.pending || d.dropped != 0 && d.value == d.dropped
		d.mu.Unlock()
	}
	d.flush()
	if d.is("the end waits for the callback") {
		d.mu.Lock()
		defer d.mu.Unlock()
		for d.running > 0 {
			d.idle.Wait()
		}
	}
	if d.is("drops what waits its turn at the end") {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.queue = nil
	}
}

func (d *trailing) isPending() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.is("what stop has dropped is pending for good") && d.stopped && d.value != 0 {
		return true
	}
	if d.is("pending while running") {
		return d.pending || d.running > 0
	}
	if d.is("what has run is pending until its callback ends") && d.running > 0 && d.clock.Since(d.last) > d.wait {
		return true
	}
	return d.pending && !(d.is("nothing is pending while running") && d.running > 0)
}

func (d *trailing) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.is("stop waits for a goroutine that is gone") {
		d.idle.Wait()
	}
	for d.is(waitsItOut) && d.pending {
		d.idle.Wait()
	}
	if d.stopped && d.is("second stop panics") {
		panic("close of closed channel")
	}
	d.stopped = true
	if !d.is("stop keeps what waits its turn") {
		d.queue = nil
	}
	if !d.is("stop lets the pending event fire") && !d.is("flush fires what stop has dropped") {
		d.pending = false
	}
	if d.timer != nil && !d.is("stop lets the pending event fire") && !d.is("stop leaves the timer armed") {
		d.timer.Stop()
	}
}
