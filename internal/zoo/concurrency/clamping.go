package concurrency

import (
	"sync"

	ct "github.com/escapement-go/escapement/conformance/concurrencytest"
)

// givesWhole is the mistake of a semaphore that counts a request for more than the limit as one for the limit, and
// takes back what was asked for.
const givesWhole = "gives back more than it took"

// clamping is a semaphore of bytes, of which nobody gets more than there are.
func clamping(mistake string, source ct.TimeSource) ct.Spec {
	spec := conditionSpec(source)
	spec.Name = "zoo clamping" + mistake
	spec.New = func(_ ct.Env, cfg ct.Config) ct.Funcs {
		var mu sync.Mutex
		free := cfg.Limit
		changed := sync.NewCond(&mu)
		return ct.Funcs{
			Lock: func(n int) {
				n = min(n, cfg.Limit)
				mu.Lock()
				defer mu.Unlock()
				for free < n {
					changed.Wait()
				}
				free -= n
			},
			Release: func(n int) {
				if mistake != givesWhole {
					n = min(n, cfg.Limit)
				}
				mu.Lock()
				defer mu.Unlock()
				free += n
				changed.Broadcast()
			},
		}
	}
	spec.Traits.Oversize = ct.OversizeClamped
	return spec
}
