package sched

// What happened so far is told apart by a number in which the order of operations counts only where they
// meet: each goroutine has a number that stands for what it did and for all that it depends on, each
// object one for what was done to it. Orders that differ only in what does not meet come to the same sum, and
// to the same state, so that one of them needs to be explored beyond it.
//
// That holds for programs without data races. To be careful with those that have some, a goroutine also meets
// the object of its next operation when it comes to the point before that: what it reads before it takes a lock
// may differ with what others did under the lock.

// history is what was done to an object.
type history struct {
	before uint64
	since  uint64 // a sum of what was done after that, all of one kind: its order does not count
	kind   kind
}

// kind is what operations have in common that commute: on the same object, either order lets both return the same, and
// leaves the same behind.
type kind uint8

// The kinds. Everything else commutes with nothing.
const (
	reading  kind = iota + 1 // leaves all as it was
	counting                 // down, with no answer: what comes below zero in one order does so in the other
	entering                 // beside others; whether that has to wait does not depend on them
	leaving
)

var kinds = map[string]kind{
	"len": reading, "atomic.Load": reading, "Map.Load": reading, "WaitGroup.Wait": reading,
	"WaitGroup.Done": counting,
	"RWMutex.RLock":  entering, "RWMutex.TryRLock": entering,
	"RWMutex.RUnlock": leaving, "after RWMutex.RUnlock": leaving,
}

// met returns the number that stands for what an operation of a kind depends on.
func (h *history) met(k kind) uint64 {
	if k != 0 && k == h.kind {
		return h.before
	}
	return mix(h.before, h.since)
}

// add adds an operation.
func (h *history) add(k kind, hash uint64) {
	switch {
	case k == 0:
		*h = history{before: hash}
	case k == h.kind:
		h.since += hash
	default:
		*h = history{h.met(k), hash, k}
	}
}

// mix returns a number that stands for a and then b.
func mix(a, b uint64) uint64 {
	h := (a ^ b*0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd
	h ^= h >> 32
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>29
}

// of returns the history of an object. One that is new needs no number of its own: which one it is follows from what
// the goroutine did that uses it.
func (r *Run) of(object any) *history {
	h := r.objects[object]
	if h == nil {
		h = &history{before: 1}
		r.objects[object] = h
	}
	return h
}

// arrives lets g meet what its next operation is about. The mu of r is held.
func (r *Run) arrives(g *G) {
	for object := range g.op.objects {
		g.hash = mix(g.hash, r.of(object).before)
	}
}

// after returns the number of g when it has done its operation.
func (r *Run) after(g *G) uint64 {
	hash := mix(mix(g.hash, g.op.place), uint64(r.now()))
	if g.op.idle {
		hash = mix(hash, r.sum())
	}
	for object := range g.op.objects {
		hash = mix(hash, r.of(object).met(g.op.kind))
	}
	return hash
}

// objects are what the operation is about.
func (op *Op) objects(yield func(any) bool) {
	if op.Object != nil && !yield(op.Object) {
		return
	}
	for _, object := range op.More {
		if !yield(object) {
			return
		}
	}
}

// Shows lets all others meet what g has done: they may see it without a point.
func (g *G) Shows() {
	g.run.mu.Lock()
	defer g.run.mu.Unlock()
	for _, other := range g.run.live {
		if other != g {
			other.hash = mix(other.hash, g.hash)
		}
	}
}

// does lets g do its operation.
func (r *Run) does(g *G) {
	g.hash = r.after(g)
	for object := range g.op.objects {
		r.of(object).add(g.op.kind, g.hash)
	}
}

// afterTimer returns the number of a timer when it has fired.
func (r *Run) afterTimer(t *Timer) uint64 {
	hash := mix(mix(uint64(t.ID), uint64(t.when)), t.hash)
	for _, object := range []any{t, t.Channel} {
		if h := r.objects[object]; h != nil {
			hash = mix(hash, h.met(0))
		}
	}
	return hash
}

// fires lets a timer meet what it is about.
func (r *Run) fires(t *Timer) {
	t.hash = r.afterTimer(t)
	r.objects[t] = &history{before: t.hash}
	if t.Channel != nil {
		r.objects[t.Channel] = &history{before: t.hash}
	}
	r.past += mix(t.hash, 3)
}

// key stands for the state when an alternative has happened, before the goroutine comes to its next point.
func (r *Run) key(a alternative) uint64 {
	switch {
	case a.g != nil:
		sum := r.sum() - weigh(a.g, a.g.hash) + weigh(a.g, r.after(a.g))
		return mix(mix(sum, uint64(a.g.ID)+1), uint64(r.now()))
	case a.t != nil:
		return mix(mix(r.sum()+mix(r.afterTimer(a.t), 3), 0), uint64(r.now()))
	default:
		return mix(mix(r.sum(), 0), uint64(r.next()))
	}
}

// weigh is the part of a goroutine in a sum.
func weigh(g *G, hash uint64) uint64 { return mix(hash, uint64(g.ID)+7) }

// sum stands for all that happened.
func (r *Run) sum() uint64 {
	s := r.past
	for _, g := range r.live {
		s += weigh(g, g.hash)
	}
	return s
}

// state stands for what can happen from here on.
func (r *Run) state() uint64 {
	last := uint64(0)
	if r.last != nil {
		last = uint64(r.last.ID) + 1
	}
	return mix(mix(r.sum(), last), uint64(r.now()))
}
