package throttle

import (
	"maps"
	"slices"
	"time"
)

// of is the throttle of a key.
func (d *timed) of(key int) *timed {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch d.mutant {
	case "keys share an interval":
		key = 0
	case "keys share sixteen intervals":
		key %= 16
	}
	if own := d.keys[key]; own != nil {
		return own
	}
	d.order = append(d.order, key)
	switch {
	case d.is("keys are swept by the wall clock"):
		maps.DeleteFunc(d.keys, func(_ int, other *timed) bool { return time.Now().After(other.until) })
	case len(d.order) > 100 && d.is("remembers the newest hundred keys"):
		delete(d.keys, d.order[0])
		d.order = d.order[1:]
	}
	d.keys[key] = &timed{base: d.base, keyless: d}
	return d.keys[key]
}

func (d *timed) callKey(key, v int) {
	d.heard.Store(int64(v))
	d.of(key).call(v)
}

func (d *timed) resetKey(key int) {
	if d.is("a reset with a key is one of another too") {
		d.of(3 - key).reset()
	}
	d.of(key).reset()
}

func (d *timed) reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	several, keyed := d.cfg.K > 1, d.keyless != nil
	switch {
	case several && d.is("a reset of several leaves the interval"),
		keyed && d.is("a reset with a key leaves the interval"):
		d.first = d.total
	case d.is("reset does nothing"), several && d.is("reset does nothing for several"):
	case d.is("a reset sets the last emission to the zero time"):
		d.used, d.until = true, time.Time{}.Add(d.cfg.Interval)
	default:
		d.used = false
	}
}

// flushAll emits what is pending of each key, and without one.
func (d *timed) flushAll() {
	d.flush()
	d.mu.Lock()
	keys := maps.Clone(d.keys)
	d.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if had := keys[key].flush(); had && d.is("a flush emits what is pending of one key only") {
			return
		}
	}
}
