package limitertest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// concurrent lets goroutines ask, reserve and wait at one instant: together they must get
// what some order of the same calls would get.
func (c *contract) concurrent(p *suite.Probe) (worst *suite.Violation, skip string) {
	asks := p.Accepts(opRequest)
	if asks {
		worst, skip = c.requestsConcurrent(p)
	}
	keys := asks && p.Accepts(opKeys) && c.oneBucket(p.Suite, &c.spec.Traits) == "" && c.spec.Traits.credit() == 0
	if worst == nil && skip == "" && keys {
		worst, skip = c.keysConcurrent(p)
	}
	if worst == nil && skip == "" && asks && p.Accepts(opGiveUp) && !c.cancelsTwice(p) {
		worst = c.cancelsConcurrent(p)
	}
	if worst == nil && skip == "" && p.Accepts(verb.Wait) && (p.Time == PackageTime || p.Bubble) {
		worst = c.waitsConcurrent(p)
	}
	return worst, skip
}

// roundAt is when a round of a meeting begins: long enough after the one before it for the
// bucket to fill up.
func roundAt(round int) time.Duration { return time.Duration(round) * 2 * time.Second }

func toRound(st *suite.Stage, round int) { st.To(roundAt(round)) }

// instantOf is the instant of a round for limiters that are told the time.
func instantOf(round int) time.Time { return conformance.Config{}.Start().Add(roundAt(round)) }

// shared is a limiter that several goroutines use at one instant.
type shared struct {
	Funcs
	cfg      Config
	delays   [suite.Meeters][]time.Duration // the delays that each goroutine got; 0 if it was served at once
	debt     Reservation                    // that all of them cancel
	granted  atomic.Int64
	panicked atomic.Value
}

// meeting is a meeting at limiters of the first of the configurations that is accepted: what the rounds are and how
// they are judged is for the caller.
func (c *contract) meeting(of []Config, refused *string) suite.Meeting[*shared] {
	return suite.Meeting[*shared]{
		Make: func(env Env, _ int) *shared {
			l, why := &shared{}, ""
			if l.Funcs, l.cfg, why = c.first(env, of); why != "" {
				*refused = why
			}
			return l
		},
		Each:    1,
		Before:  toRound,
		Pass:    func(*suite.Stage, int) {},
		Release: func(l *shared) { l.end() },
	}
}

// meet runs a meeting, of which a limiter that cannot be made shows nothing.
func meet(p *suite.Probe, m suite.Meeting[*shared], refused *string) (*suite.Violation, string) {
	worst, skip := suite.Meet(p, m)
	if *refused != "" {
		return nil, *refused
	}
	return worst, skip
}

// requestsConcurrent lets goroutines ask for tokens at one instant. In every second round
// one of them reserves, if the limiter has reservations.
func (c *contract) requestsConcurrent(p *suite.Probe) (worst *suite.Violation, skip string) {
	refused := ""
	m := c.meeting(c.candidates(10, 5), &refused)
	m.Each, m.Few = 4, 2
	m.Call = func(l *shared, round, g, n int) {
		delay := time.Duration(-1)
		msg := suite.Catch(func() {
			switch {
			case round%2 == 0 || g != 0 || !p.Accepts(verb.Reserve):
				if l.allows(instantOf(round), g+n) {
					delay = 0
				}
			default:
				if r := l.reserve(instantOf(round), 1); r.ok() {
					delay = r.delay(instantOf(round), p.Time == Explicit)
				}
			}
		})
		if msg != "" {
			l.panicked.Store(msg)
		}
		if delay >= 0 {
			l.delays[g] = append(l.delays[g], delay)
		}
	}
	m.Judge = func(l *shared, _, round int) *suite.Violation {
		if refused != "" {
			return nil
		}
		return c.judgeTogether(l, round, m.Calls(round))
	}
	return meet(p, m, &refused)
}

