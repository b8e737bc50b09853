package sched

import "strings"

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
	written uint64
	read    uint64 // a sum: the order of reads does not count
}

// mix returns a number that stands for a and then b.
func mix(a, b uint64) uint64 {
	h := (a ^ b*0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd
	h ^= h >> 32
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>29
}

// of returns the history of an object. The number of one that is new follows from who uses it first.
func (r *Run) of(g *G, object any) *history {
	h := r.objects[object]
	if h == nil {
		h = &history{written: mix(g.hash, 1)}
		r.objects[object] = h
	}
	return h
}

// arrives lets g meet what its next operation is about. The mu of r is held.
func (r *Run) arrives(g *G) {
	for object := range g.op.objects {
		g.hash = mix(g.hash, r.of(g, object).written)
	}
}

// after returns the number of g when it has done its operation.
func (r *Run) after(g *G) uint64 {
	hash := mix(mix(g.hash, g.op.place), uint64(r.now()))
	if g.op.idle {
		hash = mix(hash, r.sum())
	}
	for object := range g.op.objects {
		h := r.of(g, object)
		if hash = mix(hash, h.written); !g.op.reads() {
			hash = mix(hash, h.read)
		}
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

func (op *Op) reads() bool { return op.Name == "len" || strings.HasSuffix(op.Name, ".Load") }

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
		if h := r.of(g, object); g.op.reads() {
			h.read += g.hash
		} else {
			h.written, h.read = g.hash, 0
		}
	}
}

// afterTimer returns the number of a timer when it has fired.
func (r *Run) afterTimer(t *Timer) uint64 {
	hash := mix(mix(uint64(t.ID), uint64(t.when)), t.hash)
	for _, object := range []any{t, t.Channel} {
		if h := r.objects[object]; h != nil {
			hash = mix(mix(hash, h.written), h.read)
		}
	}
	return hash
}

// fires lets a timer meet what it is about.
func (r *Run) fires(t *Timer) {
	t.hash = r.afterTimer(t)
	r.objects[t] = &history{written: t.hash}
	if t.Channel != nil {
		r.objects[t.Channel] = &history{written: t.hash}
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
