package conformance

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/synctestcompat"
)

var (
	errZooFull    = errors.New("full")
	errZooTimeout = errors.New("timeout")
	errZooTooBig  = errors.New("too big")
)

// zooQueue is a semaphore with a list of those who wait, a backlog and a timeout,
// correct unless mutant names one of its mistakes.
type zooQueue struct {
	clock  clockwork.Clock
	cfg    ConcurrencyConfig
	first  int // the limit that it was made with
	mutant string

	mu      sync.Mutex
	used    int
	seats   int
	n       int
	waiters []*zooWaiter
}

type zooWaiter struct {
	weight  int
	ready   chan struct{}
	granted bool
}

func (q *zooQueue) is(mutant string) bool { return q.mutant == mutant }

func (q *zooQueue) fits(weight int) bool {
	limit := q.cfg.Limit
	if q.is("lets one more run") {
		limit++
	}
	return q.used+weight <= limit
}

// wake lets those run whose turn it is. mu is held.
func (q *zooQueue) wake() {
	for first := true; len(q.waiters) > 0 && (first || !q.is("wakes one at a time")); first = false {
		i := 0
		if q.is("serves the newest first") {
			i = len(q.waiters) - 1
		}
		w := q.waiters[i]
		if !q.fits(w.weight) {
			return
		}
		q.waiters = slices.Delete(q.waiters, i, i+1)
		q.used += w.weight
		w.granted = true
		if !q.is("a request that runs keeps its place") {
			q.seats--
		}
		close(w.ready)
	}
}

func (q *zooQueue) reject(err error) error {
	if q.cfg.OnReject != nil {
		q.cfg.OnReject()
		if q.is("calls the hook twice when the backlog is full") && err == errZooFull {
			q.cfg.OnReject()
		}
	}
	return err
}

func (q *zooQueue) acquire(ctx context.Context, weight int) error {
	if err := ctx.Err(); err != nil && !q.is("looks at the context only while it waits") {
		return err
	}
	q.mu.Lock()
	q.n++
	if q.is("panics on the third request") && q.n == 3 {
		q.mu.Unlock()
		panic("index out of range")
	}
	if q.is("a timeout of 0 rejects everything") && q.cfg.Timeout == 0 {
		q.mu.Unlock()
		return q.reject(errZooTimeout)
	}
	most := q.cfg.Limit
	if q.is("more than the limit is more than the first one") {
		most = q.first
	}
	if weight > most && !q.is("a request for more than the limit waits") {
		q.mu.Unlock()
		return q.reject(errZooTooBig)
	}
	if q.fits(weight) && (len(q.waiters) == 0 || q.is("a light request overtakes")) {
		if q.is("checks without the lock") {
			q.mu.Unlock()
			runtime.Gosched()
			q.mu.Lock()
		}
		q.used += weight
		q.mu.Unlock()
		return nil
	}
	full := q.cfg.Backlog >= 0 && q.seats >= q.cfg.Backlog
	if q.is("one place too many") {
		full = q.cfg.Backlog >= 0 && q.seats > q.cfg.Backlog
	}
	if full || q.cfg.Timeout == 0 {
		if q.is("keeps a lock when the backlog is full") {
			return q.reject(errZooFull)
		}
		if q.is("calls the hook under the lock") {
			defer q.mu.Unlock()
			return q.reject(errZooFull)
		}
		q.mu.Unlock()
		return q.reject(errZooFull)
	}
	q.seats++
	w := &zooWaiter{weight: weight, ready: make(chan struct{})}
	if q.is("joins after it has let go of the lock") {
		q.mu.Unlock()
		runtime.Gosched()
		q.mu.Lock()
	}
	q.waiters = append(q.waiters, w)
	q.mu.Unlock()
	return q.wait(ctx, w)
}

