package floor

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/jonboulle/clockwork"
)

// The same in a bubble, in which the real clock is the bubble's: for code that calls
// package time this is the way.
func TestBubbleInsteadOfSleep(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		began := time.Now()
		var at []time.Duration
		err := retry(clockwork.NewRealClock(), 3, time.Second, func() error {
			at = append(at, time.Since(began))
			return errors.New("not yet")
		})
		if want := []time.Duration{0, time.Second, 3 * time.Second}; !slices.Equal(at, want) || err == nil {
			t.Errorf("attempts at %v, error %v; want attempts at %v and an error", at, err, want)
		}
	})
}