// judgeTogether judges what the goroutines got in a round in which each asked that often.
func (c *contract) judgeTogether(l *shared, round, each int) *suite.Violation {
	rate, burst := l.cfg.Rate, l.cfg.Burst
	all := slices.Concat(l.delays[:]...)
	l.delays = [suite.Meeters][]time.Duration{}
	broken := func(headline string, args ...any) *suite.Violation {
		return suite.Broken(0, fmt.Sprintf("no sequential order of these calls gives this result (%s, "+
			"rate=%s burst=%d); if it is documented as for one goroutine, declare OneGoroutine",
			suite.InRound(round), rate, burst), headline, args...)
	}
	if msg := l.panicked.Load(); msg != nil {
		return broken("a request panicked: %s", msg)
	}
	want := burst
	if round == 0 {
		want = c.spec.Traits.initial(burst)
	}
	want = min(want+c.spec.Traits.credit(), suite.Meeters*each)
	slices.Sort(all)
	due := slices.DeleteFunc(slices.Clone(all), func(d time.Duration) bool { return d == 0 })
	if n := len(all) - len(due); n != want {
		return broken("%d goroutines asking %d times each at one instant got %d tokens, want %d",
			suite.Meeters, each, n, want)
	}
	// Those that were not served at once are due one interval after the other.
	grace := time.Duration(len(due)+1) + c.unevenness(rate, len(due)+burst)
	for n, got := range due {
		if exact := time.Duration(n+1) * rate.Interval(); (got - exact).Abs() > grace {
			return broken("of concurrent reservations at one instant, number %d by time is due after %s, want %s",
				n+1, timeline.Duration(got), timeline.Duration(exact))
		}
	}
	return nil
}

// unevenness is how early or late the n-th token of a limiter may be because of what it counts
// in.
func (c *contract) unevenness(r Rate, n int) time.Duration {
	tr := &c.spec.Traits
	off := max(time.Duration(tr.RefillSize)*r.Interval(), tr.Resolution)
	if scale := tr.scale(); scale > 0 {
		off += time.Duration(int64(n)*int64(r.Interval())/scale) + 1
	}
	return off
}

// inDebt is the limiter of which a reservation is cancelled more than once.
var inDebt = Config{perSecond(10), 2}

// reserveEmpty takes all that a limiter made with inDebt has, and reserves one token more.
func reserveEmpty(f *Funcs, at time.Time) Reservation {
	for n := 0; n <= inDebt.Burst && f.allows(at, 0); n++ {
	}
	return f.reserve(at, 1)
}

// cancelsTwice reports whether two cancels of a reservation, one after the other, bring a
// token that was never there, or whether such a limiter cannot be made. Then goroutines
// that cancel at one instant would show nothing new.
func (c *contract) cancelsTwice(p *suite.Probe) (granted bool) {
	refused, _ := c.trial(p.Play, []Config{inDebt}, func(st *suite.Stage, f *Funcs, _ Config) {
		_ = suite.Catch(func() { // X-CALLS judges panics
			at := st.Config().Start()
			if r := reserveEmpty(f, at); r.ok() {
				r.cancel(at, p.Time == Explicit)
				r.cancel(at, p.Time == Explicit)
			}
			granted = f.allows(at, 0)
		})
	})
	return granted || refused != ""
}

// cancelsConcurrent lets two goroutines cancel the same reservation at one instant. Its
// token may be given back once, to pay the debt that the reservation made.
func (c *contract) cancelsConcurrent(p *suite.Probe) *suite.Violation {
	refused := ""
	m := c.meeting([]Config{inDebt}, &refused)
	m.Prepare = func(l *shared, round int) { l.debt = reserveEmpty(&l.Funcs, instantOf(round)) }
	m.Call = func(l *shared, round, _, _ int) {
		if l.debt.ok() {
			l.debt.cancel(instantOf(round), p.Time == Explicit)
		}
	}
	m.Judge = func(l *shared, _, round int) *suite.Violation {
		granted := false
		_ = suite.Catch(func() { granted = l.allows(instantOf(round), 0) })
		if !granted {
			return nil
		}
		because := fmt.Sprintf("the bucket was empty when the token was reserved (%s, rate=%s burst=%d)",
			suite.InRound(round), inDebt.Rate, inDebt.Burst)
		return suite.Broken(0, because,
			"two goroutines cancelled a reservation at one instant, and refunded a token too many")
	}
	worst, _ := meet(p, m, &refused)
	return worst
}

// waitsConcurrent lets goroutines wait from one instant on, and some give up at the
// instant at which the next token comes: in whatever order things happen then, tokens must
// be handed out one interval after the other, and every wait that was not given up must be
// served. A few of them meet in every order.
func (c *contract) waitsConcurrent(p *suite.Probe) *suite.Violation {
	round := func(st *suite.Stage, n int, leave bool, name string) (seen *suite.Violation) {
		f, refused := c.make(st.Plain(), Config{perSecond(10), 1})
		if refused != "" {
			return nil
		}
		served, stayed := c.waitTogether(st, &f, n, leave)
		f.end()
		st.Settle()
		return c.judgeWaits(served, stayed, name)
	}
	every := p.Orders(func(st *suite.Stage) *suite.Violation {
		return round(st, few, p.Accepts(opContext), "in this order")
	})
	if every != nil {
		return every
	}
	const rounds = 20
	var seen *suite.Violation // what is abandoned may still write it
	hang := p.Play(func(st *suite.Stage) {
		for i := range rounds {
			v := round(st, waiters, i%2 == 1 && p.Accepts(opContext), fmt.Sprintf("round %d of %d", i+1, rounds))
			seen = cmp.Or(seen, v)
		}
	})
	if hang != nil {
		return nil
	}
	return seen
}

