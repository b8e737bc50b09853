package conformance

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/jonboulle/clockwork"
)

// Correct debouncers of very different makes, each with the choices that its make
// implies. None may be accused, on either way to take time.

// design is a correct implementation under a name.
type design[Spec any] struct {
	name string
	make func() Spec
}

// trailingTraits are those of a plain trailing debouncer whose callbacks run on
// timers' goroutines.
var trailingTraits = DebounceTraits{
	Edges: []Edges{Trailing}, Payload: LastPayload, Tie: EitherTie, StaleFire: StaleForbidden,
	CancelBarrier: NoBarrier, AfterCancel: CancelReusable, StopPending: StopDrops, ZeroWait: ZeroNextTick, Overlap: Parallel,
}

// with returns the traits with some changed.
func (d DebounceTraits) with(change func(d *DebounceTraits)) DebounceTraits {
	change(&d)
	return d
}

// perCallTimer has a new timer for each call and a generation count.
type perCallTimer struct {
	clock clockwork.Clock
	wait  time.Duration
	fire  func(int)

	mu      sync.Mutex
	gen     int
	pending bool
	value   int
	stopped bool
}

func (d *perCallTimer) call(v int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	d.gen++
	gen := d.gen
	d.pending, d.value = true, v
	d.clock.AfterFunc(d.wait, func() {
		d.mu.Lock()
		live := gen == d.gen && d.pending
		if live {
			d.pending = false
		}
		d.mu.Unlock()
		if live {
			d.fire(v)
		}
	})
}

func (d *perCallTimer) take() (v int, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ok, d.pending = d.pending, false
	return d.value, ok
}

func (d *perCallTimer) cancel() bool { _, ok := d.take(); return ok }

func (d *perCallTimer) flush() {
	if v, ok := d.take(); ok {
		d.fire(v)
	}
}

func (d *perCallTimer) isPending() bool { d.mu.Lock(); defer d.mu.Unlock(); return d.pending }

func (d *perCallTimer) stop() { d.mu.Lock(); defer d.mu.Unlock(); d.stopped, d.pending = true, false }

// lazyTimer has one timer, which looks at its expiry how long the quiet has lasted,
// and is armed again for the rest.
type lazyTimer struct {
	clock clockwork.Clock
	wait  time.Duration
	fire  func(int)

	mu      sync.Mutex
	timer   clockwork.Timer
	armed   bool
	pending bool
	last    time.Time
	value   int
}

func (d *lazyTimer) call(v int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pending, d.value, d.last = true, v, d.clock.Now()
	if !d.armed {
		d.arm(d.wait)
	}
}

func (d *lazyTimer) arm(in time.Duration) {
	d.armed = true
	if d.timer == nil {
		d.timer = d.clock.AfterFunc(in, d.expire)
		return
	}
	d.timer.Reset(in)
}

func (d *lazyTimer) expire() {
	d.mu.Lock()
	d.armed = false
	rest := d.wait - d.clock.Since(d.last)
	switch {
	case !d.pending:
	case rest > 0:
		d.arm(rest)
	default:
		d.pending = false
		v := d.value
		d.mu.Unlock()
		d.fire(v)
		return
	}
	d.mu.Unlock()
}

func (d *lazyTimer) cancel() { d.mu.Lock(); defer d.mu.Unlock(); d.pending = false }

// loopDebouncer is a goroutine with channels and one timer. Its callbacks run on
// that goroutine, or with apart set on goroutines of their own.
type loopDebouncer struct {
	calls        chan int
	cancels      chan chan bool
	asks         chan chan bool
	done, exited chan struct{}
}

