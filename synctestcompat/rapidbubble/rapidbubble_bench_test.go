//go:build go1.25

package rapidbubble

import (
	"testing"

	"pgregory.net/rapid"
)

// The claim: an iteration costs no more than one of rapid.SyncTest. The property
// draws nothing, because rapid logs what a fuzz target draws.
func BenchmarkIteration(b *testing.B) {
	run := func(prop func(*rapid.T)) func(*testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			iterate, t := rapid.MakeFuzz(prop), new(testing.T)
			for b.Loop() {
				iterate(t, nil)
			}
		}
	}
	b.Run("rapidbubble", run(newRunner(nil).bubbled(func(*T) {})))
	b.Run("SyncTest", run(func(rt *rapid.T) { rapid.SyncTest(rt, func(*rapid.T) {}) }))
}
