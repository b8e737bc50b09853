//go:build !go1.25

package peers

import "testing"

// inBubble needs testing/synctest as of Go 1.25.
func inBubble(b *testing.B, _ func(meter, func() fakeClock)) {
	b.Skip("testing/synctest needs go 1.25")
}

// go124 tells this release: a bubble that ended in a deadlock can end its process when
// memory is collected ("found pointer to free object", once in some runs), and a timer of
// 0 in a bubble never overtakes a context that is done.
const go124 = true

// bubbledLoop is not called on this release.
func bubbledLoop(*testing.B, func(c fakeClock) func(n int)) func(n int) {
	panic("testing/synctest needs go 1.25")
}
