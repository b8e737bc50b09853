package debouncer

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	db "github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/internal/stackmark"
)

// of is what debounces a key beside d, which has none. It is made if it is new.
func (d *trailing) of(key int) *trailing {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.is("keys share a wait"):
		key = 0
	case d.is("keys share sixteen waits"):
		key %= 16
	case d.is("forgets all keys for a ninth") && d.keys[key] == nil && len(d.keys) == 8:
		for _, old := range d.keys {
			old.cancel()
		}
		clear(d.keys)
	}
	if d.keys[key] == nil {
		d.sweep()
		d.keys[key] = newTrailing(d.clock, d.wait, d.fire, d.mutant)
		d.keys[key].stopped = d.stopped
	}
	return d.keys[key]
}

// sweep drops what is pending of keys that are not at rest, if that is its mistake.
func (d *trailing) sweep() {
	age := map[string]time.Duration{
		"keys that came a wait ago are swept": d.wait, "keys that came a minute ago are swept": time.Minute,
	}[d.mutant]
	if age == 0 {
		return
	}
	maps.DeleteFunc(d.keys, func(_ int, own *trailing) bool {
		own.mu.Lock()
		old := d.clock.Since(own.began) > age
		own.mu.Unlock()
		if old {
			own.cancel()
		}
		return old
	})
}

// known are the keys so far.
func (d *trailing) known() map[int]*trailing {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.keys)
}

// flushAll fires what is pending, of each key too.
func (d *trailing) flushAll() {
	d.flush()
	known := d.known()
	if d.is("a panic in a flush forgets what waits for other keys") {
		defer func() {
			for _, own := range known {
				own.cancel()
			}
		}()
	}
	first := 0 // what is pending of the first key, if that is its mistake
	for _, key := range slices.Sorted(maps.Keys(known)) {
		own := known[key]
		if d.is("a flush fires for each key what is pending of the first") && own.isPending() {
			first = cmp.Or(first, own.value)
			own.value = first
		}
		own.flush()
	}
}

// stopsUnlocked is a mistake.
const stopsUnlocked = "stop goes over the keys without the lock"

func (d *trailing) stopAll() {
	d.stop()
	known := d.known()
	if d.is(stopsUnlocked) {
		known = d.keys
	}
	for _, own := range known {
		own.stop()
	}
}

func (d *trailing) endAll() {
	d.end()
	for _, own := range d.known() {
		if !d.is("the end leaves what waits for a key") {
			own.end()
		}
	}
}

// places are how many keys a table remembers that are at rest.
const places = 8

// table debounces many keys. Who comes to rest leaves its slot and its timer to others.
type table struct {
	clock  clockwork.Clock
	wait   time.Duration
	fire   func(int)
	mutant string

	mu      sync.Mutex
	done    sync.Cond // L is mu: a callback has ended
	known   map[int]*slot
	resting []*slot // the one that has rested longest first
	stopped bool
}

// slot is what is known of a key.
type slot struct {
	key, value       int
	due              time.Time
	pending, resting bool
	running          uint64 // the mark of its callback, 0 if there is none
	timer            clockwork.Timer
}

func newTable(clock clockwork.Clock, wait time.Duration, fire func(int), mutant string) *table {
	mustWait(wait)
	t := &table{clock: clock, wait: wait, fire: fire, mutant: mutant, known: map[int]*slot{}}
	t.done.L = &t.mu
	return t
}

func (t *table) is(mutant string) bool { return t.mutant == mutant }

func (t *table) call(key, v int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped && !(t.is("a key that a stop has met works on") && key != 0 && t.known[key] != nil) {
		return
	}
	s := t.hold(key)
	s.value, s.pending, s.due = v, true, t.clock.Now().Add(t.wait)
	t.arm(s)
}

// hold returns the slot of a key, which is not at rest then.
func (t *table) hold(key int) *slot {
	s := t.known[key]
	switch {
	case s != nil:
	case len(t.resting) >= places:
		s = t.resting[0]
		delete(t.known, s.key)
		if !t.is("a slot keeps the key that it had") {
			s.key = key
		}
	default:
		s = &slot{key: key}
	}
	if t.known[key] == nil {
		t.bound()
	}
	t.known[key] = s
	back := s.resting && t.is("a key that comes back leaves its place to others")
	if i := slices.Index(t.resting, s); i >= 0 && !back {
		t.resting = slices.Delete(t.resting, i, i+1)
	}
	s.resting = false
	return s
}

// bound drops what is pending of the lowest key if there are too many.
func (t *table) bound() {
	most := map[string]int{
		"a key too many drops what is pending of another, of 128":  128,
		"a key too many drops what is pending of another, of 1024": 1024,
	}[t.mutant]
	if most == 0 || len(t.known) < most {
		return
	}
	low := slices.Min(slices.Collect(maps.Keys(t.known)))
	t.known[low].timer.Stop()
	delete(t.known, low)
}

func (t *table) arm(s *slot) {
	left := s.due.Sub(t.clock.Now())
	if s.timer == nil {
		s.timer = t.clock.AfterFunc(left, func() { t.expire(s) })
	} else {
		s.timer.Reset(left)
	}
}

func (t *table) expire(s *slot) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case s.running != 0:
	case t.is("a timer that meets a cancel takes the next event of a key with it") && s.pending && s.key != 0 &&
		t.clock.Now().Before(s.due):
		s.pending = false
	case s.pending:
		t.run(s)
	case !s.resting || t.is("a timer that comes too late lets go of a key twice") ||
		t.is("a timer that meets a cancel lets go of a key again"):
		t.letGo(s)
	}
}

