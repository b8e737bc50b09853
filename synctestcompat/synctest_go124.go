//go:build !go1.25 && goexperiment.synctest

package synctestcompat

import (
	"bytes"
	"runtime"
	"testing"
	"testing/synctest"
)

const (
	available = true
	reason    = ""
)

// leftBehind is what Go 1.25 and later panic with.
const leftBehind = "deadlock: main bubble goroutine has exited but blocked goroutines remain"

// outcome is how a bubble ended.
type outcome struct {
	panicked any
	goexit   bool // f left by Goexit: FailNow, SkipNow
}

// run gives Go 1.24 the ending of later releases. There, time stops with the
// bubble's function; here it runs on until every goroutine has ended, which a
// leaked ticker prevents for ever. So the function looks for goroutines of its
// bubble before it returns and, if there are any, blocks for good on a channel
// from outside, which freezes the bubble where it is. The look is a stack dump,
// which is expensive, so it is taken only if the number of goroutines in
// the process has changed.
//
// Nothing of the package's own may end in the meantime and hide a leak in that number:
// the goroutine that becomes a bubble's root is kept for the next bubble, and parked
// for good if its bubble, whose number is its own, has left goroutines behind.
//
// The outcome travels over a channel from outside because on 1.24 the return of
// synctest.Run does not order the bubble's writes before what follows it.
func run(t *testing.T, f func(t *testing.T)) {
	ended := make(chan outcome, 2)
	frozen := make(chan struct{})
	onRoot(func() {
		defer func() {
			if r := recover(); r != nil {
				ended <- outcome{panicked: r}
				select {}
			}
		}()
		synctest.Run(func() {
			out := outcome{goexit: true}
			before := runtime.NumGoroutine()
			defer func() {
				synctest.Wait() // what still runs may be about to end
				if runtime.NumGoroutine() != before && bubbleHasOthers() {
					ended <- outcome{panicked: leftBehind}
					<-frozen
				}
				ended <- out
			}()
			f(t)
			out.goexit = false
		})
	})
	out := <-ended
	if out.panicked != nil {
		panic(out.panicked)
	}
	if out.goexit {
		runtime.Goexit()
	}
}

// roots are goroutines that wait for a bubble to be the root of.
var roots = make(chan chan func(), 256)

// onRoot calls f on such a goroutine.
func onRoot(f func()) {
	select {
	case root := <-roots:
		root <- f
	default:
		root := make(chan func())
		go func() {
			for f := range root {
				f()
				roots <- root
			}
		}()
		root <- f
	}
}

// bubbleHasOthers reports whether goroutines other than the caller and the
// bubble's root belong to the caller's bubble. Headers of a dump look like
//
//	goroutine 9 [chan receive (synctest), synctest group 7]:
func bubbleHasOthers() bool {
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	own, _, _ := bytes.Cut(buf, []byte("\n"))
	i := bytes.Index(own, []byte("synctest group "))
	if i < 0 {
		return false
	}
	tag := own[i:] // "synctest group 7]:"
	others := 0
	for _, g := range bytes.Split(buf, []byte("\n\n")) {
		header, stack, _ := bytes.Cut(g, []byte("\n"))
		if bytes.Contains(header, tag) && !bytes.Contains(stack, []byte("internal/synctest.Run(")) {
			others++
		}
	}
	return others > 1 // the caller itself is one
}
