package debounce

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/escapement-go/escapement/internal/prove"
)

// step is something done gap after the step before it: as soon as that instant
// is reached (early), or once all that is due then has run.
type step struct {
	gap   time.Duration
	early bool
	op    string
}

func (s step) GoString() string {
	if s.early {
		return fmt.Sprintf("+%v~ %s", s.gap, s.op)
	}
	return fmt.Sprintf("+%v %s", s.gap, s.op)
}

// system is a debouncer with its clock.
type system interface {
	advance(d time.Duration) // leaves what is due at the end for settle
	settle()
	now() time.Duration
	call(int)
	cancel() bool
	flush() bool
	pending() bool
	stop()
	close()
}

// line of a trace: something that happened: what was done or asked, and the answer.
type line struct {
	at   time.Duration
	what string
	n    int
	ok   bool
}

func (e line) String() string { return fmt.Sprintf("%v: %s %d %v", e.at, e.what, e.n, e.ok) }

// play takes the steps with the system that build makes. The callback takes
// steps too: inside[i] when it runs for the i-th time.
func play(build func(f func(int)) system, steps []step, inside [][]step) []line {
	var s system
	trace := make([]line, 0, 4*len(steps))
	value, fired := 0, 0
	log := func(what string, n int, ok bool) { trace = append(trace, line{s.now(), what, n, ok}) }
	take := func(steps []step) {
		for _, st := range steps {
			s.advance(st.gap)
			if !st.early {
				s.settle()
			}
			switch st.op {
			case "call":
				value++
				log("call", value, true)
				s.call(value)
			case "cancel":
				log("cancel", 0, s.cancel())
			case "flush":
				log("flush", 0, s.flush())
			case "stop":
				log("stop", 0, true)
				s.stop()
			case "close":
				log("close", 0, true)
				s.close()
			}
			log("pending", 0, s.pending())
			s.settle()
		}
	}
	s = build(func(v int) {
		log("f begins, pending", v, s.pending())
		if fired++; fired <= len(inside) {
			take(inside[fired-1])
		}
		log("f ends", v, true)
	})
	take(steps)
	take([]step{{gap: time.Hour, op: "idle"}})
	return trace
}

// subject is the Debouncer on a clock held in the hand.
type subject struct {
	*handClock
	*Debouncer[int]
	start time.Time
}

func (r subject) settle()            { r.release() }
func (r subject) now() time.Duration { return r.handClock.now.Sub(r.start) }
func (r subject) call(v int)         { r.Call(v) }
func (r subject) cancel() bool       { return r.Cancel() }
func (r subject) flush() bool        { return r.Flush() }
func (r subject) pending() bool      { return r.Pending() }
func (r subject) stop()              { r.Stop() }
func (r subject) close()             { _ = r.Close(context.Background()) }

// model is what the documentation says, with no timer: a list of calls, of which
// each is due by a formula, and a callback under way comes first.
type model struct {
	variant
	f       func(int)
	time    time.Duration
	calls   []modelCall // of the burst, all that came
	fired   int         // how many of them the trailing edge need not answer any more
	ready   []int       // values that are due
	running bool
	stopped bool
}

type modelCall struct {
	at    time.Duration
	value int
}

// variant is what a debouncer is made with.
type variant struct {
	wait, maxWait time.Duration
	leads, trails bool
	singleTwice   bool
	name          string
	options       []Option
}

func variants(wait time.Duration) []variant {
	out := []variant{
		{name: "trailing", trails: true},
		{name: "leading", leads: true, options: []Option{Leading()}},
		{name: "both", leads: true, trails: true, options: []Option{LeadingAndTrailing()}},
		{name: "twice", leads: true, trails: true, singleTwice: true, options: []Option{LeadingAndTrailingTwice()}},
	}
	for _, v := range out[:4:4] {
		for _, w := range []time.Duration{wait / 2, wait, wait * 5 / 2} {
			if w > 0 {
				v := v
				v.name, v.maxWait, v.options = fmt.Sprintf("%s, at most %v", v.name, w), w, append([]Option{MaxWait(w)}, v.options...)
				out = append(out, v)
			}
		}
	}
	for i := range out {
		out[i].wait = wait
	}
	return out
}

func (m *model) now() time.Duration { return m.time }
func (m *model) pending() bool      { return len(m.ready) > 0 || m.trails && m.fired < len(m.calls) }

// due is when the trailing edge fires.
func (m *model) due() time.Duration {
	due := m.calls[len(m.calls)-1].at + m.wait
	if m.maxWait > 0 {
		due = min(due, m.calls[m.fired].at+m.maxWait)
	}
	return due
}

func (m *model) settle() {
	for !m.running {
		if m.trails && m.fired < len(m.calls) && m.due() <= m.time {
			m.answer()
		}
		if len(m.ready) == 0 {
			return
		}
		v := m.ready[0]
		m.ready = m.ready[1:]
		m.running = true
		m.f(v)
		m.running = false
	}
}