func newLoopDebouncer(clock clockwork.Clock, wait time.Duration, fire func(int), buffer int, apart bool) *loopDebouncer {
	d := &loopDebouncer{make(chan int, buffer), make(chan chan bool), make(chan chan bool), make(chan struct{}), make(chan struct{})}
	go func() {
		defer close(d.exited)
		timer := clock.NewTimer(time.Hour)
		timer.Stop()
		defer timer.Stop()
		pending, value := false, 0
		drain := func() {
			for {
				select {
				case value = <-d.calls:
					pending = true
					timer.Reset(wait)
				default:
					return
				}
			}
		}
		for {
			select {
			case <-d.done:
				return
			case v := <-d.calls:
				pending, value = true, v
				timer.Reset(wait)
			case reply := <-d.cancels:
				drain()
				timer.Stop()
				reply <- pending
				pending = false
			case reply := <-d.asks:
				drain()
				reply <- pending
			case <-timer.Chan():
				select {
				case <-d.done:
					return
				default:
				}
				pending = false
				if v := value; apart {
					go fire(v)
				} else {
					fire(v)
				}
			}
		}
	}()
	return d
}

func (d *loopDebouncer) call(v int) {
	select {
	case <-d.done:
	case d.calls <- v:
	}
}

func (d *loopDebouncer) ask(c chan chan bool) bool {
	reply := make(chan bool)
	select {
	case <-d.done:
		return false
	case c <- reply:
		return <-reply
	}
}

// stop waits for the loop to end; a second one finds it ended.
func (d *loopDebouncer) stop() {
	select {
	case <-d.done:
	default:
		close(d.done)
	}
	<-d.exited
}

// handingDebouncer hands what fires to a receiver, who takes it when the callback before
// has ended. What has been handed over nobody takes back.
type handingDebouncer struct {
	clock clockwork.Clock
	wait  time.Duration
	out   chan int

	mu      sync.Mutex
	gen     int
	timer   clockwork.Timer
	stopped bool
}

func newHandingDebouncer(clock clockwork.Clock, wait time.Duration, fire func(int)) *handingDebouncer {
	d := &handingDebouncer{clock: clock, wait: wait, out: make(chan int, 16)}
	go func() {
		for v := range d.out {
			fire(v)
		}
	}()
	return d
}

func (d *handingDebouncer) call(v int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	if d.timer != nil {
		d.timer.Stop()
	}
	d.gen++
	gen := d.gen
	d.timer = d.clock.AfterFunc(d.wait, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if gen == d.gen && !d.stopped {
			d.out <- v
		}
	})
}

func (d *handingDebouncer) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	d.stopped = true
	if d.timer != nil {
		d.timer.Stop()
	}
	close(d.out)
}

// contextDebouncer starts a goroutine for each call, which the next call's cancels.
type contextDebouncer struct {
	clock clockwork.Clock
	wait  time.Duration
	fire  func(int)

	mu     sync.Mutex
	cancel context.CancelFunc
}

func (d *contextDebouncer) drop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cancel != nil {
		d.cancel()
	}
}

func (d *contextDebouncer) call(v int) {
	ctx, cancel := context.WithCancel(context.Background())
	d.mu.Lock()
	if d.cancel != nil {
		d.cancel()
	}
	d.cancel = cancel
	d.mu.Unlock()
	timer := d.clock.NewTimer(d.wait)
	go func() {
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return
		case <-timer.Chan():
		}
		d.mu.Lock()
		live := ctx.Err() == nil
		cancel()
		d.mu.Unlock()
		if live {
			d.fire(v)
		}
	}()
}

// deadlineDebouncer lets a context's deadline be the wait. Who cancels after the
// deadline is too late. Package time only.
func deadlineDebouncer(wait time.Duration, fire func(int)) (call func(int), cancel func()) {
	var mu sync.Mutex
	stop := func() {}
	cancel = func() { mu.Lock(); defer mu.Unlock(); stop() }
	return func(v int) {
		mu.Lock()
		defer mu.Unlock()
		stop()
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		stop = cancel
		go func() {
			<-ctx.Done()
			if ctx.Err() == context.DeadlineExceeded {
				fire(v)
			}
			cancel()
		}()
	}, cancel
}

// condDebouncer is a worker that waits on a sync.Cond; timers only wake it.
type condDebouncer struct {
	clock clockwork.Clock
	wait  time.Duration
	fire  func(int)

	mu       sync.Mutex
	cond     *sync.Cond
	pending  bool
	running  bool
	due      time.Time
	value    int
	stopped  bool
	finished bool
}

