package concurrency

import (
	ct "github.com/escapement-go/escapement/conformance/concurrencytest"
)

// givesWhole is the mistake of a semaphore that counts a request for more than the limit as one for the limit, and
// takes back what was asked for.
const givesWhole = "gives back more than it took"

// clamping is a semaphore of bytes, of which nobody gets more than there are.
func clamping(mistake string, source ct.TimeSource) ct.Spec {
	spec := conditionSpec(source)
	spec.Name, spec.Traits.Oversize = "zoo clamping"+mistake, ct.OversizeClamped
	made := spec.New
	spec.New = func(env ct.Env, cfg ct.Config) ct.Funcs {
		f := made(env, cfg)
		lock, release := f.Lock, f.Release
		f.Lock = func(n int) { lock(min(n, cfg.Limit)) }
		if mistake != givesWhole {
			f.Release = func(n int) { release(min(n, cfg.Limit)) }
		}
		f.Resize = nil
		return f
	}
	return spec
}
