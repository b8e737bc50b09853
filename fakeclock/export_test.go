package fakeclock

const Endless = endless

// SetEndless makes a loop be found sooner.
func (c *Clock) SetEndless(n int) { c.endless = n }
