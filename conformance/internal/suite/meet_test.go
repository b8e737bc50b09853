package suite

import "testing"

// A goroutine of MeetBlocking that is interrupted before it says that it has come does not take
// back that those after it have come. It did, and now and then a meeting never ended.
func TestCounter_lateComer(t *testing.T) {
	var c counter
	c.reach(2)
	c.reach(1)
	if got := c.Load(); got != 2 {
		t.Errorf("after reach(2) and reach(1) the counter is %d, want 2", got)
	}
}
