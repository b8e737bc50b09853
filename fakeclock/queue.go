package fakeclock

// queue holds the armed timers, ordered by deadline and then by the order of
// arming. What is armed goes to a young heap, and all that is there to the old
// one when the young one is full. So a timer that is stopped or fires soon costs
// the same however many others are armed: it never sifts through them. What is armed
// again for later stays in its place until it surfaces, and sifts through them then.
type queue struct {
	young, old heap
	pushed     uint64
}

// nursery is the most that the young heap holds.
const nursery = 16

func newQueue() queue { return queue{old: heap{base: nursery}} }

func (q *queue) len() int { return len(q.young.entries) + len(q.old.entries) }

// push arms t for t.when.
func (q *queue) push(t *timer) {
	if len(q.young.entries) == nursery {
		for _, e := range q.young.entries {
			q.old.push(e.t.entry())
		}
		clear(q.young.entries)
		q.young.entries = q.young.entries[:0]
	}
	q.pushed++
	t.order = q.pushed
	q.young.push(t.entry())
}

// postpone arms t, which is in the queue, for when instead, as the last that was armed. It
// does nothing and reports false if that is earlier than the place of t in the queue allows.
func (q *queue) postpone(t *timer, when int64) bool {
	h := &q.old
	if t.pos < nursery {
		h = &q.young
	}
	if when < h.entries[int(t.pos)-h.base].when {
		return false
	}
	q.pushed++
	t.when, t.order = when, q.pushed
	return true
}

// first returns the first entry, one that is never due if there is none.
func (q *queue) first() entry {
	first := entry{when: never}
	if len(q.young.entries) > 0 {
		first = q.young.first()
	}
	if len(q.old.entries) > 0 {
		if e := q.old.first(); !first.before(e) {
			first = e
		}
	}
	return first
}

// remove disarms t, which is in the queue.
func (q *queue) remove(t *timer) {
	if t.pos < nursery {
		q.young.remove(t.pos)
	} else {
		q.old.remove(t.pos)
	}
	t.pos = unarmed
}

// heap is a 4-ary heap. The keys lie beside the pointers, so that comparing
// entries does not touch the timers.
type heap struct {
	entries []entry
	base    int // a timer's pos is its index plus base, which tells the heaps apart
}

// entry is a place of the heap. A timer that was postponed since has a later key.
type entry struct {
	when  int64
	order uint64
	t     *timer
}

// entry is where t belongs.
func (t *timer) entry() entry { return entry{t.when, t.order, t} }

func (e entry) before(f entry) bool {
	return e.when < f.when || e.when == f.when && e.order < f.order
}

func (h *heap) push(e entry) {
	h.entries = append(h.entries, e)
	h.up(len(h.entries)-1, e)
}

// first returns the first entry of a heap that has some, after what was postponed and has
// surfaced found its place.
func (h *heap) first() entry {
	for h.entries[0].order != h.entries[0].t.order {
		h.down(0, h.entries[0].t.entry())
	}
	return h.entries[0]
}

// remove takes out the entry of the timer at pos.
func (h *heap) remove(pos int32) {
	i, end := int(pos)-h.base, len(h.entries)-1
	last := h.entries[end]
	h.entries[end] = entry{}
	h.entries = h.entries[:end]
	switch {
	case i == end:
	case i > 0 && last.before(h.entries[(i-1)/4]):
		h.up(i, last)
	default:
		h.down(i, last)
	}
}

// up places e at index i or above, moving entries down to make room.
func (h *heap) up(i int, e entry) {
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(h.entries[parent]) {
			break
		}
		h.set(i, h.entries[parent])
		i = parent
	}
	h.set(i, e)
}

// down places e at index i or below, moving entries up to make room.
func (h *heap) down(i int, e entry) {
	for {
		first := 4*i + 1
		if first >= len(h.entries) {
			break
		}
		least := first
		for j := first + 1; j < min(first+4, len(h.entries)); j++ {
			if h.entries[j].before(h.entries[least]) {
				least = j
			}
		}
		if !h.entries[least].before(e) {
			break
		}
		h.set(i, h.entries[least])
		i = least
	}
	h.set(i, e)
}

func (h *heap) set(i int, e entry) {
	h.entries[i] = e
	e.t.pos = int32(h.base + i)
}
