package concurrencytest

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
)

// fate is what has become of a request.
type fate byte

const (
	fateNone   fate = iota
	fateWaits       // in the backlog, or for ever
	fateRuns        // holds its slots
	fateLeft        // has released them
	fateFull        // rejected: the backlog was full
	fateLate        // rejected: the timeout ran out
	fateGone        // rejected: its context was done
	fateTooBig      // rejected: more than the limit
)

// outside returns the fate as it looks to those who see answers only.
func (f fate) outside() fate {
	switch f {
	case fateLeft:
		return fateRuns
	case fateLate, fateGone, fateTooBig:
		return fateFull
	}
	return f
}

// state is one state that a concurrency limiter may be in. States are not changed once they
// are made.
type state struct {
	limit, used int
	fates       []fate
	queue       []int  // who waits, in the order of arrival
	kept        []bool // runs after it waited, and so may hold a place in the backlog
	fresh       []bool // got its slots in this group, and may not have noticed yet
	lag         int    // how many left the backlog in this group, and may still hold a place
}

func (s *state) clone() *state {
	c := *s
	c.fates, c.queue = slices.Clone(s.fates), slices.Clone(s.queue)
	c.kept, c.fresh = slices.Clone(s.kept), slices.Clone(s.fresh)
	return &c
}

func (s *state) equal(o *state) bool {
	return s.limit == o.limit && s.used == o.used && s.lag == o.lag && slices.Equal(s.fates, o.fates) &&
		slices.Equal(s.queue, o.queue) && slices.Equal(s.kept, o.kept)
}

// demand is what the model knows of a request.
type demand struct {
	weight  int
	at      time.Duration
	expires time.Duration // when its context is done by itself, never if 0
	try     bool
	handler bool
	gone    bool // its context was cancelled before it came
}

// demanded returns the request of a step that is done at an instant.
func demanded(s conformance.Step, at time.Duration, gone, handler bool) demand {
	q := demand{weight: max(1, s.K), at: at, try: s.Op == conformance.OpTry, gone: gone, handler: handler}
	if s.D > 0 {
		q.expires = at + s.D
	}
	return q
}

// model says what may become of the requests of a schedule. Where the order of things is
// open, it holds every state to which some order leads.
type model struct {
	backlog  int           // -1: no bound
	timeout  time.Duration // -1: none
	fifo     bool
	barge    bool // a try may overtake those that wait
	seatKept bool
	bigWaits bool
	noCtx    bool
	ctxLate  bool // a context that is cancelled before the request comes matters only if it must wait

	demands []demand
	states  []*state
	at      time.Duration
	bias    int   // added to every limit, to find out whether that explains a run
	dropped []int // who is rejected by the resize of this group, as more than the limit
}

// event is something that happens at some moment of a group.
type event struct {
	kind eventKind
	r    int
}

type eventKind byte

const (
	eventArrive eventKind = iota
	eventExpire
	eventGone
	eventRelease
	eventAdmit
)

func newModel(cfg Config, traits *Traits) *model {
	return &model{
		backlog: cfg.Backlog, timeout: cfg.Timeout,
		fifo: traits.Fair == FairFIFO, barge: traits.TryOvertakes, seatKept: traits.SeatHeld == SeatKept,
		bigWaits: traits.Oversize == OversizeBlocks,
		noCtx:    traits.Context == ContextIgnored, ctxLate: traits.Context == ContextEndsWait,
		states: []*state{{limit: cfg.Limit}},
	}
}

// pass lets time pass up to at, by way of each instant at which something is due, and
// including at itself if settled is set. After each of them it calls look, and stops when
// that returns false.
func (m *model) pass(at time.Duration, settled bool, look func(instant time.Duration) bool) bool {
	for {
		next, found := at, settled
		for _, s := range m.states {
			for _, r := range s.waiting() {
				for _, due := range m.due(r) {
					if due > m.at && due < next {
						next, found = due, true
					}
				}
			}
		}
		if !found || next <= m.at {
			m.at = at
			return true
		}
		m.at = next
		m.group(nil, m.dueAt(next))
		if !look(next) {
			return false
		}
		if next == at {
			return true
		}
	}
}

// waiting lists the requests that wait, including those that can never run.
func (s *state) waiting() []int {
	var out []int
	for r, f := range s.fates {
		if f == fateWaits {
			out = append(out, r)
		}
	}
	return out
}