// answer makes the newest value due.
func (m *model) answer() {
	m.ready = append(m.ready, m.calls[len(m.calls)-1].value)
	m.fired = len(m.calls)
}

func (m *model) advance(d time.Duration) {
	end := m.time + d
	if end > m.time {
		m.settle()
	}
	for !m.running && m.trails && m.fired < len(m.calls) && m.due() < end {
		m.time = max(m.time, m.due())
		m.settle()
	}
	m.time = max(m.time, end)
}

func (m *model) call(v int) {
	if m.stopped {
		return
	}
	unfired := m.trails && m.fired < len(m.calls)
	if n := len(m.calls); n > 0 && !unfired && m.time-m.calls[n-1].at >= m.wait {
		m.calls, m.fired = nil, 0 // a new burst
	}
	m.calls = append(m.calls, modelCall{m.time, v})
	if m.leads && len(m.calls) == 1 {
		m.ready = append(m.ready, v)
		if !m.singleTwice {
			m.fired = 1
		}
	}
	if m.wait == 0 && m.trails && m.fired < len(m.calls) {
		m.answer()
	}
	if len(m.ready) > 0 {
		m.settle()
	}
}

func (m *model) cancel() bool {
	had := m.pending()
	m.calls, m.fired, m.ready = nil, 0, nil
	return had
}

func (m *model) flush() bool {
	had := m.pending()
	if m.trails && m.fired < len(m.calls) {
		m.answer()
		m.calls, m.fired = nil, 0
	}
	m.settleReady()
	return had
}

// settleReady runs what is due if there is any, and then what falls due.
func (m *model) settleReady() {
	if len(m.ready) > 0 {
		m.settle()
	}
}

func (m *model) close() {
	m.stopped = true
	m.flush()
}

func (m *model) stop() {
	m.cancel()
	m.stopped = true
}

// plays runs steps on the Debouncer and on the model.
func (v variant) plays(steps []step, inside [][]step) (got, want []line) {
	got = play(func(f func(int)) system {
		c := newHandClock()
		return subject{c, New(v.wait, f, append([]Option{WithClock(c)}, v.options...)...), c.now}
	}, steps, inside)
	want = play(func(f func(int)) system { return &model{variant: v, f: f} }, steps, inside)
	return got, want
}

func TestDebouncer_doesAsTheModel(t *testing.T) {
	prove.SameSeed(t)
	rapid.Check(t, func(t *rapid.T) {
		wait := rapid.SampledFrom([]time.Duration{0, 1, 7, 100}).Draw(t, "wait")
		v := rapid.SampledFrom(variants(wait)).Draw(t, "variant")
		stepGen := rapid.Custom(func(t *rapid.T) step {
			return step{
				gap:   max(rapid.SampledFrom([]time.Duration{0, 1, wait / 2, wait - 1, wait, wait + 1, 3 * wait}).Draw(t, "gap"), 0),
				early: rapid.Bool().Draw(t, "early"),
				op:    rapid.SampledFrom(ops).Draw(t, "op"),
			}
		})
		steps := rapid.SliceOfN(stepGen, 1, 12).Draw(t, "steps")
		inside := rapid.SliceOfN(rapid.SliceOfN(stepGen, 0, 4), 0, 4).Draw(t, "inside")
		if got, want := v.plays(steps, inside); !slices.Equal(got, want) {
			t.Fatalf("wait %v, %s\ngot\n\t%v\nwant\n\t%v", wait, v.name, got, want)
		}
	})
}

// ops are what a step may do, the likelier the oftener; no test needs all ends.
var ops = []string{"call", "call", "call", "call", "call", "call", "call", "call", "cancel", "cancel", "flush", "flush", "idle", "idle", "stop", "close"}

// Random schedules of 200 steps give what the model gives, for every variant: 50
// of them, or 100,000 with ESCAPEMENT_PROVE=all.
func TestDebouncer_longSchedules(t *testing.T) {
	schedules := prove.Number(5, 50, 50, 100_000)
	const wait = 100
	for _, v := range variants(wait) {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(schedules) {
				rnd := rand.New(rand.NewPCG(1, seed))
				steps := make([]step, 200)
				for i := range steps {
					steps[i] = step{
						gap:   []time.Duration{0, 1, wait / 2, wait - 1, wait, wait + 1, 3 * wait, time.Duration(rnd.IntN(2 * wait))}[rnd.IntN(8)],
						early: rnd.IntN(4) == 0,
						op:    ops[rnd.IntN(len(ops)-2)], // all but the ends
					}
				}
				if got, want := v.plays(steps, nil); !slices.Equal(got, want) {
					i := 0
					for i < min(len(got), len(want)) && got[i] == want[i] {
						i++
					}
					t.Fatalf("schedule %d, from line %d on\ngot\n\t%v\nwant\n\t%v", seed, i, got[i:min(i+3, len(got))], want[i:min(i+3, len(want))])
				}
			}
		})
	}
}