func (q *zooQueue) wait(ctx context.Context, w *zooWaiter) error {
	var expired <-chan time.Time
	if timeout := q.cfg.Timeout; timeout > 0 {
		if q.is("the timeout grows with the limit") {
			timeout = timeout * time.Duration(q.cfg.Limit) / time.Duration(q.first)
		}
		if q.is("times out a nanosecond late") {
			timeout++
		}
		timer := q.clock.NewTimer(timeout)
		defer timer.Stop()
		expired = timer.Chan()
	}
	done := ctx.Done()
	if q.is("does not look at the context while it waits") {
		done = nil
	}
	select {
	case <-w.ready:
		return nil
	case <-done:
		q.mu.Lock()
		defer q.mu.Unlock()
		if w.granted {
			if q.is("gives back one slot when it is cancelled as it gets them") {
				w.weight = 1
			}
			q.used -= w.weight
			q.wake()
		} else {
			q.leave(w, "a cancelled request keeps its place", "a cancelled request stays in the queue")
		}
		return ctx.Err()
	case <-expired:
		q.mu.Lock()
		if w.granted {
			q.mu.Unlock()
			if q.is("loses the slot at a tie") {
				return q.reject(errZooTimeout)
			}
			return nil
		}
		q.leave(w, "a request that timed out keeps its place", "a request that timed out stays in the queue")
		if q.is("calls the hook under the lock at a timeout") {
			defer q.mu.Unlock()
			return q.reject(errZooTimeout)
		}
		q.mu.Unlock()
		if q.is("does not call the hook at a timeout") {
			return errZooTimeout
		}
		return q.reject(errZooTimeout)
	}
}

// leave takes w out of the queue. mu is held.
func (q *zooQueue) leave(w *zooWaiter, keepsPlace, stays string) {
	if !q.is(stays) {
		q.waiters = slices.DeleteFunc(q.waiters, func(o *zooWaiter) bool { return o == w })
	}
	if !q.is(keepsPlace) && !q.is(stays) {
		q.seats--
	}
	if !q.is("nobody looks again when the first gives up") {
		q.wake()
	}
}

func (q *zooQueue) try(weight int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	fits := q.fits(weight)
	if q.is("a try looks at the first limit") {
		fits = q.used+weight <= q.first
	}
	if weight > q.cfg.Limit || !fits || len(q.waiters) > 0 {
		return false
	}
	q.used += weight
	return true
}

func (q *zooQueue) release(weight int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.used < weight && !q.is("a release too many raises the limit") && !(q.is("a release looks whether anything is held") && q.used > 0) {
		panic("released more than was acquired")
	}
	if q.is("gives back one slot only") {
		weight = 1
	}
	q.used -= weight
	if !q.is("wakes nobody") {
		q.wake()
	}
}

func (q *zooQueue) do(ctx context.Context, run func()) error {
	if q.is("a handler waits without its context") {
		ctx = context.Background()
	}
	err := q.acquire(ctx, 1)
	if q.is("serves what it has rejected") && err != nil {
		run()
		return err
	}
	if err != nil {
		return err
	}
	if q.is("a panic keeps the slot") {
		run()
		q.release(1)
		return nil
	}
	defer q.release(1)
	run()
	return nil
}

func (q *zooQueue) resize(limit int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.is("a lower limit is forgotten") && limit < q.cfg.Limit {
		return
	}
	more := limit - q.cfg.Limit
	q.cfg.Limit = limit
	if q.is("a higher limit wakes as many as it adds") {
		for ; more > 0 && len(q.waiters) > 0; more-- {
			w := q.waiters[0]
			q.waiters = q.waiters[1:]
			q.used += w.weight
			w.granted = true
			q.seats--
			close(w.ready)
		}
	}
	if !q.is("a higher limit wakes nobody") {
		q.wake()
	}
}

// newZooQueue is not inlined: its name stands in a golden file.
//
//go:noinline
func newZooQueue(env Env, cfg ConcurrencyConfig, mutant string) *zooQueue {
	if mutant == "goroutine left behind by a semaphore" {
		go sleepForEver()
	}
	return &zooQueue{clock: env.Clock, cfg: cfg, first: cfg.Limit, mutant: mutant}
}

func zooQueueSpec(mutant string, source TimeSource) ConcurrencySpec {
	if mutant == permitTwice {
		return zooPermits(mutant, source)
	}
	return ConcurrencySpec{
		Name: "zoo queue: " + mutant,
		Time: source,
		New: func(env Env, cfg ConcurrencyConfig) ConcurrencyFuncs {
			q := newZooQueue(env, cfg, mutant)
			f := ConcurrencyFuncs{Acquire: q.acquire, TryAcquire: q.try, Release: q.release, Do: q.do, Resize: q.resize}
			if mutant == "counts requests without a lock" {
				n := 0
				f.TryAcquire = func(weight int) bool { n++; return q.try(weight) }
			}
			return f
		},
		Traits: ConcurrencyTraits{
			Backlog: BacklogBounded, Timeout: TimeoutBounded, Context: ContextHonoured, SeatHeld: SeatFreed, Fair: FairFIFO,
			Oversize: OversizeFails, OverRelease: OverReleasePanics, Hook: HookOnce,
		},
	}
}

