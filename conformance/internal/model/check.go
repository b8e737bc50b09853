package model

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"time"
)

// Result is what a check has found.
type Result[S any] struct {
	// Marks are the laws that the trace breaks, in the order in which they are first broken: the fewest
	// that explain it. They are empty if it breaks none.
	Marks []Mark
	// Seen are the laws that are refused where the trace first leaves the model, and State is the state that
	// comes nearest to what was seen then. They are set if Marks are.
	Seen  []Mark
	State S
	// At is the instant at which the trace first leaves the model, and N that of the settled event.
	At time.Duration
	N  int
	// Judged are the guards that were asked on a way that goes to the end.
	Judged []string
	// Open is why nothing is judged from some point on, "" if everything is.
	Open string
	// Failed says in words why there is no result.
	Failed string
	// End are the states at the end of a trace that breaks no law.
	End []S
}

// Check follows a trace. Its last event must be Settled.
func Check[S any, K comparable, T any](m Model[S, K, T], t *T, trace []Event) Result[S] {
	c := &check[S, K, T]{m: m, t: t, trace: trace, ways: Ways[S]{guards: &guards{laws: slices.Clone(m.Order)}},
		index: map[poolKey[K]]int{}}
	if c.m.Most == 0 {
		c.m.Most = most
	}
	end, left := c.follow(0, false)
	r := Result[S]{Failed: c.failed}
	if left == nil || r.Failed != "" {
		asked := uint64(0)
		for _, w := range end {
			r.End, asked = append(r.End, w.state), asked|w.judged
		}
		r.Judged, r.Open = c.names(asked), opened(end)
		return r
	}
	c.nearest(left, &r)
	c.explain(&r)
	return r
}

// check is one check of a trace.
type check[S any, K comparable, T any] struct {
	m      Model[S, K, T]
	t      *T
	trace  []Event
	ways   Ways[S]
	index  map[poolKey[K]]int // of the pools, one after the other
	room   [2][]way[S]        // of their ways, in turn: those of an event are made from those of the one before it
	failed string
}

// group is a part of a trace that ends with Settled.
type group[S any] struct {
	events []Event
	number int
	from   []way[S]
}

// mostOfSlips is how many states may explain a trace that leaves the model: of more, the laws are told where it does.
const mostOfSlips = 400

// extra is how many more laws than before a group may break.
const extra = 4

// follow follows the trace on all ways that break no more laws than most, and returns where they end. If none
// goes on in a group it returns that group, or lets more laws be broken in it if slips are followed, which show
// later.
func (c *check[S, K, T]) follow(most int, slips bool) (end []way[S], left *group[S]) {
	c.ways.slips, c.ways.most, c.ways.group, c.ways.at = slips, most, 0, 0
	c.ways.begin(way[S]{})
	c.m.Init(c.t, &c.ways)
	ways := slices.Clone(c.ways.out)
	for i, now := 0, time.Duration(-1); i < len(c.trace); {
		c.ways.group++
		g := &group[S]{from: ways, number: c.ways.group}
		g.events = c.next(i, now, ways)
		if c.ways.most = max(most, fewest(ways)); !slips {
			c.ways.most = most
		}
		ways = c.through(g)
		for more := 0; len(ways) == 0 && c.failed == "" && slips && more < extra; more++ {
			c.ways.most++
			ways = c.through(g)
		}
		switch {
		case c.failed != "":
			return nil, nil
		case len(ways) == 0:
			return nil, g
		}
		ways = c.keep(ways, most)
		now = g.events[0].At
		if &g.events[0] == &c.trace[i] { // else it was put before the next one
			i += len(g.events)
		}
	}
	return ways, nil
}

