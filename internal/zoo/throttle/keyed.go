package throttle

import (
	"maps"
	"slices"
	"sync/atomic"
	"time"
)

// keys returns what finds the throttle of a key, beside d, which has none.
func (d *timed) keys() (of func(key int) *timed) {
	known, heard := map[int]*timed{}, &atomic.Int64{}
	d.known = known
	var order []int // in which they came
	return func(key int) *timed {
		d.mu.Lock()
		defer d.mu.Unlock()
		switch {
		case d.mutant == "keys share an interval":
			key = 0
		case d.mutant == "keys share sixteen intervals":
			key %= 16
		}
		if own := known[key]; own != nil {
			return own
		}
		if d.mutant == "keys are swept by the wall clock" {
			for k, other := range known {
				if k != key && time.Now().After(other.until) {
					delete(known, k)
				}
			}
		}
		if d.mutant == "remembers the newest hundred keys" && len(order) == 100 {
			delete(known, order[0])
			order = order[1:]
		}
		order = append(order, key)
		known[key] = &timed{clock: d.clock, cfg: d.cfg, emit: d.emit, mutant: d.mutant, heard: heard}
		return known[key]
	}
}

// keysShareWaiting is a mistake: the trailing edge emits the newest event of any key.
const keysShareWaiting = "keys share what waits for the trailing edge"

func (d *timed) reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.is("a reset of several leaves the interval") && d.cfg.K > 1 {
		d.count = 0
		return
	}
	if !d.is("reset does nothing") && !(d.is("reset does nothing for several") && d.cfg.K > 1) {
		d.used = false
	}
	if d.is("a reset sets the last emission to the zero time") {
		d.used, d.until = true, time.Time{}.Add(d.cfg.Interval)
	}
}

// resetKey resets the key that it is.
func (d *timed) resetKey() {
	if !d.is("a reset with a key leaves the interval") {
		d.reset()
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.count = 0
}

// callKey is an event of the key that it is.
func (d *timed) callKey(v int) {
	d.heard.Store(int64(v))
	d.call(v)
}

// flushesOne is a mistake of a flush of all keys.
const flushesOne = "a flush emits what is pending of one key only"

// flushAll emits what is pending of each key, and without one.
func (d *timed) flushAll() {
	d.flush()
	d.mu.Lock()
	known := maps.Clone(d.known)
	d.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(known)) {
		if had := known[key].flush(); had && d.is(flushesOne) {
			return
		}
	}
}

// waiting is what the trailing edge emits.
func (d *timed) waiting() int {
	if d.is(keysShareWaiting) && d.heard != nil {
		return int(d.heard.Load())
	}
	return d.value
}