func newCondDebouncer(clock clockwork.Clock, wait time.Duration, fire func(int)) *condDebouncer {
	d := &condDebouncer{clock: clock, wait: wait, fire: fire}
	d.cond = sync.NewCond(&d.mu)
	go d.work()
	return d
}

func (d *condDebouncer) work() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for !d.stopped {
		if !d.pending || d.clock.Now().Before(d.due) {
			d.cond.Wait()
			continue
		}
		v := d.value
		d.pending, d.running = false, true
		d.mu.Unlock()
		d.fire(v)
		d.mu.Lock()
		d.running = false
	}
	d.finished = true
	d.cond.Broadcast()
}

func (d *condDebouncer) call(v int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	d.pending, d.value, d.due = true, v, d.clock.Now().Add(d.wait)
	d.clock.AfterFunc(d.wait, func() { d.mu.Lock(); defer d.mu.Unlock(); d.cond.Broadcast() })
	if d.wait == 0 {
		d.cond.Broadcast()
	}
}

func (d *condDebouncer) cancel() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.pending
	d.pending = false
	return was
}

func (d *condDebouncer) flush() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pending {
		d.due = d.clock.Now()
		d.cond.Broadcast() // the worker fires, after flush has returned
	}
}

func (d *condDebouncer) isPending() bool { d.mu.Lock(); defer d.mu.Unlock(); return d.pending }

// stop does not wait: it may be called from the callback.
func (d *condDebouncer) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped, d.pending = true, false
	d.cond.Broadcast()
}

// sleeper starts a goroutine with each burst, which sleeps until the quiet has
// lasted.
type sleeper struct {
	clock clockwork.Clock
	wait  time.Duration
	fire  func(int)

	mu       sync.Mutex
	sleeping bool
	pending  bool
	last     time.Time
	value    int
}

func (d *sleeper) call(v int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pending, d.value, d.last = true, v, d.clock.Now()
	if !d.sleeping {
		d.sleeping = true
		go d.sleep(d.wait)
	}
}

func (d *sleeper) sleep(rest time.Duration) {
	for {
		d.clock.Sleep(rest)
		d.mu.Lock()
		rest = d.wait - d.clock.Since(d.last)
		if d.pending && rest > 0 {
			d.mu.Unlock()
			continue
		}
		v, ok := d.value, d.pending
		d.sleeping, d.pending = false, false
		d.mu.Unlock()
		if ok {
			d.fire(v)
		}
		return
	}
}

func (d *sleeper) cancel() { d.mu.Lock(); defer d.mu.Unlock(); d.pending = false }

// tooLate is a debouncer with a plain timer that nobody can take back once it has
// expired: a stale fire is part of what it documents. Its cancel is final.
type tooLate struct {
	clock clockwork.Clock
	wait  time.Duration
	fire  func(int)

	mu    sync.Mutex
	timer clockwork.Timer
	done  bool
}

func (d *tooLate) call(v int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done {
		return
	}
	if d.timer != nil {
		d.timer.Stop()
	}
	d.timer = d.clock.AfterFunc(d.wait, func() { d.fire(v) })
}

func (d *tooLate) cancel() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done = true
	if d.timer != nil {
		d.timer.Stop()
	}
}

// lateCaller fires what is overdue before it takes the new event: FireFirst. Its
// payload is the burst's first event, its callbacks run one at a time under a lock
// of their own, and its Stop fires what is pending.
type lateCaller struct {
	clock clockwork.Clock
	wait  time.Duration
	fire  func(int)

	turn    sync.Mutex // held while a callback runs
	mu      sync.Mutex
	gen     int
	pending bool
	value   int
	due     time.Time
	stopped bool
}

func (d *lateCaller) call(v int) {
	d.mu.Lock()
	if d.stopped {
		d.mu.Unlock()
		return
	}
	old, overdue := d.value, d.pending && !d.clock.Now().Before(d.due)
	if overdue || !d.pending {
		d.value = v
	}
	d.gen++
	gen := d.gen
	d.pending, d.due = true, d.clock.Now().Add(d.wait)
	d.clock.AfterFunc(d.wait, func() { d.expire(gen) })
	d.mu.Unlock()
	if overdue {
		d.run(old)
	}
}

