package stackmark

import (
	"fmt"
	"runtime"
	"testing"
)

// Each digit of a mark has a line of its own, in each of the eight places.
func TestCall_spellsTheMark(t *testing.T) {
	seen := map[string]uint32{}
	for place := range 8 {
		for digit := range uint32(16) {
			mark := digit << (4 * place)
			if mark == 0 && place > 0 {
				continue
			}
			var pcs [32]uintptr
			n := 0
			Call(mark, func() { n = runtime.Callers(2, pcs[:9]) })
			frames, lines := runtime.CallersFrames(pcs[:n]), ""
			for more := true; more; {
				var f runtime.Frame
				f, more = frames.Next()
				lines += fmt.Sprint(f.Line, " ")
			}
			if other, ok := seen[lines]; ok {
				t.Errorf("Call(%#x) and Call(%#x) have the same lines", mark, other)
			}
			seen[lines] = mark
		}
	}
}
