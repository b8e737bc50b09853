package suite

import (
	"runtime"
	"runtime/debug"
)

// OneProcessor makes the process run on one processor until the result is called. Schedules
// run one after the other, and each wakes goroutines that would otherwise start on a second
// processor what is done sooner on the first; where the order is chance, it is less so.
// There is garbage after each schedule, little of it lives, and so less is collected
// meanwhile, unless GOGC was set. Runs that were given up may go on, each on one more.
func OneProcessor() (restore func()) {
	const usual, seldom = 100, 400
	n := runtime.GOMAXPROCS(1 + int(burning.Load()))
	gc := debug.SetGCPercent(seldom)
	if gc != usual {
		debug.SetGCPercent(gc)
	}
	return func() {
		if gc == usual {
			debug.SetGCPercent(gc)
		}
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