func (d *lateCaller) expire(gen int) {
	d.mu.Lock()
	v, ok := d.value, d.pending && gen == d.gen
	if ok {
		d.pending = false
	}
	d.mu.Unlock()
	if ok {
		d.run(v)
	}
}

func (d *lateCaller) run(v int) {
	d.turn.Lock()
	defer d.turn.Unlock()
	d.fire(v)
}

func (d *lateCaller) stop() {
	d.mu.Lock()
	v, ok := d.value, d.pending
	d.stopped, d.pending = true, false
	d.mu.Unlock()
	if ok {
		d.run(v)
	}
}

// barred is a debouncer whose cancel and stop wait for a running callback, so that
// they must not be called from it.
type barred struct {
	perCallTimer
	running sync.RWMutex
}

func newBarred(clock clockwork.Clock, wait time.Duration, fire func(int)) *barred {
	d := &barred{}
	d.perCallTimer = perCallTimer{clock: clock, wait: wait, fire: fire}
	return d
}

func (d *barred) call(v int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.gen++
	gen := d.gen
	d.pending, d.value = true, v
	d.clock.AfterFunc(d.wait, func() {
		d.running.RLock()
		defer d.running.RUnlock()
		d.mu.Lock()
		live := gen == d.gen && d.pending
		if live {
			d.pending = false
		}
		d.mu.Unlock()
		if live {
			d.fire(v)
		}
	})
}

func (d *barred) cancel() {
	d.take()
	d.running.Lock() //nolint:staticcheck // waits for the callback
	defer d.running.Unlock()
}

// twoTimers has one timer for the quiet and one for the bound on the wait.
type twoTimers struct {
	clock clockwork.Clock
	cfg   DebounceConfig
	fire  func(int)

	mu          sync.Mutex
	quiet, most clockwork.Timer
	pending     bool
	burst       int // generations
	calls       int
	value       int
}

func (d *twoTimers) call(v int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.quiet != nil {
		d.quiet.Stop()
	}
	if !d.pending {
		d.burst++
		if burst := d.burst; d.cfg.MaxWait > 0 {
			d.most = d.clock.AfterFunc(max(d.cfg.MaxWait, d.cfg.Wait), func() { d.expire(func() bool { return burst == d.burst }) })
		}
	}
	d.calls++
	calls := d.calls
	d.pending, d.value = true, v
	d.quiet = d.clock.AfterFunc(d.cfg.Wait, func() { d.expire(func() bool { return calls == d.calls }) })
}

func (d *twoTimers) expire(live func() bool) {
	d.mu.Lock()
	if !d.pending || !live() {
		d.mu.Unlock()
		return
	}
	v := d.end()
	d.mu.Unlock()
	d.fire(v)
}

func (d *twoTimers) end() int {
	d.pending = false
	if d.quiet != nil {
		d.quiet.Stop()
	}
	if d.most != nil {
		d.most.Stop()
	}
	return d.value
}

func (d *twoTimers) cancel() { d.mu.Lock(); defer d.mu.Unlock(); d.end() }

func (d *twoTimers) flush() {
	d.mu.Lock()
	v, ok := d.value, d.pending
	d.end()
	d.mu.Unlock()
	if ok {
		d.fire(v)
	}
}

// lastCallTime decides as lodash's debounce does, by the times of the last call and
// the last fire, with one timer that is armed again for the rest.
type lastCallTime struct {
	clock clockwork.Clock
	cfg   DebounceConfig
	fire  func(int)

	mu         sync.Mutex
	called     bool // lastCall is set
	lastCall   time.Time
	lastInvoke time.Time
	timer      clockwork.Timer // nil: none runs
	gen        int
	args       bool
	value      int
}

func (d *lastCallTime) now() time.Time { return d.clock.Now() }