// due lists the instants at which the wait of r ends by itself.
func (m *model) due(r int) []time.Duration {
	var out []time.Duration
	q := m.demands[r]
	if m.timeout >= 0 {
		out = append(out, q.at+m.timeout)
	}
	if q.expires > 0 && !m.noCtx {
		out = append(out, q.expires)
	}
	return out
}

// dueAt lists what is due at an instant.
func (m *model) dueAt(at time.Duration) []event {
	var out []event
	waits := func(r int) bool {
		return slices.ContainsFunc(m.states, func(s *state) bool { return s.fates[r] == fateWaits })
	}
	for r, q := range m.demands {
		if !waits(r) {
			continue
		}
		if m.timeout >= 0 && q.at+m.timeout == at {
			out = append(out, event{eventExpire, r})
		}
		if q.expires == at && q.expires > 0 && !m.noCtx {
			out = append(out, event{eventGone, r})
		}
	}
	return out
}

// group lets steps be done in their order, and events in any order among them, including
// those that the steps bring.
func (m *model) group(steps []conformance.Step, events []event) {
	var out []*state
	for _, s := range m.states {
		begin := s.clone()
		begin.lag = 0
		clear(begin.fresh)
		m.walk(begin, steps, events, &out)
	}
	m.states = out
}

func (m *model) walk(s *state, steps []conformance.Step, events []event, out *[]*state) {
	if len(steps) == 0 && len(events) == 0 && m.quiet(s) {
		if !slices.ContainsFunc(*out, s.equal) {
			*out = append(*out, s)
		}
		if m.fifo {
			return
		}
	}
	if len(steps) > 0 {
		next, more := m.do(s, steps[0])
		m.walk(next, steps[1:], append(slices.Clone(events), more...), out)
	}
	for i, e := range events {
		for _, next := range m.happen(s, e) {
			m.walk(next, steps, slices.Delete(slices.Clone(events), i, i+1), out)
		}
	}
	if !m.fifo {
		for _, r := range s.queue {
			if m.demands[r].weight <= s.limit-s.used {
				for _, next := range m.happen(s, event{eventAdmit, r}) {
					m.walk(next, steps, events, out)
				}
			}
		}
	}
}

// newlyHeavy lists the requests that may wait and would be more than a new limit; ok says that
// none of them is more than the limit as it is.
func (m *model) newlyHeavy(limit int) (heavy []int, ok bool) {
	for _, s := range m.states {
		for _, r := range s.waiting() {
			switch w := m.demands[r].weight; {
			case w > s.limit:
				return nil, false
			case w > limit+m.bias && !slices.Contains(heavy, r):
				heavy = append(heavy, r)
			}
		}
	}
	return heavy, true
}

// quiet reports whether no request need be admitted. Where the order is open it is enough
// that one of those that wait does not fit, as it may be the next in turn.
func (m *model) quiet(s *state) bool {
	blocked := func(r int) bool { return m.demands[r].weight > s.limit-s.used }
	return m.fifo || len(s.queue) == 0 || slices.ContainsFunc(s.queue, blocked)
}

// do does a step, and returns what it brings about.
func (m *model) do(s *state, st conformance.Step) (*state, []event) {
	switch st.Op {
	case conformance.OpAcquire, conformance.OpTry, conformance.OpDo:
		return s, []event{{eventArrive, st.N}}
	case conformance.OpCancel:
		return s, []event{{eventGone, st.N}}
	case conformance.OpResize:
		c := s.clone()
		c.limit = st.N + m.bias
		for _, r := range m.dropped {
			if i := slices.Index(c.queue, r); i >= 0 {
				c.fates[r], c.queue = fateTooBig, slices.Delete(c.queue, i, i+1)
				c.lag++
			}
		}
		return m.admit(c), nil
	case conformance.OpRelease, conformance.OpPanic, conformance.OpExit:
		if m.demands[st.N].handler {
			return s, []event{{eventRelease, st.N}}
		}
		return m.happen(s, event{eventRelease, st.N})[0], nil
	}
	return s, nil
}

