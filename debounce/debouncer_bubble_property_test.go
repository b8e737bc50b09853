//go:build go1.25

package debounce

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/escapement-go/escapement/internal/prove"
	"pgregory.net/rapid"
)

// behaviour is what a callback does: it calls first, takes its time, calls again.
type behaviour struct {
	first, last bool
	takes       time.Duration
}

// timeline is the Debouncer as its documentation has it, in virtual time and
// with any number of goroutines: what blocks is a function to be run later.
type timeline struct {
	wait    time.Duration
	does    []behaviour
	fired   int
	now     time.Duration
	lines   []string
	stopped bool

	pending bool
	value   int
	due     time.Duration
	queue   []*flushed

	running *flushed // the job under way
	doing   behaviour
	end     time.Duration
	idle    []func() // to be done when nothing runs any more
}

type flushed struct {
	value int
	known []func(ran bool)
}

func (m *timeline) log(format string, args ...any) {
	m.lines = append(m.lines, fmt.Sprintf("%v: ", m.now)+fmt.Sprintf(format, args...))
}

func (m *timeline) call(v int) {
	switch {
	case m.stopped:
	case m.wait == 0:
		m.queue = append(m.queue, &flushed{value: v})
	default:
		m.pending, m.value, m.due = true, v, m.now+m.wait
	}
}

func (m *timeline) cancel() bool {
	found := m.pending || len(m.queue) > 0
	for _, j := range m.queue {
		for _, f := range j.known {
			f(false)
		}
	}
	m.pending, m.queue = false, nil
	return found
}

func (m *timeline) do(op string, v int) {
	switch op {
	case "call":
		m.call(v)
	case "cancel":
		m.log("cancel %v", m.cancel())
	case "pending":
		m.log("pending %v", m.pending || len(m.queue) > 0)
	case "stop":
		m.stopped = true
		m.cancel()
		m.idle = append(m.idle, func() { m.log("stopped") })
	case "flush":
		if m.pending {
			m.queue, m.pending = append(m.queue, &flushed{value: m.value}), false
		}
		done := func(ran bool) { m.log("flush %v", ran) }
		switch {
		case len(m.queue) == 0:
			done(false)
		case m.running == nil: // on the caller's goroutine, with all that follows
			m.idle = append(m.idle, func() { done(true) })
		default:
			last := m.queue[len(m.queue)-1]
			last.known = append(last.known, done)
		}
	}
	m.advance(m.now)
}

// advance does all that is due until to.
func (m *timeline) advance(to time.Duration) {
	for {
		switch {
		case m.running != nil && m.end > to:
			m.now = to
			return
		case m.running != nil:
			m.now = m.end
			if m.doing.last {
				m.call(m.running.value + 1000)
			}
			m.log("f(%d) ends", m.running.value)
			for _, f := range m.running.known {
				f(true)
			}
			m.running = nil
		case m.pending && m.due <= m.now:
			m.pending = false
			m.queue = append(m.queue, &flushed{value: m.value})
		case len(m.queue) > 0:
			m.fire(m.queue[0])
			m.queue = m.queue[min(1, len(m.queue)):]
		default:
			for _, f := range m.idle {
				f()
			}
			m.idle = nil
			if !m.pending || m.due > to {
				m.now = to
				return
			}
			m.now = m.due
		}
	}
}

func (m *timeline) fire(j *flushed) {
	m.log("f(%d) begins", j.value)
	m.running, m.doing = j, behaviour{}
	if m.fired < len(m.does) {
		m.doing = m.does[m.fired]
	}
	m.fired++
	m.end = m.now + m.doing.takes
	if m.doing.first {
		m.call(j.value + 500)
	}
}

// observe does the same with a Debouncer on the time of a bubble, each step on a
// goroutine of its own.
func observe(wait time.Duration, steps []step, does []behaviour) []string {
	j := newJournal()
	fired := 0 // callbacks are serial
	var d *Debouncer[int]
	d = New(wait, func(v int) {
		j.log("f(%d) begins", v)
		var b behaviour
		if fired < len(does) {
			b = does[fired]
		}
		fired++
		if b.first {
			d.Call(v + 500)
		}
		time.Sleep(b.takes)
		if b.last {
			d.Call(v + 1000)
		}
		j.log("f(%d) ends", v)
	})
	var wg sync.WaitGroup
	for i, st := range steps {
		settle(st.gap)
		wg.Add(1)
		go func() {
			defer wg.Done()
			switch st.op {
			case "call":
				d.Call(i)
			case "cancel":
				j.log("cancel %v", d.Cancel())
			case "pending":
				j.log("pending %v", d.Pending())
			case "flush":
				j.log("flush %v", d.Flush())
			case "stop":
				d.Stop()
				j.log("stopped")
			}
		}()
		synctest.Wait()
	}
	settle(time.Hour)
	wg.Wait()
	return j.lines
}

// Against virtual time, with callbacks that take theirs: what comes while one is
// running waits for it, and who should wait does.
func TestDebouncer_doesAsTheTimeline(t *testing.T) {
	prove.SameSeed(t)
	rapid.Check(t, func(rt *rapid.T) {
		wait := rapid.SampledFrom([]time.Duration{0, 1, 7, 100}).Draw(rt, "wait")
		gap := rapid.SampledFrom([]time.Duration{0, 1, wait / 2, max(wait-1, 0), wait, wait + 1, 3 * wait})
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{
				gap: gap.Draw(t, "gap"),
				op:  rapid.SampledFrom([]string{"call", "call", "call", "call", "call", "call", "cancel", "flush", "flush", "pending", "stop"}).Draw(t, "op"),
			}
		}), 1, 15).Draw(rt, "steps")
		does := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) behaviour {
			return behaviour{rapid.Bool().Draw(t, "first"), rapid.Bool().Draw(t, "last"), gap.Draw(t, "takes")}
		}), 0, 6).Draw(rt, "does")

		m := &timeline{wait: wait, does: does}
		for i, st := range steps {
			m.advance(m.now + st.gap)
			m.do(st.op, i)
		}
		m.advance(m.now + time.Hour)

		var got []string
		synctest.Test(t, func(*testing.T) { got = observe(wait, steps, does) })
		slices.Sort(got) // the order within an instant is free
		slices.Sort(m.lines)
		if !slices.Equal(got, m.lines) {
			rt.Fatalf("wait %v\ngot\n\t%q\nwant\n\t%q", wait, got, m.lines)
		}
	})
}