func (d *lastCallTime) bound() time.Duration {
	if d.cfg.MaxWait == 0 {
		return 0
	}
	return max(d.cfg.MaxWait, d.cfg.Wait)
}

func (d *lastCallTime) shouldInvoke(now time.Time) bool {
	since := now.Sub(d.lastCall)
	return !d.called || since >= d.cfg.Wait || since < 0 || d.bound() > 0 && now.Sub(d.lastInvoke) >= d.bound()
}

func (d *lastCallTime) remaining(now time.Time) time.Duration {
	rest := d.cfg.Wait - now.Sub(d.lastCall)
	if d.bound() > 0 {
		rest = min(rest, d.bound()-now.Sub(d.lastInvoke))
	}
	return rest
}

func (d *lastCallTime) arm(in time.Duration) {
	if d.timer != nil {
		d.timer.Stop()
	}
	d.gen++
	gen := d.gen
	d.timer = d.clock.AfterFunc(in, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if gen == d.gen {
			d.expired()
		}
	})
}

func (d *lastCallTime) expired() {
	now := d.now()
	if !d.shouldInvoke(now) {
		d.arm(d.remaining(now))
		return
	}
	d.trail(now)
}

func (d *lastCallTime) trail(now time.Time) {
	d.timer, d.gen = nil, d.gen+1
	if d.cfg.Edges&Trailing != 0 && d.args {
		d.invoke(now)
		return
	}
	d.args = false
}

// invoke runs the callback without the lock.
func (d *lastCallTime) invoke(now time.Time) {
	v := d.value
	d.args, d.lastInvoke = false, now
	d.mu.Unlock()
	defer d.mu.Lock()
	d.fire(v)
}

func (d *lastCallTime) call(v int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	due := d.shouldInvoke(now)
	d.args, d.value, d.lastCall, d.called = true, v, now, true
	switch {
	case due && d.timer == nil:
		d.lastInvoke = now
		d.arm(d.cfg.Wait)
		if d.cfg.Edges&Leading != 0 {
			d.invoke(now)
		}
	case due && d.bound() > 0: // in a tight loop
		d.arm(d.cfg.Wait)
		d.invoke(now)
	case d.timer == nil:
		d.arm(d.cfg.Wait)
	}
}

func (d *lastCallTime) cancel() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
	}
	d.timer, d.gen, d.args, d.called, d.lastInvoke = nil, d.gen+1, false, false, time.Time{}
}

func (d *lastCallTime) flush() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.trail(d.now())
	}
}

func (d *lastCallTime) isPending() bool { d.mu.Lock(); defer d.mu.Unlock(); return d.args }

// stampOnly is the leading edge alone: it compares the time of the event with that
// of the event before, in one atomic, and has no timer.
func stampOnly(clock clockwork.Clock, wait time.Duration, fire func(int), quiet func(gap time.Duration) bool) func(int) {
	start := clock.Now()
	var last atomic.Int64
	last.Store(-1 << 62)
	return func(v int) {
		now := int64(clock.Since(start))
		for {
			old := last.Load()
			if now < old {
				return
			}
			if last.CompareAndSwap(old, now) {
				if old == -1<<62 || quiet(time.Duration(now-old)) {
					fire(v)
				}
				return
			}
		}
	}
}

// timerState is the state machine of a specification: idle or pending, with the
// leading fire on the way from idle and, if more came, a trailing one on the way
// back. It can be told to fire both for one event.
type timerState struct {
	clock clockwork.Clock
	cfg   DebounceConfig
	fire  func(int)
	twice bool

	mu    sync.Mutex
	timer clockwork.Timer
	gen   int
	busy  bool // not idle
	more  bool
	value int
}

func (d *timerState) call(v int) {
	d.mu.Lock()
	first := !d.busy
	d.busy, d.value = true, v
	d.more = d.more || !first || d.twice || d.cfg.Edges == Trailing
	if d.timer != nil {
		d.timer.Stop()
	}
	d.gen++
	gen := d.gen
	d.timer = d.clock.AfterFunc(d.cfg.Wait, func() { d.expire(gen) })
	d.mu.Unlock()
	if first && d.cfg.Edges&Leading != 0 {
		d.fire(v)
	}
}