// happen returns the states to which an event may lead.
func (m *model) happen(s *state, e event) []*state {
	q := m.demands[e.r]
	c := s.clone()
	switch e.kind {
	case eventArrive:
		return m.arrive(c, e.r)
	case eventExpire, eventGone:
		if e.kind == eventGone && s.fates[e.r] == fateNone && !m.noCtx {
			c.fates[e.r] = fateGone // before it came
			return []*state{c}
		}
		if s.fates[e.r] == fateRuns && s.fresh[e.r] && !(e.kind == eventGone && m.noCtx) {
			// It may find both its slots and its context done, and then give the slots to
			// the next.
			c.fates[e.r], c.kept[e.r] = fateGone, false
			c.used -= q.weight
			return []*state{s, m.admit(c)}
		}
		if s.fates[e.r] != fateWaits || e.kind == eventGone && m.noCtx {
			return []*state{s}
		}
		c.fates[e.r] = fateLate
		if e.kind == eventGone {
			c.fates[e.r] = fateGone
		}
		if i := slices.Index(c.queue, e.r); i >= 0 {
			c.queue = slices.Delete(c.queue, i, i+1)
			c.lag++
		}
	case eventRelease:
		if s.fates[e.r] != fateRuns {
			return []*state{s}
		}
		c.fates[e.r], c.kept[e.r] = fateLeft, false
		c.used -= q.weight
	case eventAdmit:
		m.run(c, e.r)
	}
	return []*state{m.admit(c)}
}

// arrive lets request r come. If its context is done already and it would be rejected anyhow, both reasons are right.
func (m *model) arrive(c *state, r int) []*state {
	q := m.demands[r]
	if gone := c.fates[r] == fateGone || q.gone && !m.noCtx && !q.try; !gone {
		return m.enter(c, r)
	}
	out := slices.DeleteFunc(m.enter(c.clone(), r), func(s *state) bool {
		f := s.fates[r]
		return f.outside() != fateFull && !(f == fateRuns && m.ctxLate)
	})
	c.fates[r] = fateGone
	return append(out, c)
}

// enter lets request r come, whose context is not done.
func (m *model) enter(c *state, r int) []*state {
	q := m.demands[r]
	end := func(f fate) []*state {
		c.fates[r] = f
		return []*state{c}
	}
	if q.weight > c.limit {
		if m.bigWaits && !q.try {
			if m.timeout == 0 {
				return end(fateLate)
			}
			return end(fateWaits)
		}
		return end(fateTooBig)
	}
	var out []*state
	if c.used+q.weight <= c.limit {
		if len(c.queue) == 0 {
			c.used += q.weight
			c.fresh[r] = !q.try
			return end(fateRuns)
		}
		if m.mayOvertake(q) {
			runs := c.clone()
			runs.used += q.weight
			runs.fates[r] = fateRuns
			out = append(out, runs)
		}
	}
	if q.try {
		return append(out, end(fateFull)...)
	}
	seats := len(c.queue)
	for _, kept := range c.kept {
		if kept && m.seatKept {
			seats++
		}
	}
	if m.backlog >= 0 && seats+c.lag >= m.backlog {
		full := c.clone()
		full.fates[r] = fateFull
		out = append(out, full)
		if seats >= m.backlog {
			return out
		}
	}
	if m.timeout == 0 {
		return append(out, end(fateLate)...)
	}
	c.queue = append(c.queue, r)
	return append(out, end(fateWaits)...)
}

// mayOvertake reports whether a request may get free slots though others wait.
func (m *model) mayOvertake(q demand) bool { return !m.fifo || q.try && m.barge }

// admit lets requests run whose turn it is, where the order is given.
func (m *model) admit(c *state) *state {
	for m.fifo && len(c.queue) > 0 && m.demands[c.queue[0]].weight <= c.limit-c.used {
		m.run(c, c.queue[0])
	}
	return c
}

// run admits r from the backlog.
func (m *model) run(c *state, r int) {
	c.queue = slices.DeleteFunc(c.queue, func(o int) bool { return o == r })
	c.fates[r], c.kept[r], c.fresh[r] = fateRuns, true, true
	c.used += m.demands[r].weight
	c.lag++
}

// add makes a request known that has not come yet.
func (m *model) add(q demand) int {
	m.demands = append(m.demands, q)
	for _, s := range m.states {
		s.fates = append(s.fates, fateNone)
		s.kept = append(s.kept, false)
		s.fresh = append(s.fresh, false)
	}
	return len(m.demands) - 1
}
