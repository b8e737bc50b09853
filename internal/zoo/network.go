package zoo

import (
	"errors"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// RoundTrip is the most time that a request to something remote takes.
const RoundTrip = 2 * time.Millisecond

var errUnreachable = errors.New("the limiter cannot be reached")

// Network is between a client and its limiter.
type Network struct {
	Clock   clockwork.Clock
	Jitters bool // a message takes up to half of a round trip, not just that

	mu      sync.Mutex
	failing bool
	sent    int
	lost    int
}

// send takes as long as a message.
func (w *Network) send() {
	w.mu.Lock()
	d := RoundTrip / 2
	if w.Jitters {
		d = d * [...]time.Duration{4, 4, 0, 2, 1, 3, 4, 1}[w.sent%8] / 4
	}
	w.sent++
	w.mu.Unlock()
	w.Clock.Sleep(d)
}

// Ask does a request. While the limiter cannot be reached, each second one is lost on the way
// there, and the others on the way back.
func (w *Network) Ask(do func()) error {
	w.send()
	w.mu.Lock()
	failing := w.failing
	if failing {
		w.lost++
	}
	arrives := !failing || w.lost%2 == 0
	w.mu.Unlock()
	if arrives {
		do()
	}
	w.send()
	if failing {
		return errUnreachable
	}
	return nil
}

// Fail says whether the limiter can be reached.
func (w *Network) Fail(failing bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failing = failing
}