func (d *timerState) expire(gen int) {
	d.mu.Lock()
	if gen != d.gen || !d.busy {
		d.mu.Unlock()
		return
	}
	v, ok := d.value, d.more && d.cfg.Edges&Trailing != 0
	d.busy, d.more = false, false
	d.mu.Unlock()
	if ok {
		d.fire(v)
	}
}

func (d *timerState) cancel() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.gen++
	d.busy, d.more = false, false
}

// debouncerDesigns are correct.
func debouncerDesigns(source TimeSource) []design[DebouncerSpec] {
	spec := func(traits DebounceTraits, build func(clock clockwork.Clock, cfg DebounceConfig, fire func(int)) DebouncerFuncs) func() DebouncerSpec {
		return func() DebouncerSpec {
			return DebouncerSpec{Name: "design", Time: source, Traits: traits,
				New: func(env Env, cfg DebounceConfig, fire func(int)) DebouncerFuncs { return build(env.Clock, cfg, fire) }}
		}
	}
	serialLoop := trailingTraits.with(func(d *DebounceTraits) { d.Overlap, d.Reentrancy = Serial, ReentrancyForbidden })
	reset := func(d *DebounceTraits) { d.Tie = ResetFirst }
	all := []Edges{Trailing, Leading, LeadingAndTrailing}
	out := []design[DebouncerSpec]{
		{"a timer for each call", spec(trailingTraits.with(func(d *DebounceTraits) { d.Tie, d.CancelBarrier = ResetFirst, CommitBarrier }),
			func(clock clockwork.Clock, cfg DebounceConfig, fire func(int)) DebouncerFuncs {
				d := &perCallTimer{clock: clock, wait: cfg.Wait, fire: fire}
				return DebouncerFuncs{Call: d.call, CancelReports: d.cancel, Flush: d.flush, Pending: d.isPending, Stop: d.stop}
			})},
		{"a timer that looks again", spec(trailingTraits.with(reset),
			func(clock clockwork.Clock, cfg DebounceConfig, fire func(int)) DebouncerFuncs {
				d := &lazyTimer{clock: clock, wait: cfg.Wait, fire: fire}
				return DebouncerFuncs{Call: d.call, Cancel: d.cancel}
			})},
		{"a loop that runs callbacks", spec(serialLoop,
			func(clock clockwork.Clock, cfg DebounceConfig, fire func(int)) DebouncerFuncs {
				d := newLoopDebouncer(clock, cfg.Wait, fire, 0, false)
				return DebouncerFuncs{Call: d.call, CancelReports: func() bool { return d.ask(d.cancels) },
					Pending: func() bool { return d.ask(d.asks) }, Stop: d.stop}
			})},
		{"a loop that starts callbacks", spec(trailingTraits.with(func(d *DebounceTraits) { d.StaleFire = StaleAllowed }),
			func(clock clockwork.Clock, cfg DebounceConfig, fire func(int)) DebouncerFuncs {
				d := newLoopDebouncer(clock, cfg.Wait, fire, 0, true)
				return DebouncerFuncs{Call: d.call, CancelReports: func() bool { return d.ask(d.cancels) },
					Pending: func() bool { return d.ask(d.asks) }, Stop: d.stop}
			})},
		{"a loop behind a queue", spec(trailingTraits.with(func(d *DebounceTraits) { d.StaleFire = StaleAllowed }),
			func(clock clockwork.Clock, cfg DebounceConfig, fire func(int)) DebouncerFuncs {
				d := newLoopDebouncer(clock, cfg.Wait, fire, 64, true)
				return DebouncerFuncs{Call: d.call, CancelReports: func() bool { return d.ask(d.cancels) },
					Pending: func() bool { return d.ask(d.asks) }, Stop: d.stop}
			})},
		{"a loop that is told to end", spec(trailingTraits.with(func(d *DebounceTraits) { d.StaleFire, d.StopBarrier = StaleAllowed, NoBarrier }),
			func(clock clockwork.Clock, cfg DebounceConfig, fire func(int)) DebouncerFuncs {
				d := newLoopDebouncer(clock, cfg.Wait, fire, 0, true)
				return DebouncerFuncs{Call: d.call, CancelReports: func() bool { return d.ask(d.cancels) }, Stop: sync.OnceFunc(func() { close(d.done) })}
			})},
		{"a loop behind a queue that runs callbacks", spec(trailingTraits.with(func(d *DebounceTraits) { d.StaleFire, d.Overlap = StaleAllowed, SerialReceiver }),
			func(clock clockwork.Clock, cfg DebounceConfig, fire func(int)) DebouncerFuncs {
				d := newLoopDebouncer(clock, cfg.Wait, fire, 64, false)
				return DebouncerFuncs{Call: d.call, Stop: sync.OnceFunc(func() { close(d.done) })}
			})},
		{"a receiver that is handed what fires", spec(trailingTraits.with(func(d *DebounceTraits) { d.StaleFire, d.Overlap, d.StopBarrier = StaleAllowed, Serial, NoBarrier }),
			func(clock clockwork.Clock, cfg DebounceConfig, fire func(int)) DebouncerFuncs {
				d := newHandingDebouncer(clock, cfg.Wait, fire)
				return DebouncerFuncs{Call: d.call, Stop: d.stop}
			})},
		{"a goroutine and a context for each call", spec(trailingTraits,
			func(clock clockwork.Clock, cfg DebounceConfig, fire func(int)) DebouncerFuncs {
				d := &contextDebouncer{clock: clock, wait: cfg.Wait, fire: fire}
				return DebouncerFuncs{Call: d.call, Cancel: d.drop}
			})},
		{"a worker on a condition", spec(trailingTraits.with(func(d *DebounceTraits) { d.Tie, d.Overlap, d.CancelBarrier = ResetFirst, Serial, CommitBarrier }),
			func(clock clockwork.Clock, cfg DebounceConfig, fire func(int)) DebouncerFuncs {
				d := newCondDebouncer(clock, cfg.Wait, fire)
				return DebouncerFuncs{Call: d.call, CancelReports: d.cancel, Flush: d.flush, Pending: d.isPending, Stop: d.stop}
			})},
		{"a sleeper for each burst", spec(trailingTraits.with(reset),
			func(clock clockwork.Clock, cfg DebounceConfig, fire func(int)) DebouncerFuncs {
				d := &sleeper{clock: clock, wait: cfg.Wait, fire: fire}
				return DebouncerFuncs{Call: d.call, Cancel: d.cancel}
			})},
		{"a timer that nobody takes back", spec(trailingTraits.with(func(d *DebounceTraits) { d.StaleFire, d.AfterCancel, d.Payload = StaleAllowed, CancelFinal, NoPayload }),
			func(clock clockwork.Clock, cfg DebounceConfig, fire func(int)) DebouncerFuncs {
				d := &tooLate{clock: clock, wait: cfg.Wait, fire: func(int) { fire(0) }}
				return DebouncerFuncs{Call: d.call, Cancel: d.cancel}
			})},
		{"callers fire what is overdue", spec(trailingTraits.with(func(d *DebounceTraits) {
			d.Tie, d.Payload, d.StopPending, d.Overlap, d.Reentrancy = FireFirst, FirstPayload, StopFlushes, Serial, ReentrancyForbidden
		}),
			func(clock clockwork.Clock, cfg DebounceConfig, fire func(int)) DebouncerFuncs {
				d := &lateCaller{clock: clock, wait: cfg.Wait, fire: fire}
				return DebouncerFuncs{Call: d.call, Stop: d.stop}
			})},
		{"cancel waits for the callback", spec(trailingTraits.with(func(d *DebounceTraits) {
			d.Tie, d.CancelBarrier, d.ZeroWait, d.Reentrancy = ResetFirst, FinishBarrier, ZeroRefused, ReentrancyForbidden
		}),
			func(clock clockwork.Clock, cfg DebounceConfig, fire func(int)) DebouncerFuncs {
				if cfg.Wait <= 0 {
					panic("wait must be > 0")
				}
				d := newBarred(clock, cfg.Wait, fire)
				return DebouncerFuncs{Call: d.call, Cancel: d.cancel}
			})},
		{"two timers", spec(trailingTraits.with(func(d *DebounceTraits) { d.MaxWait = MaxWaitFromFirst }),
			func(clock clockwork.Clock, cfg DebounceConfig, fire func(int)) DebouncerFuncs {
				d := &twoTimers{clock: clock, cfg: cfg, fire: fire}
				return DebouncerFuncs{Call: d.call, Cancel: d.cancel, Flush: d.flush}
			})},
		{"times of the last call and fire", spec(trailingTraits.with(func(d *DebounceTraits) {
			d.Edges, d.MaxWait, d.BothSingle, d.Tie = all, MaxWaitFromFire, BothOnce, ResetFirst
		}),
			func(clock clockwork.Clock, cfg DebounceConfig, fire func(int)) DebouncerFuncs {
				d := &lastCallTime{clock: clock, cfg: cfg, fire: fire}
				return DebouncerFuncs{Call: d.call, Cancel: d.cancel, Flush: d.flush, Pending: d.isPending}
			})},
		{"a stamp, quiet from the wait on", spec(DebounceTraits{Edges: []Edges{Leading}, Payload: LastPayload},
			func(clock clockwork.Clock, cfg DebounceConfig, fire func(int)) DebouncerFuncs {
				return DebouncerFuncs{Call: stampOnly(clock, cfg.Wait, fire, func(gap time.Duration) bool { return gap >= cfg.Wait })}
			})},
		{"a stamp, quiet after the wait", spec(DebounceTraits{Edges: []Edges{Leading}, Payload: LastPayload},
			func(clock clockwork.Clock, cfg DebounceConfig, fire func(int)) DebouncerFuncs {
				return DebouncerFuncs{Call: stampOnly(clock, cfg.Wait, fire, func(gap time.Duration) bool { return gap > cfg.Wait })}
			})},
	}
	for _, twice := range []bool{false, true} {
		single := map[bool]BothSingle{false: BothOnce, true: BothTwice}[twice]
		out = append(out, design[DebouncerSpec]{"a state machine, " + map[bool]string{false: "once", true: "twice"}[twice],
			spec(trailingTraits.with(func(d *DebounceTraits) { d.Edges, d.BothSingle = all, single }),
				func(clock clockwork.Clock, cfg DebounceConfig, fire func(int)) DebouncerFuncs {
					d := &timerState{clock: clock, cfg: cfg, fire: fire, twice: twice}
					return DebouncerFuncs{Call: d.call, Cancel: d.cancel}
				})})
	}
	if source == PackageTime {
		out = append(out, design[DebouncerSpec]{"a context's deadline",
			spec(trailingTraits.with(func(d *DebounceTraits) { d.StaleFire = StaleAllowed }),
				func(_ clockwork.Clock, cfg DebounceConfig, fire func(int)) DebouncerFuncs {
					call, cancel := deadlineDebouncer(cfg.Wait, fire)
					return DebouncerFuncs{Call: call, Cancel: cancel}
				})})
	}
	return out
}

// takesPart reports whether the i-th design runs on the source.
func takesPart(i int, source TimeSource) bool {
	switch {
	case prove.Reaches(prove.All) || !synctestcompat.Available:
		return true
	case testing.Short():
		return i%2 == 0 && TimeSource(i/2%2)+Injected == source
	}
	return TimeSource(i%2)+Injected == source
}

// Correct debouncers of any make pass. Each takes its time in one way,
// half of them with -short, or with ESCAPEMENT_PROVE=all in both.
func TestDesigns_debouncers(t *testing.T) {
	for _, source := range sources(Injected, PackageTime) {
		for i, d := range debouncerDesigns(source) {
			if !takesPart(i, source) {
				continue
			}
			t.Run(source.String()+"/"+d.name, func(t *testing.T) { RunDebouncer(t, d.make()) })
		}
	}
}
