package throttle

import (
	"time"

	"github.com/escapement-go/escapement/conformance/throttletest"
)

// keys returns what finds the throttle of a key, beside d, which has none.
func (d *timed) keys() (of func(key int) *timed) {
	known := map[int]*timed{}
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
		fifty, hundred := d.mutant == "remembers the newest fifty keys", d.mutant == "remembers the newest hundred keys"
		if fifty && len(order) == 50 || hundred && len(order) == 100 {
			delete(known, order[0])
			order = order[1:]
		}
		order = append(order, key)
		known[key] = &timed{clock: d.clock, cfg: d.cfg, emit: d.emit, mutant: d.mutant}
		return known[key]
	}
}

// letGo unlocks it before a trailing emission, and returns what does so if it has not.
func (d *timed) letGo() (after func()) {
	if d.is(lockedTrailing) && d.cfg.Edges == throttletest.LeadingAndTrailing {
		return d.mu.Unlock
	}
	d.mu.Unlock()
	return func() {}
}