// next returns the events of the next group: those from i on, or an instant before them at which something is due.
func (c *check[S, K, T]) next(i int, now time.Duration, ways []way[S]) []Event {
	e := c.trace[i]
	if at, ok := c.due(ways, now); ok && (at < e.At || at == e.At && !e.Racing && e.Kind == Call) {
		return []Event{{Kind: Instant, At: at, N: e.N, I: e.I}, {Kind: Settled, At: at, N: e.N, I: e.I}}
	}
	end := i + slices.IndexFunc(c.trace[i:], func(e Event) bool { return e.Kind == Settled })
	return c.trace[i : end+1]
}

// due returns the next instant at which something may happen by itself on one of the ways.
func (c *check[S, K, T]) due(ways []way[S], now time.Duration) (next time.Duration, ok bool) {
	for i := range ways {
		if ways[i].open != "" {
			continue
		}
		if at, due := c.m.Due(ways[i].state); due && at > now && (!ok || at < next) {
			next, ok = at, true
		}
	}
	return next, ok
}

// through follows a group. What it returns stays until the next group is followed.
func (c *check[S, K, T]) through(g *group[S]) []way[S] {
	ways := g.from
	for i, e := range g.events {
		c.ways.at = e.At
		room := &c.room[i%2]
		next := pool[S, K]{ways: (*room)[:0], index: c.index}
		clear(c.index)
		for _, from := range ways {
			if from.open != "" {
				next.add(from, c.m.Key)
				continue
			}
			c.ways.begin(from)
			c.m.Step(from.state, e, &c.ways)
			for _, to := range c.ways.out {
				next.add(to, c.m.Key)
			}
		}
		if e.Kind != Settled && c.m.Free != nil {
			c.free(&next)
		}
		*room = next.ways
		if ways = next.all(); c.failed != "" {
			return nil
		}
	}
	return ways
}

// free adds to a pool all to which its states may lead unseen.
func (c *check[S, K, T]) free(p *pool[S, K]) {
	for i := 0; i < len(p.ways); i++ {
		if p.ways[i].gone || p.ways[i].open != "" {
			continue
		}
		c.ways.begin(p.ways[i])
		c.m.Free(p.ways[i].state, &c.ways)
		for _, to := range c.ways.out {
			p.add(to, c.m.Key)
		}
		if len(p.ways) > c.m.Most {
			c.failed = fmt.Sprintf("more than %d states at %s, one of them: %s",
				c.m.Most, c.ways.at, c.m.Words(p.ways[i].state))
			return
		}
	}
}

// keep drops ways that break more laws than others do and than most.
func (c *check[S, K, T]) keep(ways []way[S], most int) []way[S] {
	least := max(most, fewest(ways))
	var out []way[S]
	for i := range ways {
		if bits.OnesCount64(ways[i].laws) <= least {
			out = append(out, ways[i])
		}
	}
	return out
}

// nearest finds what a trace shows where it first leaves the model: which guards refuse it, without slips.
func (c *check[S, K, T]) nearest(g *group[S], r *Result[S]) {
	c.ways.slips, c.ways.group = false, g.number
	for c.ways.most = 1; c.ways.most <= extra; c.ways.most++ {
		if ways := c.through(g); len(ways) > 0 {
			best := slices.MinFunc(ways, better[S])
			r.Seen, r.State = best.list(), best.state
			break
		}
	}
	last := g.events[len(g.events)-1]
	r.At, r.N = last.At, last.N
	if len(r.Seen) == 0 && c.failed == "" {
		c.failed = "the model has no way on, be it against its laws"
	}
	r.Failed = c.failed
}

// explain finds the fewest laws that, broken, make the whole trace possible. If there are too many states for that
// the laws are those where it first leaves the model.
func (c *check[S, K, T]) explain(r *Result[S]) {
	if r.Failed != "" {
		return
	}
	r.Marks = r.Seen
	c.m.Most = min(c.m.Most, mostOfSlips)
	end, left := c.follow(1, true)
	if c.failed != "" || left != nil {
		return
	}
	w := c.best(end)
	r.Marks, r.Open, r.Judged = w.list(), w.open, c.names(w.judged)
}

