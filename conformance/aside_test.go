package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// asideTest makes this process the one that runs that test aside.
const asideTest = "CONFORMANCE_ASIDE"

// asideTurn is taken by the one that runs aside: with this process it keeps two cores busy.
var asideTurn = make(chan struct{}, 1)

// aside runs a test in a process of its own while this one goes on with others, and reports whether this is that
// process. What mutants leave behind ends with it, and its stacks show nobody else.
func aside(t *testing.T) bool {
	t.Helper()
	if os.Getenv(asideTest) == t.Name() {
		return true
	}
	// The cached result of this process must not outlive the golden files, which only the other reads.
	if _, err := os.ReadDir("testdata"); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$",
		fmt.Sprintf("-test.short=%t", testing.Short()), fmt.Sprintf("-test.v=%t", testing.Verbose()), "-test.timeout=0",
		fmt.Sprintf("-update=%t", *update))
	cmd.Env = append(os.Environ(), asideTest+"="+t.Name())
	var out []byte
	var err error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		asideTurn <- struct{}{}
		defer func() { <-asideTurn }()
		out, err = cmd.CombinedOutput()
	}()
	t.Parallel() // from here on it waits for the tests of this process
	<-ended
	if t.Logf("%s", out); err != nil {
		t.Errorf("in a process of its own: %v", err)
	}
	return false
}
