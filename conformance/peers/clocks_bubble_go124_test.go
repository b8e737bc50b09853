//go:build !go1.25

package peers

import "testing"

// inBubble needs testing/synctest as of Go 1.25.
func inBubble(b *testing.B, _ func(meter, func() fakeClock)) {
	b.Skip("testing/synctest needs go 1.25")
}
