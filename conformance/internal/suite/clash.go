package suite

import (
	"sync"
	"time"

	"github.com/escapement-go/escapement/conformance"
)

// Clash calls the operations from many goroutines at once, round after round, with the
// timers of each round firing among them. Operations must tolerate being called in any
// order. It returns why it could not be run.
//
// On an injected clock the goroutines run free while the clock advances: settling would
// order what must stay unordered for the race detector to see it. In a bubble they wake at
// the instant at which the timers fire.
func (p *Probe) Clash(make func(env conformance.Env) []func(i int)) string {
	const rounds = 50
	if p.Time == conformance.PackageTime && !p.Bubble {
		return "package time can only be held in a bubble"
	}
	l := p.lab.with(func(st *Stage) {
		ops := make(st.Plain())
		if fake := st.Fake(); fake != nil {
			for range rounds {
				gather(ops, func() { fake.Advance(Wait / 2) }, func() {})
			}
			fake.Advance(10 * Wait)
			return
		}
		for range rounds {
			gather(ops, func() { st.To(st.Now() + Wait) }, func() { time.Sleep(Wait) })
		}
		st.To(st.Now() + 10*Wait)
		st.Settle()
	})
	l.bubble = l.bubble && p.Time == conformance.PackageTime
	if l.once() != nil {
		return NoProgress
	}
	return ""
}

// gather runs each operation a few times, on a goroutine of its own that first calls
// start, while meanwhile runs on the caller's goroutine. It waits for all of them.
func gather(ops []func(i int), meanwhile, start func()) {
	var wg sync.WaitGroup
	for _, op := range ops {
		wg.Add(1)
		go func() {
			defer wg.Done()
			start()
			for i := range 5 {
				_ = Catch(func() { op(i) }) // X-CALLS judges panics
			}
		}()
	}
	meanwhile()
	wg.Wait()
}
