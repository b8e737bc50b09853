package quota

import (
	qt "github.com/escapement-go/escapement/conformance/quotatest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// handed is a fixed window, whose events a goroutine hands out.
func handed() qt.Spec {
	spec := limiterSpec("", qt.FixedWindow, qt.PackageTime)
	newWindow := spec.New
	spec.Name, spec.Traits.Fields = "zoo events handed out", 0
	spec.New = func(env qt.Env, cfg qt.Config) qt.Funcs {
		f, by := newWindow(env, cfg), &zoo.Handed{}
		return qt.Funcs{Take: func(n int) qt.Answer {
			return qt.Answer{OK: by.Out(func() bool { return f.Take(n).OK })}
		}}
	}
	return spec
}
