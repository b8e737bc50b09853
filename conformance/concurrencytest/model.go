package concurrencytest

import (
	"cmp"
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/model"
	"github.com/escapement-go/escapement/internal/verb"
)

// limiters is the model: every correct concurrency limiter with the same traits.
var limiters = model.Model[*state, string, frame]{
	Init: (*frame).begin,
	Due:  (*state).due,
	Step: (*state).step,
	Free: (*state).free,
	Key:  (*state).key, Words: (*state).words,
	Order: []string{
		"CT-CTXERR", "CT-HOOK", "X-PANIC", "CT-OVERREL", "CT-LIMIT", "CT-WORK", "CT-SEAT",
		"CT-REJECT", "CT-TIE", "CT-TIME", "CT-CTX", "CT-HEAD", "CT-NOGHOST", "CT-RESIZE",
		"CT-CTXPRE", "CT-TIME0", "CT-OVER", "CT-RELEASE", "CT-FIFO",
	},
	Most: 2000,
}

// frame is what all states of a trace share.
type frame struct {
	*trace
	tr       *Traits
	cfg      Config
	demands  []demand
	inForce  func(rule string) bool
	horizons map[model.Event]*horizon
	// foretells says that nothing was observed: the model says what should become of each request.
	foretells bool
}

func newFrame(cfg Config, tr *Traits, t *trace) *frame {
	f := &frame{trace: t, tr: tr, cfg: cfg, horizons: map[model.Event]*horizon{}}
	gone := map[int]bool{}
	for _, g := range t.groups {
		for _, s := range g.steps {
			switch {
			case s.Op == verb.Cancel && s.request < 0:
				gone[s.N] = true
			case comes(s.Op):
				q := demand{request: t.requests[s.request], weight: max(1, s.K), at: g.at}
				q.try = s.Op == verb.Try
				q.gone = gone[s.N] && !q.try && tr.Context != ContextIgnored
				switch {
				case tr.OneAtATime:
					q.weight = 1
				case tr.Oversize == OversizeClamped:
					q.weight = min(q.weight, cfg.Limit)
				}
				if s.D > 0 {
					q.expires = g.at + s.D
				}
				f.demands = append(f.demands, q)
			}
		}
	}
	return f
}

// begin is a limiter to which nothing has come. The slips are mistakes that are made all the time.
func (f *frame) begin(w *ways) {
	n := len(f.demands)
	limit := f.cfg.Limit
	s := &state{frame: f, limit: limit, least: limit, most: limit, backlog: f.cfg.Backlog,
		seatKept: f.tr.SeatHeld == SeatKept, fates: make([]fate, n), notes: make([]note, n)}
	w.To(s)
	slip := func(rule, as string, change func(c *state)) {
		if s.slip(w, rule, as) {
			c := s.clone()
			change(c)
			w.To(c)
		}
	}
	if f.releasedNothing() {
		return // which explains more
	}
	slip("CT-LIMIT", "the limit were one higher", func(c *state) { c.bias = 1 })
	if limit > 1 {
		slip("CT-WORK", "the limit were one lower", func(c *state) { c.bias = -1 })
	}
	if f.cfg.Backlog >= 0 {
		slip("CT-REJECT", "there were one more place", func(c *state) { c.backlog++ })
		slip("CT-REJECT", "there were one place fewer", func(c *state) { c.backlog = max(0, c.backlog-1) })
		slip("CT-REJECT", "any number could wait", func(c *state) { c.backlog = -1 })
		slip("CT-SEAT", "running requests kept their places", func(c *state) { c.seatKept = true })
	}
}

// slip is the slip of a rule, if that judges the run.
func (f *frame) slip(w *ways, rule, as string, args ...any) bool {
	return w.Slips() && f.inForce(rule) && w.Slip(rule, as, args...)
}

// law is the guard of a rule. If the way goes on against it, what should have become of request r is noted, and why.
func (s *state) law(w *ways, rule string, holds bool, r int, want fate, because func(s *state, r int) string) bool {
	if holds || !w.Marks() {
		return w.Law(rule, holds, "", "")
	}
	if !s.inForce(rule) { // it does not judge the run
		if rule = "CT-WORK"; want.outside() == fateFull || !s.inForce(rule) {
			rule = "CT-CONV"
		}
	}
	why := because(s, r)
	s.wrong = append(slices.Clip(s.wrong), wrong{r, want.outside(), why})
	return w.Law(rule, false, wants[want.outside()], "%s", why)
}