// run runs what is due, and leaves the rest to the timer, also when a callback panics. It is called with mu held.
func (t *table) run(s *slot) {
	defer func() {
		if s.pending {
			t.arm(s)
		} else if !s.resting {
			t.letGo(s)
		}
	}()
	for s.pending && !t.clock.Now().Before(s.due) {
		s.pending = false
		t.callback(s, s.value)
	}
}

func (t *table) callback(s *slot, v int) {
	s.running = stackmark.New()
	mark := s.running
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		s.running = 0
		t.done.Broadcast()
	}()
	stackmark.Call(mark, func() { t.fire(v) })
}

// letGo lets a key rest of which nothing is left.
func (t *table) letGo(s *slot) {
	if s.pending || s.running != 0 && !t.is("a cancelled key rests while its callback runs") {
		return
	}
	s.resting = true
	t.resting = append(t.resting, s)
	if len(t.resting) > places {
		delete(t.known, t.resting[0].key)
		if !t.is("a key that is forgotten keeps its place") {
			t.resting = slices.Delete(t.resting, 0, 1)
		}
	}
}

func (t *table) cancel(key int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.is("a cancel with a key is one of all keys") {
		for _, s := range t.known {
			s.pending = false
		}
	}
	if t.is("a cancel with a key undoes a stop") && key != 0 {
		t.stopped = false
	}
	s := t.known[key]
	if s != nil && key != 0 && t.is("a cancel with a key leaves the event to a flush") {
		s.timer.Stop()
		return
	}
	if s == nil || s.resting && !t.is("a key that is cancelled at rest has two places") {
		return
	}
	s.pending = false
	if s.timer != nil && !t.is("a timer that comes too late lets go of a key twice") {
		s.timer.Stop()
	}
	t.letGo(s)
}

// cancelAny is a cancel without a key, which is for the event that has none.
func (t *table) cancelAny() {
	t.cancel(0)
	if t.is("a cancel without a key is one of the first key, too") {
		t.cancel(1)
	}
}

func (t *table) flush(key int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.known[key]; s != nil && s.pending {
		if s.due = t.clock.Now(); s.running == 0 {
			s.timer.Stop()
			t.run(s)
		}
	}
	for k, s := range t.known {
		if t.is("a flush with a key moves the deadline of the one before it") && k == key-1 && s.pending {
			s.due = t.clock.Now()
			t.arm(s)
		}
	}
}

// stop waits for the callbacks, unless one of them calls it.
func (t *table) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
	of := map[uint64]bool{}
	for _, s := range t.known {
		if t.is("a flush with a key fires what a stop has dropped") && s.key != 0 {
			s.timer.Stop()
		} else if s.key != 2 || !t.is("a stop forgets one of the keys") {
			if s.pending = false; s.timer != nil {
				s.timer.Stop()
			}
		}
		if s.running != 0 {
			of[s.running] = true
		}
	}
	within := stackmark.Any(func(mark uint64) bool { return of[mark] })
	for _, s := range t.known {
		own := stackmark.On(s.running)
		if t.is("a stop in the callback of a key waits for those of others") {
			within = own
		}
		for s.running != 0 && !within {
			t.done.Wait()
		}
	}
}

// tableSpec describes it.
func tableSpec(mutant string, source db.TimeSource) db.Spec {
	spec := made(source, plain(func(tr *db.Traits) {
		tr.Tie, tr.ZeroWait, tr.Overlap, tr.ClockBack = db.ResetFirst, db.ZeroRefused, db.Serial, db.BackStands
	}), func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
		t := newTable(clock, cfg.Wait, fire, mutant)
		return db.Funcs{
			Call: func(v int) { t.call(0, v) }, CallKey: t.call,
			Cancel: t.cancelAny, CancelKey: t.cancel,
			Flush: func() { t.flush(0) }, FlushKey: t.flush, Stop: t.stop,
		}
	})
	spec.Name = "zoo table: " + mutant
	return spec
}

// tableMutants are its mistakes, with the rule that must catch each.
var tableMutants = []mistake{
	{"a key that is cancelled at rest has two places", "DB-KEY"},
	{"a key that comes back leaves its place to others", "DB-KEY"},
	{"a slot keeps the key that it had", "DB-KEY"},
	{"a cancelled key rests while its callback runs", "DB-KEY"},
	{"a timer that comes too late lets go of a key twice", "DB-KEY"},
	{"a timer that meets a cancel lets go of a key again", "DB-KEY"},
	{"a timer that meets a cancel takes the next event of a key with it", "DB-KEY"},
	{"a key that is forgotten keeps its place", "DB-KEY"},
	{"a cancel with a key is one of all keys", "DB-KEY"},
	{"a cancel with a key leaves the event to a flush", "DB-KEY"},
	{"a cancel without a key is one of the first key, too", "DB-KEY"},
	{"a flush with a key moves the deadline of the one before it", "DB-KEY"},
	{"a stop forgets one of the keys", "DB-KEY"},
	{"a flush with a key fires what a stop has dropped", "DB-KEY"},
	{"a key too many drops what is pending of another, of 128", "DB-KEY"},
	{"a key too many drops what is pending of another, of 1024", "DB-KEY"},
	{"a key that a stop has met works on", "DB-KEY"},
	{"a cancel with a key undoes a stop", "DB-KEY"},
	{"a stop in the callback of a key waits for those of others", "X-REENT"},
}
