package goroutine

import "testing"

func TestID(t *testing.T) {
	own := ID()
	if own == 0 || own != ID() {
		t.Errorf("ID() = %d, then %d", own, ID())
	}
	seen := map[uint64]bool{own: true}
	ids := make(chan uint64)
	quit := make(chan struct{})
	defer close(quit)
	for range 100 {
		go func() {
			ids <- ID()
			<-quit // numbers of the living are not used again
		}()
	}
	for range 100 {
		id := <-ids
		if seen[id] {
			t.Errorf("two goroutines are %d", id)
		}
		seen[id] = true
	}
}