var wants = map[fate]string{
	fateNone: "it to wait or be rejected", fateWaits: "it to wait",
	fateRuns: "it to run", fateFull: "it to be rejected",
}

// events are the trace in the terms of the model: what was decided between two groups, though nothing that the suite
// did can have brought it about, has an instant of its own.
func (f *frame) events() (out []model.Event) {
	var alone []conformance.Mark // when something was decided, in order
	for _, q := range f.requests {
		alone = append(alone, q.decided)
	}
	slices.SortFunc(alone, func(a, b conformance.Mark) int { return cmp.Compare(a.Seq, b.Seq) })
	for n, g := range f.groups {
		if g.settled.Seq == 0 {
			return out // the run got stuck here
		}
		for len(alone) > 0 && alone[0].Seq < g.settled.Seq {
			if at := alone[0]; at.Seq > 0 && at.Seq < g.began.Seq && !(g.racing && at.At == g.at) {
				out = append(out, model.Event{Kind: model.Instant, At: at.At, N: n},
					model.Event{Kind: model.Settled, At: at.At, N: n})
			}
			alone = alone[1:]
		}
		if len(g.steps) == 0 {
			out = append(out, model.Event{Kind: model.Instant, At: g.at, N: n, I: ofGroup, Racing: g.racing})
		}
		for i := range g.steps {
			out = append(out, model.Event{Kind: model.Call, At: g.at, N: n, I: i, Racing: g.racing})
		}
		out = append(out, model.Event{Kind: model.Settled, At: g.at, N: n, Racing: g.racing})
	}
	return out
}

// ofGroup is the number of the event with which a group without steps begins.
const ofGroup = -1

// horizon is what is observed when the group of an event has settled.
func (f *frame) horizon(e model.Event) *horizon {
	e.I = min(e.I, 0)
	if h := f.horizons[e]; h != nil {
		return h
	}
	g := f.groups[e.N]
	h := &horizon{group: g, fates: make([]fate, len(f.demands)), cancels: make([]bool, len(f.demands)), hooks: -1}
	until := g.began.Seq
	if e.Kind == model.Call || e.I == ofGroup {
		until = g.settled.Seq
		if !f.foretells && (f.tr.Hook == HookOnce || f.tr.Hook == HookFits) {
			before := func(m conformance.Mark) bool { return m.Seq < until }
			h.hooks = len(f.hooks) - len(slices.DeleteFunc(slices.Clone(f.hooks), before))
		}
		for _, s := range g.steps {
			if s.Op == verb.Cancel && s.request >= 0 && f.cancels(s.request) {
				h.cancels[s.request] = true
			}
		}
	}
	for r := range h.fates {
		switch q := f.demands[r]; {
		case f.foretells: // whatever is right
		case q.decided.Seq == 0 || q.decided.Seq > until || q.decided.At > e.At:
			h.fates[r] = fateWaits
		case q.admitted:
			h.fates[r] = fateRuns
		default:
			h.fates[r] = fateFull
		}
	}
	f.horizons[e] = h
	return h
}

// cancels reports whether a request hears that its context is cancelled.
func (f *frame) cancels(r int) bool { return f.tr.Context != ContextIgnored && !f.demands[r].patient }

// step goes on with an event.
func (s *state) step(e model.Event, w *ways) {
	c := s
	if e.Kind == model.Instant || e.Kind == model.Call && e.I == 0 {
		c = s.enter(e)
	}
	switch e.Kind {
	case model.Instant:
		w.To(c)
	case model.Call:
		c.do(c.groups[e.N].steps[e.I], w)
	case model.Settled:
		s.settle(w)
	}
}

// enter begins a group.
func (s *state) enter(e model.Event) *state {
	c := s.pends(nil)
	c.at, c.seen = e.At, s.horizon(e)
	if e.Kind == model.Call && !e.Racing {
		return c
	}
	for r, f := range c.fates {
		if ends := c.ends(r); f == fateWaits {
			if ends[0] == e.At {
				c.pending = append(c.pending, occurrence{kind: isCancelled, r: r})
			}
			if ends[1] == e.At {
				c.pending = append(c.pending, occurrence{kind: expires, r: r})
			}
		}
	}
	return c
}
