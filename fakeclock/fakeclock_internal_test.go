package fakeclock

import "testing"

// Now takes no lock: it returns while another holds it.
func TestClock_NowTakesNoLock(t *testing.T) {
	c := New()
	c.Advance(7)
	c.mu.Lock()
	defer c.mu.Unlock()
	if got := c.Now(); got != c.start.Add(7) {
		t.Errorf("Now() = %v, want %v", got, c.start.Add(7))
	}
}
