package limiter

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
)

// choosyWaits is a bucket in exact fractions with waits. Those who are served anew, or
// unfairly, wait in a list, and nothing is taken before it is there; those who keep
// their instants take at once, and the bucket owes.
type choosyWaits struct {
	clock  clockwork.Clock
	traits lt.Traits
	whims  waitWhims

	mu    sync.Mutex
	b     *choosyBucket // its level; its own methods take no part
	queue []*choosyWaiter
	timer clockwork.Timer
}

type choosyWaiter struct {
	n     int
	done  chan struct{}
	ended bool // served
	ghost bool // given up, and not all of it comes back
	timer clockwork.Timer
}

// waitWhims is what no trait is about.
type waitWhims struct {
	plain  bool // there is a Wait instead of WaitN
	early  bool // time begins when it is made, not with the first request
	shows  bool // there is Tokens
	sets   bool // there are SetLimit and SetBurst
	allows bool // there is AllowN
	newest bool // who came last looks first, with lt.FairNone

	reserves bool // there is Reserve, and no SetBurst
}

// pays is what must be there for n to be granted.
func (l *choosyWaits) pays(n int) int {
	if l.traits.Oversize == lt.OversizePrepaid {
		return min(n, l.b.burst)
	}
	return n
}

func (l *choosyWaits) has(n int) bool {
	return l.b.rate == lt.Inf || l.b.level.Cmp(tokensOf(l.pays(n))) >= 0
}

func (l *choosyWaits) eat(n int) {
	if l.b.rate != lt.Inf {
		l.b.level = new(big.Rat).Sub(l.b.level, tokensOf(n))
	}
}

// comes is how long it takes until the level is n, if nobody takes anything; not ever, if never.
func (l *choosyWaits) comes(n *big.Rat) (in time.Duration, ever bool) {
	owed := new(big.Rat).Sub(n, l.b.level)
	switch {
	case l.b.rate == lt.Inf || owed.Sign() <= 0:
		return 0, true
	case l.b.rate.Events == 0:
		return 0, false
	}
	in = l.b.time(owed)
	return in, in <= 1<<61
}

// fair says that nobody overtakes who waits.
func (l *choosyWaits) fair() bool { return l.traits.Fair == lt.FairFIFO }

// debts says that who waits takes at once, and keeps its instant.
func (l *choosyWaits) debts() bool { return l.fair() && l.traits.OnChange == lt.OnChangeKeeps }

// looks says that who waits looks for itself, at an instant that it keeps.
func (l *choosyWaits) looks() bool { return !l.fair() && l.traits.OnChange == lt.OnChangeKeeps }

// pass comes to the present; the first in the list may need more room than the burst.
func (l *choosyWaits) pass() {
	now, burst := l.clock.Now(), l.b.burst
	for i, w := range l.queue {
		if !l.debts() && (i == 0 || !l.fair()) && !l.b.is(neverCollects) {
			l.b.burst = max(l.b.burst, l.pays(w.n))
		}
	}
	l.b.past = nil
	l.b.pass(now)
	if !l.b.is(raisesForGood) {
		l.b.burst = burst
	}
	if len(l.queue) == 0 || l.debts() {
		l.b.cap()
	}
}

// next is whom to serve now, nil if nobody.
func (l *choosyWaits) next() (next *choosyWaiter) {
	for i, w := range l.queue {
		if (i == 0 || !l.fair()) && (next == nil || l.whims.newest) && l.has(w.n) {
			next = w
		}
	}
	return next
}

// serve gives to those who wait in the list what is there.
func (l *choosyWaits) serve() {
	if l.debts() {
		return
	}
	for !l.looks() {
		w := l.next()
		if w == nil {
			break
		}
		l.grant(w)
	}
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	if len(l.queue) == 0 || l.b.is(cutsWhatIsKept) {
		l.b.cap()
	}
	if len(l.queue) == 0 || l.looks() {
		return
	}
	least := l.pays(l.queue[0].n)
	for _, w := range l.queue {
		if !l.fair() {
			least = min(least, l.pays(w.n))
		}
	}
	if in, ever := l.comes(tokensOf(least)); ever {
		l.timer = l.after(in, l.serve)
	}
}

// now comes to the present, and does something.
func (l *choosyWaits) now(do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pass()
	do()
}

// after is now when d is over.
func (l *choosyWaits) after(d time.Duration, do func()) clockwork.Timer {
	return l.clock.AfterFunc(d, func() { l.now(do) })
}

// grant serves one of the list.
func (l *choosyWaits) grant(w *choosyWaiter) {
	l.eat(w.n)
	l.queue = slices.DeleteFunc(l.queue, func(o *choosyWaiter) bool { return o == w })
	if !w.ghost {
		w.end()
	}
}

// look is for those who look for themselves: now, and when their tokens are there.
func (l *choosyWaits) look(w *choosyWaiter) {
	if w.ended || !slices.Contains(l.queue, w) {
		return
	}
	if l.has(w.n) {
		l.grant(w)
		return
	}
	in, ever := l.comes(tokensOf(l.pays(w.n)))
	if !ever {
		in = time.Hour
	}
	w.timer = l.after(in, func() { l.look(w) })
}

