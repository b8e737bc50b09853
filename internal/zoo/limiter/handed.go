package limiter

import (
	"sync/atomic"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
)

// handed is the bucket behind a goroutine that hands out its tokens, each once it is back from the one
// before: who asks at once is denied what the bucket holds.
func handed() lt.Spec {
	spec := bucketSpec("", lt.PackageTime)
	newBucket := spec.New
	spec.Name = "zoo: tokens handed out"
	spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
		f := newBucket(env, cfg)
		var away atomic.Bool
		return lt.Funcs{AllowN: func(n int) bool {
			if away.Load() || !f.AllowN(n) {
				return false
			}
			away.Store(true)
			go away.Store(false)
			return true
		}}
	}
	return spec
}
