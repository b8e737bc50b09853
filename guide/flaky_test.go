//go:build flaky

package guide

import (
	"testing"

	"github.com/jonboulle/clockwork"
)

// The tests that sleep, on real time: how often they fail is a matter of the machine, and
// of what else it does.
func TestSleeping(t *testing.T) {
	for _, s := range sleeping {
		t.Run(s.name, func(t *testing.T) {
			if s.passes {
				t.Skip("it looks for a bug, which is there")
			}
			s.test(t, clockwork.NewRealClock())
		})
	}
	t.Run("tickets", func(t *testing.T) { ticketsBefore(t) })
}
