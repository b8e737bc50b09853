package fakeclock

// queue is a 4-ary heap of armed timers, ordered by deadline and then by the
// order of arming. The keys lie beside the pointers, so that comparing entries
// does not touch the timers.
type queue struct {
	entries []entry
	pushed  uint64
}

type entry struct {
	when  int64
	order uint64
	t     *timer
}

func (e entry) before(f entry) bool {
	return e.when < f.when || e.when == f.when && e.order < f.order
}

// push arms t for t.when.
func (q *queue) push(t *timer) {
	q.pushed++
	e := entry{t.when, q.pushed, t}
	q.entries = append(q.entries, e)
	q.up(len(q.entries)-1, e)
}

// remove takes out the entry at index i and returns its timer.
func (q *queue) remove(i int) *timer {
	t := q.entries[i].t
	t.pos = unarmed
	end := len(q.entries) - 1
	last := q.entries[end]
	q.entries[end] = entry{}
	q.entries = q.entries[:end]
	switch {
	case i == end:
	case i > 0 && last.before(q.entries[(i-1)/4]):
		q.up(i, last)
	default:
		q.down(i, last)
	}
	return t
}

// up places e at index i or above, moving entries down to make room.
func (q *queue) up(i int, e entry) {
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(q.entries[parent]) {
			break
		}
		q.set(i, q.entries[parent])
		i = parent
	}
	q.set(i, e)
}

// down places e at index i or below, moving entries up to make room.
func (q *queue) down(i int, e entry) {
	for {
		first := 4*i + 1
		if first >= len(q.entries) {
			break
		}
		least := first
		for j := first + 1; j < min(first+4, len(q.entries)); j++ {
			if q.entries[j].before(q.entries[least]) {
				least = j
			}
		}
		if !q.entries[least].before(e) {
			break
		}
		q.set(i, q.entries[least])
		i = least
	}
	q.set(i, e)
}

func (q *queue) set(i int, e entry) {
	q.entries[i] = e
	e.t.pos = i
}
