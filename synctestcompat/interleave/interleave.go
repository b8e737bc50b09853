package interleave

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/escapement-go/escapement/internal/sched"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Variable is the environment variable that names one interleaving of one test, as a failure prints it:
// Check runs only that.
const Variable = "ESCAPEMENT_INTERLEAVE"

// Command is what runs tests with their packages rewritten.
const Command = "go run github.com/escapement-go/escapement/synctestcompat/interleave/weave"

// Check calls f in a bubble once for each interleaving of its goroutines and of time with at most two
// preemptions (see [Bound]), those with the fewest first, and fails with the first in which f fails: by
// t.Error and the like, a panic, a deadlock, or a leaked goroutine.
//
// If the packages are not rewritten (see the package comment), Check calls f once and then skips the
// test. Checks of parallel tests take turns. Meanwhile GOMAXPROCS is 1, so that f finds the same on any machine.
func Check(t testing.TB, f func(*T), opts ...Option) {
	t.Helper()
	switch r := Explore(t, f, opts...); {
	case r.Failure != "":
		t.Fatal(r.Failure)
	case !r.Rewritten:
		t.Skip("interleave: ran once, in one order. To explore all: " + newExplorer(t, f, nil).command())
	case r.Skipped:
		t.Skip("interleave: skipped in each interleaving: " + r.Summary())
	default:
		t.Log("interleave: " + r.Summary())
	}
}

// Rewritten reports whether the package with this path is rewritten; with "", whether any is.
func Rewritten(path string) bool { return sched.IsRewritten(path) }

// Result is what [Explore] found.
type Result struct {
	Rewritten bool
	Skipped   bool   // each interleaving was
	Runs      []int  // interleavings with 0, 1, 2, ... preemptions
	Left      int    // how many more are known, but were not run
	Points    int    // steps of all
	Failure   string // a report, "" if none failed
	Order     string // the part of Failure that lists which goroutine runs next
	Deadlock  bool   // the failing interleaving deadlocked before f had returned
	Replay    string // the value of Variable for the one that failed
}

// Summary is one line.
func (r Result) Summary() string {
	n := 0
	for _, m := range r.Runs {
		n += m
	}
	s := fmt.Sprintf("%d interleavings (%s with 0 to %d preemptions), %d points",
		n, strings.Trim(strings.ReplaceAll(fmt.Sprint(r.Runs), " ", " / "), "[]"), len(r.Runs)-1, r.Points)
	if r.Left > 0 {
		s += fmt.Sprintf("; not explored: at least %d more", r.Left)
	}
	return s
}

// turn is held by the Check that explores.
var turn sync.Mutex

// Explore is Check for callers that judge the result themselves: it reports to its caller and not to t.
func Explore(t testing.TB, f func(*T), opts ...Option) Result {
	t.Helper()
	synctestcompat.Require(t)
	turn.Lock()
	defer turn.Unlock()
	e := newExplorer(t, f, opts)
	if !Rewritten("") {
		return e.plain()
	}
	defer e.close()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // as one goroutine goes on at a time: waking a processor costs more
	if only, ok := strings.CutPrefix(os.Getenv(Variable), t.Name()+":"); ok {
		return e.replay(only)
	}
	return e.explore()
}

func base(file string) string { return file[strings.LastIndexAny(file, `/\`)+1:] }