const permitTwice = "a permit gives its slots back twice"

// zooPermits is a queue that hands out what gives the slots back, which it does once.
func zooPermits(mutant string, source TimeSource) ConcurrencySpec {
	spec := zooQueueSpec("", source)
	spec.Name = "zoo permits: " + mutant
	spec.Traits.OverRelease = OverReleaseIgnored
	spec.New = func(env Env, cfg ConcurrencyConfig) ConcurrencyFuncs {
		q, again := newZooQueue(env, cfg, ""), mutant == permitTwice
		if again {
			q.mutant = "a release too many raises the limit"
		}
		permit := func(weight int) func() {
			if again {
				return func() { q.release(weight) }
			}
			return sync.OnceFunc(func() { q.release(weight) })
		}
		return ConcurrencyFuncs{
			Take: func(ctx context.Context, weight int) (func(), error) {
				if err := q.acquire(ctx, weight); err != nil {
					return nil, err
				}
				return permit(weight), nil
			},
			TryTake: func(weight int) (func(), bool) { return permit(weight), q.try(weight) },
			Resize:  q.resize,
		}
	}
	return spec
}

// zooChannel is a buffered channel with a slot for each that runs.
func zooChannelSpec(source TimeSource) ConcurrencySpec {
	return ConcurrencySpec{
		Name: "zoo channel",
		Time: source,
		New: func(_ Env, cfg ConcurrencyConfig) ConcurrencyFuncs {
			slots := make(chan struct{}, cfg.Limit)
			return ConcurrencyFuncs{
				Acquire: func(ctx context.Context, _ int) error {
					if err := ctx.Err(); err != nil {
						return err
					}
					select {
					case slots <- struct{}{}:
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				},
				TryAcquire: func(int) bool {
					select {
					case slots <- struct{}{}:
						return true
					default:
						return false
					}
				},
				Release: func(int) {
					select {
					case <-slots:
					default:
					}
				},
			}
		},
		Traits: ConcurrencyTraits{
			Backlog: BacklogUnbounded, Timeout: TimeoutNone, Context: ContextHonoured, Fair: FairFIFO,
			Single: true, OverRelease: OverReleaseIgnored, Hook: HookNone,
		},
	}
}

// zooCond is a counter and a condition that everybody checks again: who gets a slot
// is chance.
type zooCond struct {
	mu          sync.Mutex
	cond        sync.Cond
	limit, used int
}

func zooCondSpec(source TimeSource) ConcurrencySpec {
	return ConcurrencySpec{
		Name: "zoo condition",
		Time: source,
		New: func(_ Env, cfg ConcurrencyConfig) ConcurrencyFuncs {
			s := &zooCond{limit: cfg.Limit}
			s.cond.L = &s.mu
			change := func(limit, used int) {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.limit += limit
				s.used += used
				s.cond.Broadcast()
			}
			return ConcurrencyFuncs{
				Lock: func(weight int) {
					s.mu.Lock()
					defer s.mu.Unlock()
					for s.used+weight > s.limit {
						s.cond.Wait()
					}
					s.used += weight
				},
				Release: func(weight int) { change(0, -weight) },
				Resize:  func(limit int) { s.mu.Lock(); d := limit - s.limit; s.mu.Unlock(); change(d, 0) },
			}
		},
		Traits: ConcurrencyTraits{
			Backlog: BacklogUnbounded, Timeout: TimeoutNone, Fair: FairNone,
			Oversize: OversizeBlocks, OverRelease: OverReleaseUndefined, Hook: HookNone,
		},
	}
}

// zooTokens is middleware with a channel of tokens for those who run and another for
// all who are in there.
func zooTokensSpec(source TimeSource) ConcurrencySpec {
	return ConcurrencySpec{
		Name: "zoo tokens",
		Time: source,
		New: func(env Env, cfg ConcurrencyConfig) ConcurrencyFuncs {
			inside := make(chan struct{}, cfg.Limit+cfg.Backlog)
			slots := make(chan struct{}, cfg.Limit)
			return ConcurrencyFuncs{Do: func(ctx context.Context, run func()) error {
				if err := ctx.Err(); err != nil {
					return err
				}
				select {
				case inside <- struct{}{}:
					defer func() { <-inside }()
				default:
					cfg.OnReject()
					return errZooFull
				}
				select {
				case slots <- struct{}{}:
				default:
					timer := env.Clock.NewTimer(cfg.Timeout)
					defer timer.Stop()
					select {
					case slots <- struct{}{}:
					case <-ctx.Done():
						return ctx.Err()
					case <-timer.Chan():
						cfg.OnReject()
						return errZooTimeout
					}
				}
				defer func() { <-slots }()
				run()
				return nil
			}}
		},
		Traits: ConcurrencyTraits{
			Backlog: BacklogBounded, Timeout: TimeoutBounded, Context: ContextHonoured, SeatHeld: SeatFreed, Fair: FairFIFO,
			Single: true, Hook: HookOnce,
		},
	}
}

// zooSeats is middleware that counts those in the backlog and lets them go only when
// they are done.
func zooSeatsSpec(source TimeSource) ConcurrencySpec {
	return ConcurrencySpec{
		Name: "zoo seats",
		Time: source,
		New: func(env Env, cfg ConcurrencyConfig) ConcurrencyFuncs {
			var mu sync.Mutex
			seats := 0
			slots := make(chan struct{}, cfg.Limit)
			serve := func(run func()) error {
				defer func() { <-slots }()
				run()
				return nil
			}
			return ConcurrencyFuncs{Do: func(ctx context.Context, run func()) error {
				if err := ctx.Err(); err != nil {
					return err
				}
				select {
				case slots <- struct{}{}:
					return serve(run)
				default:
				}
				mu.Lock()
				if seats >= cfg.Backlog {
					mu.Unlock()
					return errZooFull
				}
				seats++
				mu.Unlock()
				defer func() { mu.Lock(); seats--; mu.Unlock() }()
				expired := make(chan struct{})
				timer := env.Clock.AfterFunc(cfg.Timeout, func() { close(expired) })
				defer timer.Stop()
				select {
				case slots <- struct{}{}:
					return serve(run)
				case <-ctx.Done():
					return ctx.Err()
				case <-expired:
					return errZooTimeout
				}
			}}
		},
		Traits: ConcurrencyTraits{
			Backlog: BacklogBounded, Timeout: TimeoutBounded, Context: ContextHonoured, SeatHeld: SeatKept, Fair: FairFIFO,
			Single: true, Hook: HookNone,
		},
	}
}

// zooGateSpec is a counter that lets in whom it can, and nobody waits. As middleware it
// looks at no context.
func zooGateSpec(source TimeSource, middleware bool) ConcurrencySpec {
	spec := ConcurrencySpec{
		Name: "zoo gate",
		Time: source,
		New: func(_ Env, cfg ConcurrencyConfig) ConcurrencyFuncs {
			if cfg.Backlog != 0 || cfg.Timeout >= 0 {
				panic("nothing can wait here")
			}
			var used atomic.Int64
			leave := func(int) { used.Add(-1) }
			enter := func(int) bool {
				if used.Add(1) <= int64(cfg.Limit) {
					return true
				}
				leave(1)
				return false
			}
			if !middleware {
				return ConcurrencyFuncs{TryAcquire: enter, Release: leave}
			}
			return ConcurrencyFuncs{Do: func(_ context.Context, run func()) error {
				if !enter(1) {
					cfg.OnReject()
					return errZooFull
				}
				defer leave(1)
				run()
				return nil
			}}
		},
		Traits: ConcurrencyTraits{Backlog: BacklogNone, Single: true, OverRelease: OverReleaseUndefined, Hook: HookNone},
	}
	if middleware {
		spec.Name = "zoo gate before a handler"
		spec.Traits.Context, spec.Traits.Hook = ContextIgnored, HookOnce
	}
	return spec
}

// zooSelectSpec is a buffered channel as most write it: select takes either the slot
// that is free or the context that is done.
func zooSelectSpec(source TimeSource) ConcurrencySpec {
	spec := zooChannelSpec(source)
	spec.Name, spec.Traits.Context = "zoo select", ContextEndsWait
	made := spec.New
	spec.New = func(env Env, cfg ConcurrencyConfig) ConcurrencyFuncs {
		slots := make(chan struct{}, cfg.Limit)
		f := made(env, cfg)
		f.TryAcquire = nil
		f.Acquire = func(ctx context.Context, _ int) error {
			select {
			case slots <- struct{}{}:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		f.Release = func(int) {
			select {
			case <-slots:
			default:
			}
		}
		return f
	}
	return spec
}

// zooNewestSpec serves the newest of those who wait first, which keeps most of the
// times short when there are too many.
func zooNewestSpec(source TimeSource) ConcurrencySpec {
	spec := zooQueueSpec("serves the newest first", source)
	spec.Name, spec.Traits.Fair = "zoo stack", FairNone
	return spec
}

// zooSignalSpec is a number that is exchanged atomically, and a channel that each
// release closes for all who wait. mutant is "", or that who waits takes the channel
// after its look at the number.
func zooSignalSpec(mutant string, source TimeSource) ConcurrencySpec {
	return ConcurrencySpec{
		Name: "zoo signal: " + mutant,
		Time: source,
		New: func(_ Env, cfg ConcurrencyConfig) ConcurrencyFuncs {
			var used atomic.Int64
			var signal atomic.Pointer[chan struct{}]
			renew := func() *chan struct{} {
				next := make(chan struct{})
				return signal.Swap(&next)
			}
			renew()
			return ConcurrencyFuncs{
				Acquire: func(ctx context.Context, weight int) error {
					for {
						if err := ctx.Err(); err != nil {
							return err
						}
						freed := signal.Load()
						n := used.Load()
						if n+int64(weight) <= int64(cfg.Limit) {
							if used.CompareAndSwap(n, n+int64(weight)) {
								return nil
							}
							continue
						}
						done := ctx.Done()
						if mutant != "" {
							freed = signal.Load()
						}
						select {
						case <-*freed:
						case <-done:
							return ctx.Err()
						}
					}
				},
				Release: func(weight int) {
					used.Add(-int64(weight))
					close(*renew())
				},
			}
		},
		Traits: ConcurrencyTraits{
			Backlog: BacklogUnbounded, Timeout: TimeoutNone, Context: ContextHonoured, Fair: FairNone,
			Oversize: OversizeBlocks, OverRelease: OverReleaseUndefined, Hook: HookNone,
		},
	}
}

// concurrencyMutants are mistakes, each with the rule that must catch it and, if they
// are more than three, the steps that it takes.
var concurrencyMutants = []struct {
	name, rule string
	steps      int
}{
	{"lets one more run", "CT-LIMIT", 0},
	{"wakes nobody", "CT-WORK", 0},
	{"wakes one at a time", "CT-WORK", 4},
	{"one place too many", "CT-REJECT", 0},
	{"a request that runs keeps its place", "CT-SEAT", 0},
	{"times out a nanosecond late", "CT-TIME", 0},
	{"the timeout grows with the limit", "CT-TIME", 5},
	{"a request that timed out keeps its place", "CT-TIME", 0},
	{"a timeout of 0 rejects everything", "CT-TIME0", 0},
	{"does not look at the context while it waits", "CT-CTX", 0},
	{"a cancelled request keeps its place", "CT-CTX", 0},
	{"a handler waits without its context", "CT-CTX", 0},
	{"looks at the context only while it waits", "CT-CTXPRE", 0},
	{"loses the slot at a tie", "CT-TIE", 0},
	{"gives back one slot when it is cancelled as it gets them", "CT-TIE", 5},
	{"a cancelled request stays in the queue", "CT-NOGHOST", 4},
	{"a request that timed out stays in the queue", "CT-NOGHOST", 4},
	{"gives back one slot only", "CT-RELEASE", 0},
	{"a release too many raises the limit", "CT-OVERREL", 0},
	{permitTwice, "CT-OVERREL", 0},
	{"a release looks whether anything is held", "CT-OVERREL", 0},
	{"nobody looks again when the first gives up", "CT-HEAD", 4},
	{"serves the newest first", "CT-FIFO", 0},
	{"a light request overtakes", "CT-FIFO", 0},
	{"joins after it has let go of the lock", "CT-NOLOST", 0},
	{"a request for more than the limit waits", "CT-OVER", 0},
	{"more than the limit is more than the first one", "CT-OVER", 0},
	{"a lower limit is forgotten", "CT-RESIZE", 0},
	{"a higher limit wakes nobody", "CT-RESIZE", 4},
	{"a higher limit wakes as many as it adds", "CT-RESIZE", 9},
	{"a try looks at the first limit", "CT-RESIZE", 0},
	{"calls the hook twice when the backlog is full", "CT-HOOK", 0},
	{"does not call the hook at a timeout", "CT-HOOK", 0},
	{"serves what it has rejected", "CT-CONV", 0},
	{"panics on the third request", "X-CALLS", 0},
	{"keeps a lock when the backlog is full", "X-CALLS", 0},
	{"a panic keeps the slot", "X-PANIC", 0},
	{"calls the hook under the lock", "X-REENT", 0},
	{"calls the hook under the lock at a timeout", "X-REENT", 0},
	{"goroutine left behind by a semaphore", "X-LEAK", 0},
	{"checks without the lock", "X-CONC", 0},
}

// The correct ones, of nine designs, pass, each on one driver or with ESCAPEMENT_PROVE=1 on both.
func TestConcurrency_correctOnesPass(t *testing.T) {
	for _, source := range sources(Injected, PackageTime) {
		for i, spec := range []ConcurrencySpec{
			zooQueueSpec("", source), zooPermits("", source), zooChannelSpec(source), zooCondSpec(source), zooTokensSpec(source), zooSeatsSpec(source),
			zooGateSpec(source, false), zooGateSpec(source, true), zooSelectSpec(source), zooNewestSpec(source), zooSignalSpec("", source),
		} {
			if source == PackageTime && testing.Short() {
				continue
			}
			t.Run(spec.Name+source.String(), func(t *testing.T) {
				once(t, i, source)
				RunConcurrency(t, spec)
			})
		}
	}
}

// smallest are the families without their longer schedules: whatever fails on one of
// those and on a shorter one too is reported with the shorter one. Racing schedules
// are for the rule that needs them.
func smallest(c *contract, rule string, steps int) []family {
	all := concurrencyFamilies(c)
	for i := range all {
		all[i].schedules = slices.DeleteFunc(all[i].schedules, func(s Schedule) bool {
			return len(s.Steps) > steps || s.racing() > 0 && rule != "CT-TIE"
		})
	}
	return all
}

// What a rule is about is said only of rules that there are.
func TestConcurrencyConcerns_nameRules(t *testing.T) {
	for id := range concurrencyConcerns {
		if !slices.ContainsFunc(Rules("concurrency"), func(r Rule) bool { return r.ID == id }) {
			t.Errorf("concurrencyConcerns names %q, which is no rule", id)
		}
	}
}

// Without declared traits nothing is failed but TRAITS, which prints what was seen.
func TestConcurrency_undeclared(t *testing.T) {
	synctestcompat.Require(t)
	seats := zooSeatsSpec(Injected)
	seats.Traits.OverRelease = OverReleaseUndefined // not asked for: there is no Release
	gate := zooGateSpec(Injected, true)
	gate.New = func(env Env, cfg ConcurrencyConfig) ConcurrencyFuncs { // it takes what it is given, and lets nothing wait
		cfg.Backlog, cfg.Timeout = 0, -1
		return zooGateSpec(Injected, true).New(env, cfg)
	}
	for _, spec := range []ConcurrencySpec{zooQueueSpec("", Injected), zooChannelSpec(Injected), zooTokensSpec(Injected), seats, gate} {
		declared := spec.Traits
		spec.Traits = ConcurrencyTraits{Single: declared.Single}
		c := concurrencyContract(t, spec)
		for _, v := range c.evaluate().Verdicts {
			if (v.Status == Fail) != (v.Rule == "TRAITS") {
				t.Errorf("%s: %s: %s\n%s", spec.Name, v.Rule, v.Status, v.Text)
			}
			if v.Rule != "TRAITS" {
				continue
			}
			for _, tr := range declared.table(c) {
				if tr.needless() || tr.declared == 0 {
					continue
				}
				if line := tr.name + ": conformance." + tr.values[tr.declared-1] + ", // observed"; !strings.Contains(v.Text, line) {
					t.Errorf("%s: TRAITS does not say %q:\n%s", spec.Name, line, v.Text)
				}
			}
		}
	}
}