func (l *choosyWaits) allow(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pass()
	switch {
	case n < 0:
		return false
	case n == 0 || l.b.rate == lt.Inf:
		return true
	case n > l.b.burst && l.traits.Oversize != lt.OversizePrepaid,
		l.fair() && len(l.queue) > 0 && !l.debts(),
		!l.has(n):
		return false
	}
	l.eat(n)
	l.serve()
	return true
}

func (l *choosyWaits) waitN(ctx context.Context, n int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w, err := l.enter(ctx, n)
	if err != nil {
		return err
	}
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pass(); w.ended {
		return nil
	}
	l.leave(w)
	return ctx.Err()
}

// enter begins a wait, which may be over at once.
func (l *choosyWaits) enter(ctx context.Context, n int) (*choosyWaiter, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pass()
	w := &choosyWaiter{n: n, done: make(chan struct{})}
	switch {
	case n < 0 || n > l.b.burst && l.traits.Oversize == lt.OversizeRejected && l.b.rate != lt.Inf:
		return nil, errTooMany
	case n == 0 || l.b.rate == lt.Inf:
		w.end()
		return w, nil
	}
	before := tokensOf(l.pays(n))
	for _, o := range l.queue {
		if l.fair() && !l.debts() {
			before.Add(before, tokensOf(o.n))
		}
	}
	in, ever := l.comes(before)
	if deadline, ok := ctx.Deadline(); ok && l.traits.DeadlineCheck == lt.DeadlineFailFast &&
		(!ever || l.b.newest.Add(in).After(deadline)) {
		return nil, errTooLate
	}
	l.queue = append(l.queue, w)
	switch {
	case l.debts():
		l.eat(n)
		if ever {
			w.timer = l.after(in, func() {
				if !w.ended && !w.ghost {
					w.end()
				}
			})
		}
	case l.looks():
		l.look(w)
	default:
		l.serve()
	}
	return w, nil
}

// end tells who waits that it is served.
func (w *choosyWaiter) end() {
	w.ended = true
	close(w.done)
}

// leave gives a wait up.
func (l *choosyWaits) leave(w *choosyWaiter) {
	if w.timer != nil {
		w.timer.Stop()
	}
	i := slices.Index(l.queue, w)
	back := w.n
	switch l.traits.Refund {
	case lt.RefundNone:
		back = 0
	case lt.RefundConservative:
		for _, o := range l.queue[i+1:] {
			if !o.ghost && !(l.debts() && o.ended) {
				back -= o.n
			}
		}
		back = max(0, back)
	}
	switch {
	case l.debts():
		w.ghost = true
		l.b.level = new(big.Rat).Add(l.b.level, tokensOf(back))
		l.b.cap()
		return
	case l.fair() && back < w.n:
		w.ghost, w.n = true, w.n-back // those before it are not held up by what is lost
	default:
		l.queue = slices.Delete(l.queue, i, i+1)
		l.eat(w.n - back)
	}
	l.serve()
}

func (l *choosyWaits) set(change func()) {
	l.now(func() {
		change()
		l.serve()
	})
}

func (l *choosyWaits) setBurst(n int) {
	l.set(func() {
		if l.traits.OnBurstRaised == lt.RaiseBringsTokens {
			l.b.level = new(big.Rat).Add(l.b.level, tokensOf(n-l.b.burst))
		}
		l.b.burst = n
		l.b.cap()
	})
}

func (l *choosyWaits) tokens() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pass()
	if l.b.rate == lt.Inf {
		return float64(l.b.burst)
	}
	f, _ := l.b.level.Float64()
	return max(0, min(f, float64(l.b.burst)))
}

// reserve puts one into the list that nobody waits for.
func (l *choosyWaits) reserve(n int) lt.Reservation {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pass()
	w := &choosyWaiter{n: n, done: make(chan struct{})}
	ok := n >= 0 && n <= l.b.burst
	if ok {
		l.queue = append(l.queue, w)
		l.serve()
	}
	locked := func(do func()) func() {
		return func() {
			l.now(func() {
				if slices.Contains(l.queue, w) {
					do()
				}
			})
		}
	}
	if ok && !w.ended && l.b.rate.Events == 0 {
		ok = false
		l.leave(w)
	}
	return lt.Reservation{
		OK:     func() bool { return ok },
		Delay:  func() (d time.Duration) { locked(func() { d = l.delay(w) })(); return d },
		Cancel: locked(func() { l.leave(w) }),
	}
}

// delay is how long one in the list has to wait: for its own tokens and those of all before it.
func (l *choosyWaits) delay(w *choosyWaiter) time.Duration {
	n := 0
	for _, o := range l.queue[:slices.Index(l.queue, w)+1] {
		n += o.n
	}
	if in, ever := l.comes(tokensOf(n)); ever {
		return in
	}
	return math.MaxInt64
}