// best is the way that explains a trace. Where steps race it is one that breaks as few laws as others, as seldom, and
// later: where orders are chance one of them keeps to what was seen for longer. A slip is better the earlier it is.
func (c *check[S, K, T]) best(ways []way[S]) *way[S] {
	slices.SortStableFunc(ways, better[S])
	best := &ways[0]
	if best.slipped || !slices.ContainsFunc(c.trace, func(e Event) bool { return e.Racing }) {
		return best
	}
	for i := range ways {
		w := &ways[i]
		laws := bits.OnesCount64(w.laws) == bits.OnesCount64(best.laws)
		if laws && w.marked == best.marked && !w.slipped && w.first > best.first {
			best = w
		}
	}
	return best
}

// better compares ways: by the number of laws that they break, and how often; then one that begins
// earlier explains more of what follows.
func better[S any](a, b way[S]) int {
	return cmp.Or(
		cmp.Compare(bits.OnesCount64(a.laws), bits.OnesCount64(b.laws)),
		cmp.Compare(a.marked, b.marked), cmp.Compare(a.first, b.first), cmp.Compare(a.laws, b.laws))
}

// mark marks a way with a law, and reports whether it goes on.
func (w *Ways[S]) mark(bit uint64, id, want, because string, args []any) bool {
	if bits.OnesCount64(w.next.laws|bit) > w.most {
		w.next = w.from
		return false
	}
	if w.next.laws == 0 {
		w.next.first = w.group
	}
	w.next.laws |= bit
	w.next.marked++
	if len(args) > 0 {
		because = fmt.Sprintf(because, args...)
	}
	w.next.marks = &mark{Mark{Law: id, At: w.at, Want: want, Because: because}, w.next.marks}
	return true
}

// list returns the first mark of each law, in their order.
func (w *way[S]) list() []Mark {
	var out []Mark
	for m := w.marks; m != nil; m = m.before {
		same := func(o Mark) bool { return o.Law == m.Law }
		out = append(slices.DeleteFunc(out, same), m.Mark)
	}
	slices.Reverse(out)
	return out
}

// fewest is the smallest number of laws that one of the ways breaks.
func fewest[S any](ways []way[S]) int {
	least := 64
	for i := range ways {
		least = min(least, bits.OnesCount64(ways[i].laws))
	}
	return least
}

// opened is why nothing is judged any more, if that is so on all ways.
func opened[S any](ways []way[S]) (why string) {
	for i := range ways {
		if why = ways[i].open; why == "" {
			return ""
		}
	}
	return why
}

// names lists the laws of a set.
func (c *check[S, K, T]) names(set uint64) (out []string) {
	for i, law := range c.ways.laws {
		if set&(1<<i) != 0 {
			out = append(out, law)
		}
	}
	return out
}

// pool is a set of ways, of which those with one state that break the same laws are one.
type pool[S any, K comparable] struct {
	ways  []way[S]
	index map[poolKey[K]]int
	gone  int
}

type poolKey[K comparable] struct {
	state K
	laws  uint64
	open  bool
}

// add adds a way. As long as there is only one no key is needed.
func (p *pool[S, K]) add(w way[S], key func(S) K) {
	keyOf := func(w *way[S]) poolKey[K] { return poolKey[K]{key(w.state), w.laws, w.open != ""} }
	if len(p.ways) == 1 {
		p.index[keyOf(&p.ways[0])] = 0
	}
	if len(p.ways) > 0 {
		k := keyOf(&w)
		if i, known := p.index[k]; known {
			old := &p.ways[i]
			if better(w, *old) >= 0 {
				old.judged |= w.judged
				return
			}
			old.gone = true
			p.gone++
		}
		p.index[k] = len(p.ways)
	}
	p.ways = append(p.ways, w)
}

// all lists the ways.
func (p *pool[S, K]) all() []way[S] {
	if p.gone == 0 {
		return p.ways
	}
	return slices.DeleteFunc(p.ways, func(w way[S]) bool { return w.gone })
}
