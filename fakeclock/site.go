package fakeclock

import (
	"fmt"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/jonboulle/clockwork"
)

// site is the stack on which a timer was made, nil if it was not recorded. It
// is deep enough to leave this package, and formatted only when somebody asks.
type site [12]uintptr

// here returns the stack of the caller's caller.
func here() *site {
	s := new(site)
	runtime.Callers(3, s[:])
	return s
}

// String returns "pkg.Func file.go:7" for the first frame outside this package
// and clockwork, the empty string if there is none.
func (s *site) String() string {
	if s == nil {
		return ""
	}
	frames := runtime.CallersFrames(s[:])
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if f.Function != "" && !slices.ContainsFunc(inside, func(p string) bool { return strings.HasPrefix(f.Function, p) }) {
			return fmt.Sprintf("%s %s:%d", path.Base(f.Function), path.Base(f.File), f.Line)
		}
	}
	return ""
}

// inside are the prefixes of functions that are not the ones that make timers:
// those on the way to the clock, and the root of a goroutine.
var inside = []string{
	reflect.TypeFor[Clock]().PkgPath() + ".",
	reflect.TypeFor[Clock]().PkgPath() + "/clockctx.",
	reflect.TypeFor[clockwork.Clock]().PkgPath() + ".",
	"runtime.",
}
