package suite

import (
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// suitePath begins the names of the functions of the suite's own packages.
const suitePath = "github.com/escapement-go/escapement/conformance/"

// callers are the functions that are under way on this goroutine, the innermost first, without what runs tests.
func callers() (all []runtime.Frame) {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	for more := true; more; {
		var f runtime.Frame
		if f, more = frames.Next(); strings.HasPrefix(f.Function, "testing.") {
			break
		}
		all = append(all, f)
	}
	return all
}

// callSite is where a test called Run: the innermost caller outside the suite's packages, or in a test of theirs.
func callSite() (file string, line int) {
	for _, f := range callers() {
		if strings.HasSuffix(f.File, "_test.go") || !strings.HasPrefix(f.Function, suitePath) {
			return f.File, f.Line
		}
	}
	return "", 0
}

// callerPackage is the import path of the test that runs the suite: the test binary knows, whatever helper calls the
// suite. Where another tool has built it, it is the package of the outermost function.
func callerPackage() string {
	if b, ok := debug.ReadBuildInfo(); ok && strings.HasSuffix(b.Path, ".test") {
		return strings.TrimSuffix(b.Path, ".test")
	}
	all := slices.DeleteFunc(callers(), func(f runtime.Frame) bool { // a fuzz target is called through it
		return strings.HasPrefix(f.Function, "reflect.")
	})
	name := all[len(all)-1].Function
	slash := strings.LastIndex(name, "/") + 1
	pkg, _, _ := strings.Cut(name[slash:], ".")
	return strings.TrimSuffix(name[:slash]+strings.ReplaceAll(pkg, "%2e", "."), "_test")
}
