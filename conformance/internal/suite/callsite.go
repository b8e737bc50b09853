package suite

import (
	"runtime"
	"strings"
)

// suitePath begins the names of the functions of the suite's own packages.
const suitePath = "github.com/escapement-go/escapement/conformance/"

// callSite is where a test called Run: the innermost caller outside the suite's packages, or in a test of theirs.
func callSite() (file string, line int) {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		switch {
		case strings.HasPrefix(f.Function, "testing."):
			return "", 0
		case strings.HasSuffix(f.File, "_test.go"), !strings.HasPrefix(f.Function, suitePath):
			return f.File, f.Line
		case !more:
			return "", 0
		}
	}
}
