package limiter

import (
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
