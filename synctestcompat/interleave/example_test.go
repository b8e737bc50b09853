//go:build go1.25

package interleave_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/synctestcompat/interleave"
	"github.com/escapement-go/escapement/synctestcompat/interleave/shim/point"
	"github.com/escapement-go/escapement/synctestcompat/interleave/shim/sync"
)

// The command weave makes these imports, and the go statement, of the ordinary ones; the example has them so
// that it can be run without it.
var _ = point.Rewritten("example")

// A bucket gives its lock up between the look at its level and the take.
func ExampleExplore() {
	r := interleave.Explore(new(testing.T), func(t *interleave.T) {
		var mu sync.Mutex
		level := 1
		take := func() {
			mu.Lock()
			enough := level >= 1
			mu.Unlock()
			if enough {
				mu.Lock()
				level--
				mu.Unlock()
			}
		}
		var wg sync.WaitGroup
		wg.Go(take)
		take()
		wg.Wait()
		if level < 0 {
			t.Errorf("level %d", level)
		}
	})
	fmt.Println(r.Summary())
	report, _, _ := strings.Cut(r.Failure, "\nto run only this one:")
	fmt.Println(report)
	// Output:
	// 4 interleavings (1 / 3 with 0 to 1 preemptions), 50 points
	// interleave: an interleaving fails: number 4, with 1 preemption
	//     example_test.go:39: level -1
	// each line: the goroutine that runs next, and the point it resumes from:
	//      1  main                      begins
	//      2  main  example_test.go:35  WaitGroup.Add
	//      3  main  example_test.go:35  after go
	//      4  main  example_test.go:25  Mutex.Lock
	//      5  g1    example_test.go:35  begins, though another could have continued
	//      6  g1    example_test.go:25  Mutex.Lock
	//      7  g1    example_test.go:27  after Mutex.Unlock
	//      8  g1    example_test.go:29  Mutex.Lock
	//      9  g1    example_test.go:31  after Mutex.Unlock
	//     10  g1    example_test.go:35  WaitGroup.Done
	//     11  main  example_test.go:27  after Mutex.Unlock
	//     12  main  example_test.go:29  Mutex.Lock
	//     13  main  example_test.go:31  after Mutex.Unlock
	//     14  main  example_test.go:37  WaitGroup.Wait
	//
	//     t     0    0     0
	//     main  1-4--------11-14--
	//     g1    -----5-10---------
	//                ^ another could have continued
}
