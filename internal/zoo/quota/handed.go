package quota

import (
	"sync/atomic"

	qt "github.com/escapement-go/escapement/conformance/quotatest"
)

// handed is a fixed window behind a goroutine that hands out its events, each once it is back from the one
// before: who asks at once is denied what the window holds.
func handed() qt.Spec {
	spec := limiterSpec("", qt.FixedWindow, qt.PackageTime)
	newWindow := spec.New
	spec.Name, spec.Traits.Answers = "zoo events handed out", 0
	spec.New = func(env qt.Env, cfg qt.Config) qt.Funcs {
		f := newWindow(env, cfg)
		var away atomic.Bool
		return qt.Funcs{Take: func(n int) qt.Answer {
			if away.Load() {
				return qt.Answer{}
			}
			a := f.Take(n)
			if a.OK {
				away.Store(true)
				go away.Store(false)
			}
			return a
		}}
	}
	return spec
}
