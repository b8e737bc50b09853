package suite

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/sched"
)

// A probe of concurrent use lets two goroutines call each of many instances at the same
// moment, round after round: between a check and the act that depends on it there are
// often only nanoseconds, and in a small part of the meetings the other call comes in
// between. There are [Places] instances, fewer under -race, where everything takes longer.
const (
	// Meeters is the number of goroutines, Meetings that of rounds.
	Meeters  = 2
	Meetings = 12
	spins    = 2_000  // turns of a loop before a goroutine stops spinning for another that is on its way
	glance   = 10_000 // and for one that may have no processor: more than a contended lock takes
)

// NoProgress is why a probe of concurrent use that hangs has no verdict.
const NoProgress = "concurrent use made no progress"

// Meeting describes a probe of concurrent use: instances of type I, of which Meeters
// goroutines use each at one instant.
type Meeting[I any] struct {
	// Make makes the instance with the number place.
	Make func(env conformance.Env, place int) I
	// Each is how often each goroutine calls, and Few how often in every third round, in which all are to be served:
	// what is refused though there is enough shows in no other. 0 is for Each.
	Each, Few int
	// Before prepares a round, once for all instances; nil does nothing.
	Before func(st *Stage, round int)
	// Prepare prepares each instance for a round; nil does nothing.
	Prepare func(in I, round int)
	// Call is call number n of goroutine g; it must not block.
	Call func(in I, round, g, n int)
	// Between looks at an instance when the calls have settled, before time passes; nil
	// does nothing.
	Between func(in I, place int)
	// Pass lets the time of a round pass.
	Pass func(st *Stage, round int)
	// Judge returns what is wrong with what a round has done to an instance.
	Judge func(in I, place, round int) *Violation
	// Release ends an instance.
	Release func(in I)
}

// Meet runs the meeting and returns the first violation, with the round in which it came,
// or why it could not be run. Panics of calls are left to X-CALLS. If one goroutine that makes the calls in a row
// gets the same, the violation says that it is no matter of concurrent use.
func Meet[I any](p *Probe, m Meeting[I]) (worst *Violation, skip string) {
	if worst = meetInOrder(p, m); worst == nil {
		worst, skip = meeting(p, m, p.meet)
	}
	if worst == nil {
		return nil, skip
	}
	inARow := func(f func(g, i int)) {
		for i := range Places {
			for g := range Meeters {
				f(g, i)
			}
		}
	}
	if alone, _ := meeting(p, m, inARow); alone != nil {
		alone.sequential = true
		alone.Headline += "; with all calls in a row, too"
		alone.Because = "one goroutine that makes these calls in a row gets the same: concurrent use is not the cause"
		return alone, ""
	}
	return worst, ""
}

// meeting runs a meeting in which meet makes the calls of each goroutine at each place.
func meeting[I any](p *Probe, m Meeting[I], meet func(f func(g, i int))) (worst *Violation, skip string) {
	var seen *Violation // what is abandoned may still write it
	spent := false
	hang := p.Suite.Play(func(st *Stage) {
		var in [Places]I
		env := st.EnvOf(Places)
		for i := range in {
			in[i] = m.Make(env, i)
		}
		for round := 0; round < Meetings && !spent; round++ {
			v, ended := m.round(st, in[:], 0, round, func() {
				meet(func(g, i int) { m.calls(in[i], round, g) })
			})
			if spent = !ended; seen == nil { // what was found before stays
				seen = v
			}
		}
		for i := range in {
			_ = Catch(func() { m.Release(in[i]) })
		}
		st.Settle()
	})
	switch {
	case hang != nil:
		return nil, NoProgress
	case spent && seen == nil:
		return nil, polls
	}
	return seen, ""
}

// Calls is how often each goroutine calls in a round.
func (m *Meeting[I]) Calls(round int) int {
	if m.Few > 0 && round%3 == 2 {
		return m.Few
	}
	return m.Each
}

// calls are those of goroutine g to an instance in a round.
func (m *Meeting[I]) calls(in I, round, g int) {
	for n := range m.Calls(round) {
		_ = Catch(func() { m.Call(in, round, g, n) })
	}
}