// waiters is the number of goroutines that wait together, few that of those that meet in every order. The rate hands
// out a token to all of them in a third of patient.
const (
	few     = 3
	waiters = 6
	patient = 3 * waiters * interval
)

// waitTogether lets goroutines wait from one instant on; if leave is set, some give up
// when the next token comes. It returns after which times the others were served, in
// order, and how many have not given up.
func (c *contract) waitTogether(st *suite.Stage, impl *Funcs, n int, leave bool) (served []time.Duration, stayed int) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var mu sync.Mutex
	from, start := st.Now(), make(chan struct{})
	for g := range n {
		mine, leaves := context.Background(), leave && g%3 == 0
		if leaves {
			mine = ctx
		} else {
			stayed++
		}
		suite.Start(func() {
			suite.Pause(func() { <-start })
			var done conformance.Done
			if msg := suite.Catch(func() { impl.wait(mine, 1, &done) }); msg == "" && done.OK {
				mu.Lock()
				if served = append(served, st.Now()-from); leaves {
					stayed++ // it got its token before it could give up
				}
				mu.Unlock()
			}
		})
	}
	close(start)
	st.Settle()
	st.Race(from+interval, inside.OrderHeld, cancel)
	st.To(from + patient)
	st.Settle()
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(served)
	return slices.Clone(served), stayed
}

// judgeWaits judges what the goroutines that waited together got.
func (c *contract) judgeWaits(served []time.Duration, stayed int, round string) *suite.Violation {
	rate := perSecond(10)
	if len(served) != stayed {
		return suite.Broken(0, fmt.Sprintf("in %s the rate %s brings enough for all (%s)", timeline.Duration(patient),
			rate, round),
			"of %d goroutines that began to wait for a token each at one instant, and did not give up, %d "+
				"were served",
			stayed, len(served))
	}
	grace := time.Duration(waiters+1) + c.unevenness(rate, waiters)
	for i, got := range served {
		if least := time.Duration(i+1-c.spec.Traits.initial(1)-c.spec.Traits.credit()) * interval; got < least-grace {
			return suite.Broken(0, fmt.Sprintf("the rate is %s and the burst 1 (%s)", rate, round),
				"of goroutines that began to wait for a token each at one instant, number %d by time was "+
					"served after %s, want %s",
				i+1, timeline.Duration(got), timeline.Duration(least))
		}
	}
	return nil
}

// setConcurrently sets limit and burst at an instant at which somebody asks.
func (c *contract) setConcurrently(p *suite.Probe) (worst *suite.Violation, skip string) {
	const each, burst = 7, 5
	most := int64(burst + c.spec.Traits.credit())
	if c.spec.Traits.OnBurstRaised != RaiseBringsNothing {
		most += 2
	}
	// a little less and back, a few times
	sets := supported(p.Suite, steps("setlimit 10/1s", "setburst 5", "setlimit 9/1s", "setburst 4",
		"setlimit 10/1s", "setburst 5", "setlimit 9/1s", "setburst 4", "setburst 5"))
	refused := ""
	m := c.meeting([]Config{{perSecond(10), burst}}, &refused)
	m.Call = func(l *shared, round, g, _ int) {
		now := instantOf(round)
		if g == 1 {
			for _, set := range sets {
				l.do(set, now, 0, &conformance.Done{})
			}
		}
		for n := range each {
			if l.allows(now, g+n) {
				l.granted.Add(1)
			}
		}
	}
	m.Judge = func(l *shared, _, round int) *suite.Violation {
		n := l.granted.Swap(0)
		if n <= most {
			return nil
		}
		return suite.Broken(0, fmt.Sprintf("the burst was never above %d (%s)", burst, suite.InRound(round)),
			"%d goroutines asking at one instant, while limit and burst were being set, got %d tokens, "+
				"want %d at most",
			suite.Meeters, n, most)
	}
	return meet(p, m, &refused)
}
