package debounce

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
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
}

// play takes the steps with the system that build makes. The callback takes
// steps too: inside[i] when it runs for the i-th time.
func play(build func(f func(int)) system, steps []step, inside [][]step) []string {
	var s system
	var trace []string
	value, fired := 0, 0
	log := func(format string, args ...any) {
		trace = append(trace, fmt.Sprintf("%v: ", s.now())+fmt.Sprintf(format, args...))
	}
	take := func(steps []step) {
		for _, st := range steps {
			s.advance(st.gap)
			if !st.early {
				s.settle()
			}
			switch st.op {
			case "call":
				value++
				log("call %d", value)
				s.call(value)
			case "cancel":
				log("cancel %v", s.cancel())
			case "flush":
				log("flush %v", s.flush())
			case "stop":
				log("stop")
				s.stop()
			}
			log("pending %v", s.pending())
			s.settle()
		}
	}
	s = build(func(v int) {
		log("f(%d) begins, pending %v", v, s.pending())
		if fired++; fired <= len(inside) {
			take(inside[fired-1])
		}
		log("f(%d) ends", v)
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

// model is what the documentation says, with no timer: the newest call is due
// wait after it, and a callback under way comes first.
type model struct {
	wait    time.Duration
	f       func(int)
	time    time.Duration
	calls   []int // due when flushed, at deadline otherwise
	flushed int   // how many of calls
	due     time.Duration
	running bool
	stopped bool
}

func (m *model) now() time.Duration { return m.time }
func (m *model) pending() bool      { return len(m.calls) > 0 }

func (m *model) settle() {
	for !m.running && (m.flushed > 0 || len(m.calls) > 0 && m.due <= m.time) {
		v := m.calls[0]
		m.calls, m.flushed = m.calls[1:], max(m.flushed-1, 0)
		m.running = true
		m.f(v)
		m.running = false
	}
}

func (m *model) advance(d time.Duration) {
	end := m.time + d
	if end > m.time {
		m.settle()
	}
	for !m.running && len(m.calls) > 0 && m.due < end {
		m.time = max(m.time, m.due)
		m.settle()
	}
	m.time = max(m.time, end)
}

func (m *model) call(v int) {
	switch {
	case m.stopped:
	case m.wait == 0:
		m.calls = append(m.calls, v)
		m.flushed++
		m.settle()
	default:
		m.calls = append(m.calls[:m.flushed], v)
		m.due = m.time + m.wait
	}
}

func (m *model) cancel() bool {
	had := m.pending()
	m.calls, m.flushed = nil, 0
	return had
}

func (m *model) flush() bool {
	had := m.pending()
	m.flushed = len(m.calls)
	m.settle()
	return had
}

func (m *model) stop() {
	m.cancel()
	m.stopped = true
}

func TestDebouncer_doesAsTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wait := rapid.SampledFrom([]time.Duration{0, 1, 7, 100}).Draw(t, "wait")
		stepGen := rapid.Custom(func(t *rapid.T) step {
			return step{
				gap:   max(rapid.SampledFrom([]time.Duration{0, 1, wait / 2, wait - 1, wait, wait + 1, 3 * wait}).Draw(t, "gap"), 0),
				early: rapid.Bool().Draw(t, "early"),
				op:    rapid.SampledFrom([]string{"call", "call", "call", "call", "call", "cancel", "flush", "idle", "stop"}).Draw(t, "op"),
			}
		})
		steps := rapid.SliceOfN(stepGen, 1, 12).Draw(t, "steps")
		inside := rapid.SliceOfN(rapid.SliceOfN(stepGen, 0, 4), 0, 4).Draw(t, "inside")

		got := play(func(f func(int)) system {
			c := newHandClock()
			return subject{c, New(wait, f, WithClock(c)), c.now}
		}, steps, inside)
		want := play(func(f func(int)) system { return &model{wait: wait, f: f} }, steps, inside)
		if !slices.Equal(got, want) {
			t.Fatalf("wait %v\ngot\n\t%q\nwant\n\t%q", wait, got, want)
		}
	})
}
