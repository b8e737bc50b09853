package suite

import "runtime"

// OneProcessor makes the process run on one processor until the result is called. Schedules
// run one after the other, and each wakes goroutines that would otherwise start on a second
// processor what is done sooner on the first; where the order is chance, it is less so.
// Runs that were given up may go on, each on one more.
func OneProcessor() (restore func()) {
	n := runtime.GOMAXPROCS(1 + int(burning.Load()))
	return func() {
		if n > 1 {
			processors(n)
		}
	}
}

// twoProcessors makes the process run on two processors at least, until the result is
// called. It does nothing where timers on two processors can crash the process.
func (l *lab) twoProcessors() (restore func()) {
	n := runtime.GOMAXPROCS(0)
	if n >= Meeters || l.timersCrash() {
		return func() {}
	}
	runtime.GOMAXPROCS(Meeters)
	return func() { runtime.GOMAXPROCS(n) }
}