// round is one round with some instances, of which the first has a number, and in which meet makes the calls. It
// returns the first violation, or false if the budget of the run was used up before.
func (m *Meeting[I]) round(st *Stage, in []I, first, round int, meet func()) (worst *Violation, ended bool) {
	if m.Before != nil {
		m.Before(st, round)
	}
	if m.Prepare != nil {
		for i := range in {
			_ = Catch(func() { m.Prepare(in[i], round) })
		}
		st.Settle()
	}
	meet()
	st.Settle()
	if m.Between != nil {
		for i := range in {
			m.Between(in[i], first+i)
		}
	}
	m.Pass(st, round)
	st.Settle()
	if st.Spent() {
		return nil, false
	}
	for i := range in {
		if v := m.Judge(in[i], first+i, round); v != nil && worst == nil {
			worst = v
		}
	}
	return worst, true
}

// InRound says in which round of a meeting something was seen.
func InRound(round int) string { return fmt.Sprintf("round %d of %d", round+1, Meetings) }

// meet has two goroutines call f for each place, both as nearly at one instant as the
// machine can, and waits until all calls have returned; f must not block.
func (s *Suite) meet(f func(g, i int)) {
	defer s.lab.twoProcessors()()
	var wg sync.WaitGroup
	r := &rendezvous{}
	for g := range r.wake {
		r.wake[g] = make(chan struct{}, 1)
	}
	for g := range Meeters {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range Places {
				s.lab.rounds.Add(1)
				r.await(g, int64(i+1))
				for range (i*7 + g*13) % 31 { // varies which of them is first, and by how much
					r.running[g].Load()
				}
				f(g, i)
			}
		}()
	}
	wg.Wait()
}

// rendezvous is where two goroutines meet, time after time. They spin for each other:
// goroutines that are woken start one after the other, and short calls would not meet. Who
// has to wait for long, because the machine has no processor for both, sleeps until the
// other comes, and then both spin.
type rendezvous struct {
	come, running [Meeters]counter
	asleep        [Meeters]atomic.Bool
	wake          [Meeters]chan struct{}
}

// counter has a cache line of its own.
type counter struct {
	atomic.Int64
	_ [56]byte
}

// reach raises the counter to n. Who was interrupted before it may come when others have raised
// the counter further, which stays so: or else somebody would wait for ever for what has been.
func (c *counter) reach(n int64) {
	for now := c.Load(); now < n && !c.CompareAndSwap(now, n); now = c.Load() {
	}
}

// await is goroutine g coming for the nth time.
func (r *rendezvous) await(g int, nth int64) {
	other := 1 - g
	r.come[g].Store(nth)
	if r.asleep[other].CompareAndSwap(true, false) {
		r.wake[other] <- struct{}{}
	}
	if !spin(&r.come[other], nth, glance) {
		r.asleep[g].Store(true)
		if r.come[other].Load() < nth || !r.asleep[g].CompareAndSwap(true, false) {
			<-r.wake[g]
		}
	}
	r.running[g].Store(nth)
	spin(&r.running[other], nth, spins)
}

// spin waits for a counter, some turns of a loop long, and reports whether it came to n.
func spin(c *counter, n int64, turns int) bool {
	for range turns {
		if c.Load() >= n {
			return true
		}
	}
	return false
}

// MeetBlocking is meet for calls that may block: it calls f for each place n times in each
// of two rows of goroutines. Each call of one row meets a call of the other. A row goes on
// with its next goroutine, on the same processor, when a call blocks or returns. It
// returns when all calls have begun.
func (s *Suite) MeetBlocking(places, n int, f func(i, k int)) {
	if sched.Self() != nil {
		for k := range Meeters * n * places {
			Start(func() { f(k%places, k/places) })
		}
		return
	}
	defer s.lab.twoProcessors()()
	var at [Meeters]counter
	var begun sync.WaitGroup
	var next func(g, i, k int)
	next = func(g, i, k int) {
		switch { // runs on this processor when this goroutine blocks or ends
		case k+1 < n:
			go next(g, i, k+1)
		case i+1 < places:
			go next(g, i+1, 0)
		}
		s.lab.rounds.Add(1)
		turn := int64(i*n + k)
		at[g].reach(turn + 1)
		for n := 0; at[1-g].Load() <= turn; n++ {
			if n > glance {
				runtime.Gosched()
			}
		}
		begun.Done()
		f(i, g*n+k)
	}
	begun.Add(Meeters * places * n)
	for g := range Meeters {
		go next(g, 0, 0)
	}
	begun.Wait()
}
