package recent

import (
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/api/support/bundler"
)

// A timer that has expired when its bundle becomes full handles the next bundle at once (BT-STALE). Which of the two is
// first at one instant is chance.
func TestBundler_staleTimer(t *testing.T) {
	const rounds = 200
	for range rounds {
		early := false
		synctest.Test(t, func(*testing.T) {
			const delay = time.Second
			began := time.Now()
			b := bundler.NewBundler(0, func(items any) {
				early = early || items.([]int)[0] == 3 && time.Since(began) < 2*delay
			})
			b.DelayThreshold, b.BundleCountThreshold = delay, 2
			_ = b.Add(1, 1)
			time.Sleep(delay)
			_ = b.Add(2, 1)
			_ = b.Add(3, 1)
			time.Sleep(2 * delay)
			synctest.Wait()
		})
		if early {
			return
		}
	}
	t.Errorf("no bundle was handled before its delay, in %d rounds: mended", rounds)
}