// listedSpec has reservations in the list of those who wait: they say how long they have to wait as they are in the
// list at that moment, for as much as a burst that is not lowered.
func listedSpec() lt.Spec {
	tr := lt.Traits{
		Initial: lt.InitialFull, Oversize: lt.OversizeRejected, ZeroRate: lt.ZeroRateBurst, Inf: lt.InfAbsent,
		Fair: lt.FairFIFO, DeadlineCheck: lt.DeadlineSleeps, Refund: lt.RefundFull, OnChange: lt.OnChangeServes,
		OnBurstRaised: lt.RaiseBringsNothing, WaitErrors: lt.WaitErrorsContext, LateCancel: lt.LateIgnored,
	}
	spec := choosyWaitsSpec(lt.PackageTime, tr, waitWhims{early: true, sets: true, allows: true, reserves: true}, "")
	spec.Name = "list with reservations"
	return spec
}

// Mistakes with who waits for more than the burst.
const (
	neverCollects  = "a wait for more than the burst is never served"
	raisesForGood  = "a wait for more than the burst raises it for good"
	cutsWhatIsKept = "who comes cuts what is kept for a wait for more than the burst"
)

// outgrownSpec is where they wait: nobody is to overtake them, or anybody may.
func outgrownSpec(mutant string, fair lt.Fairness) lt.Spec {
	tr := lt.Traits{Initial: lt.InitialFull, Oversize: lt.OversizeWaits, ZeroRate: lt.ZeroRateBurst, Inf: lt.InfGrants,
		Fair: fair, DeadlineCheck: lt.DeadlineSleeps, Refund: lt.RefundFull, OnChange: lt.OnChangeServes}
	spec := choosyWaitsSpec(lt.Injected, tr, waitWhims{allows: true}, mutant)
	spec.Name = "zoo: more than the burst is waited for, " + map[lt.Fairness]string{lt.FairFIFO: "fairly",
		lt.FairNone: "unfairly"}[fair] + ": " + mutant
	return spec
}

func choosyWaitsSpec(source lt.TimeSource, tr lt.Traits, w waitWhims, mutant string) lt.Spec {
	return lt.Spec{
		Name: "a choosy bucket with waits", Time: source, Traits: tr,
		New: func(env lt.Env, cfg lt.Config) lt.Funcs {
			l := &choosyWaits{clock: env.Clock, traits: tr, whims: w, b: newChoosyBucket(tr, cfg)}
			l.b.mutant = mutant
			if w.early {
				l.pass()
			}
			f := lt.Funcs{WaitN: l.waitN}
			if w.plain {
				f = lt.Funcs{Wait: func(n int) { _ = l.waitN(context.Background(), n) }}
			}
			if w.allows {
				f.AllowN = l.allow
			}
			if w.shows {
				f.Tokens = l.tokens
			}
			if w.sets {
				f.SetLimit = func(r lt.Rate) { l.set(func() { l.b.rate = r }) }
				f.SetBurst = l.setBurst
			}
			if w.reserves {
				f.Reserve, f.SetBurst = l.reserve, nil
			}
			return f
		},
	}
}

// chosenWaits are buckets with choices drawn from a seed, which is always the same.
// Who gets back all of it while others keep their instants lets more through than the
// rate brings, which is not drawn.
func chosenWaits(n int) []lt.Spec {
	rnd := rand.New(rand.NewPCG(5, 5))
	var out []lt.Spec
	for i := range n {
		pick := func(of int) int { return 1 + (i+rnd.IntN(of))%of }
		coin := func() bool { return rnd.IntN(2) == 0 }
		w := waitWhims{plain: rnd.IntN(6) == 0, early: coin(), shows: coin(), sets: coin(), allows: rnd.IntN(5) > 0,
			newest: coin()}
		tr := lt.Traits{
			Initial: lt.Initial(pick(3)), Oversize: lt.Oversize(pick(3)), ZeroRate: lt.ZeroRate(pick(3)),
			Inf:  lt.InfRate(pick(2)),
			Fair: lt.Fairness(1 + i%2), DeadlineCheck: lt.DeadlineCheck(1 + i/2%2),
			OnChange: lt.OnChange(1 + i/4%2), Refund: lt.Refund(1 + i/8%3), OnBurstRaised: lt.OnBurstRaised(pick(2)),
		}
		if tr.Refund == lt.RefundFull && tr.Fair == lt.FairFIFO && tr.OnChange == lt.OnChangeKeeps {
			tr.Refund = lt.RefundConservative
		}
		if w.plain && tr.Oversize == lt.OversizeRejected { // it has no error, so it cannot refuse
			tr.Oversize = lt.OversizeWaits
		}
		spec := choosyWaitsSpec([]lt.TimeSource{lt.Injected, lt.PackageTime}[rnd.IntN(2)], tr, w, "")
		spec.Name = fmt.Sprintf("%s %d", spec.Name, i)
		out = append(out, spec)
	}
	return out
}
