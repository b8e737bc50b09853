package suite

import (
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/conformance"
)

// Reads is X-READ, for implementations on an injected clock: each of the schedules is run on a clock that goes on at
// each reading. What comes out of it must also come out where each operation finds the clock at one of its readings
// and that clock stands.
func Reads[T, E any](schedules func(s *Suite) []conformance.Schedule, marks func(rec *Recording) []Mark) Rule[T, E] {
	return Rule[T, E]{
		Rule: conformance.Rule{ID: "X-READ", Level: conformance.Core,
			Text: "An operation that reads the clock more than once MUST decide as it would with one of these " +
				"readings alone: the time between them may be neither lost nor counted twice."},
		Absent: injected[T]("only in a bubble can everything come to rest between steps"),
		Probe: func(p *Probe) (*Violation, string) {
			all := schedules(p.Suite)
			if len(all) == 0 {
				return nil, "it has no operation that decides at once"
			}
			return p.reads(all, marks)
		},
	}
}

func (p *Probe) reads(schedules []conformance.Schedule, marks func(rec *Recording) []Mark) (*Violation, string) {
	moving := make([]readings, len(schedules))
	moved, done := p.runAll(way{schedules, func(i int, j *Job) { j.readings = &moving[i] }})
	stood, also := p.runAll(way{schedules, func(i int, j *Job) { j.readings = &readings{at: moving[i].chosen(0)} }})
	if !done || !also {
		return nil, "a run made no progress"
	}
	for i, rec := range moved {
		if !played(rec) || !played(stood[i]) {
			continue
		}
		got, want := marks(rec), marks(stood[i])
		if moving[i].explains(p, schedules[i], got, want, marks) {
			continue
		}
		return Unlike(rec, want, got, "as when the clock does not move between readings",
			"the clock moved by 1ns at each reading, and no instant that the operations read explains this"), ""
	}
	return nil, ""
}

// explains reports whether what came out, or what is wanted at first, comes out at other readings, too.
func (r *readings) explains(
	p *Probe, s conformance.Schedule, got, want []Mark, marks func(rec *Recording) []Mark,
) bool {
	slack := time.Duration(r.count())
	if same(got, want, slack) {
		return true
	}
	for turn := 1; turn < r.choices(); turn++ {
		at := &readings{at: r.chosen(turn)}
		still, done := p.runAll(way{[]conformance.Schedule{s}, func(_ int, j *Job) { j.readings = at }})
		if !done || !played(still[0]) || same(got, marks(still[0]), slack) {
			return true
		}
	}
	return false
}

// played reports whether a run shows what comes of its schedule.
func played(rec *Recording) bool { return rec.LeftOut == "" && rec.Refused == "" && !rec.Stuck }

// same reports whether marks are alike but for what a clock that goes on adds to their instants.
func same(a, b []Mark, slack time.Duration) bool {
	return slices.EqualFunc(a, b, func(a, b Mark) bool { return a.Text == b.Text && (a.At-b.At).Abs() <= slack })
}

// readings are those of one run: what each operation read of a clock that goes on, or what it is to read of one that
// stands. The first operation is the constructor.
type readings struct {
	mu     sync.Mutex
	at     []time.Duration // what each operation reads; nil if the clock goes on
	seen   [][]time.Duration
	newest time.Duration
}

// read is a reading by an operation, or between two of them if op is negative, when the clock that is read stands at
// base.
func (r *readings) read(op int, base time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.newest = max(r.newest, base)
	switch {
	case op < 0:
	case op < len(r.at):
		r.newest = max(r.newest, r.at[op])
	case r.at == nil:
		r.newest++
		for len(r.seen) <= op {
			r.seen = append(r.seen, nil)
		}
		r.seen[op] = append(r.seen[op], r.newest)
	}
	return r.newest
}

// ahead is how far the clock has gone on.
func (r *readings) ahead(base time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(0, r.newest-base)
}

func (r *readings) count() (n int) {
	for _, op := range r.seen {
		n += len(op)
	}
	return n
}

// Of many readings of an operation some are tried, and of many combinations.
const (
	mostReadings = 3
	mostChoices  = 500
)

// few are the readings of an operation that are tried: the first ones and the last.
func few(all []time.Duration) []time.Duration {
	if len(all) > mostReadings {
		all = append(slices.Clone(all[:mostReadings-1]), all[len(all)-1])
	}
	return all
}

// choices is how many combinations of one reading for each operation there are.
func (r *readings) choices() int {
	n := 1
	for _, op := range r.seen {
		n *= max(1, len(few(op)))
	}
	return min(n, mostChoices)
}

// chosen is one of the combinations.
func (r *readings) chosen(turn int) []time.Duration {
	out := make([]time.Duration, len(r.seen))
	for i, op := range r.seen {
		if all := few(op); len(all) > 0 {
			out[i] = all[turn%len(all)]
			turn /= len(all)
		}
	}
	return out
}

// readClock is the clock of such a run. Its timers are those of the clock that it wraps.
type readClock struct {
	clockwork.Clock
	start time.Time
	rec   *Recorder
	*readings
}

func (c readClock) base() time.Duration { return c.Clock.Now().Sub(c.start) }

// Now is a reading.
func (c readClock) Now() time.Time {
	op := 0
	c.rec.Locked(func(rec *Recording) {
		if op = len(rec.Done); op > 0 && rec.Done[op-1].Ended.Seq != 0 {
			op = -1
		}
	})
	return c.start.Add(c.read(op, c.base()))
}

// Since and Until are readings, too.
func (c readClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
func (c readClock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }

// armed makes of a duration from now on one of the clock that it wraps.
func (c readClock) armed(d time.Duration) (later time.Duration, never bool) {
	if d <= 0 {
		return d, false
	}
	return Sum(d, c.ahead(c.base())), false
}
