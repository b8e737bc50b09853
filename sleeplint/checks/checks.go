// Package checks has the analyzers of sleeplint, for go vet and for any driver of
// golang.org/x/tools/go/analysis.
//
//   - [Sleep] reports where a test waits for real time: time.Sleep, a receive from
//     time.After, a timer or a ticker, a loop around them that polls, Eventually and Never
//     of testify.
//   - [Bubble] reports what goes wrong inside a bubble of testing/synctest: T.Run,
//     T.Parallel and T.Deadline, which panic there, and an assertion right after a sleep.
//   - [Clock] reports contexts of clockwork on a clock that clockwork does not know, and
//     loops of nothing but Advance on a clock that visits each deadline by itself.
//
// They look at the goroutine of the test alone: what a handler, a callback or another
// goroutine does may well be to sleep. They follow its calls, through helpers, closures and
// fields, and have facts of what the functions of other packages reach. They report what is
// certain from the text, and so less than there is.
//
// A line that ends with, or follows, a comment "//sleeplint:ok reason" is left alone.
package checks

import "golang.org/x/tools/go/analysis"

// All returns the analyzers.
func All() []*analysis.Analyzer { return []*analysis.Analyzer{Sleep, Bubble, Clock} }

const (
	escapement = "github.com/escapement-go/escapement"
	guide      = "https://" + escapement + "/blob/main/GUIDE.md"
	traps      = guide + "#traps"
)
