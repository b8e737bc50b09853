package peers

import (
	"testing"
	"time"

	bep "github.com/bep/debounce"
	"github.com/escapement-go/escapement/debounce"
	"github.com/samber/lo"
)

// BenchmarkDebounce measures one more call while an event is pending, which is what
// a debouncer does most. bep/debounce and lo make a new timer each time.
func BenchmarkDebounce(b *testing.B) {
	b.Run("bep", func(b *testing.B) {
		debounced := bep.New(time.Hour) // without a cancel: its last timer stays armed
		f := func() {}
		pending(b, func() { debounced(f) })
	})
	b.Run("lo", func(b *testing.B) {
		debounced, cancel := lo.NewDebounce(time.Hour, func() {})
		defer cancel()
		pending(b, debounced)
	})
	b.Run("escapement", func(b *testing.B) {
		d := debounce.New(time.Hour, func(int) {})
		defer d.Stop()
		pending(b, func() { d.Call(1) })
	})
}

func pending(b *testing.B, call func()) {
	b.Helper()
	b.ReportAllocs()
	call()
	for b.Loop() {
		call()
	}
}
