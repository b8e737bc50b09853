package limiter

import (
	"time"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// handed is the bucket, whose tokens a goroutine hands out.
func handed() lt.Spec {
	spec := bucketSpec("", lt.PackageTime)
	newBucket := spec.New
	spec.Name = "zoo: tokens handed out"
	spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
		f, by := newBucket(env, cfg), &zoo.Handed{}
		return lt.Funcs{AllowN: func(n int) bool { return by.Out(func() bool { return f.AllowN(n) }) }}
	}
	return spec
}

// gives is a mistake: a request that is denied gives back what it did not take, to whomever comes.
const gives = "denied requests bring tokens"

func givesSpec() lt.Spec {
	spec := bucketSpec("", lt.Explicit)
	newBucket := spec.New
	spec.Name = "zoo: " + gives
	spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
		f, quarters := newBucket(env, cfg), 0
		return lt.Funcs{AllowAt: func(t time.Time, n int) bool {
			if f.AllowAt(t, n) {
				return true
			}
			quarters += n
			return n > 0 && quarters%4 == 0
		}}
	}
	return spec
}
