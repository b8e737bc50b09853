package stackmark

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Each digit of a mark has a line of its own, in each of the sixteen places.
func TestCall_spellsTheMark(t *testing.T) {
	seen := map[string]uint64{}
	for place := range 16 {
		for digit := range uint64(16) {
			mark := digit << (4 * place)
			if mark == 0 && place > 0 {
				continue
			}
			var pcs [32]uintptr
			n := 0
			Call(mark, func() { n = runtime.Callers(2, pcs[:place+3]) })
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

// marks returns the marks on the caller's stack, the newest first.
func marks() (all []uint64) {
	var pcs [64]uintptr
	anyOf(pcs[:runtime.Callers(2, pcs[:])], func(mark uint64) bool {
		all = append(all, mark)
		return false
	})
	return all
}

func wantMarks(t *testing.T, got []uint64, want ...uint64) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("marks %#x, want %#x", got, want)
	}
}

func TestAny(t *testing.T) {
	wantMarks(t, marks())
	for _, mark := range []uint64{0, 1, 15, 16, 0x100, 0x0fedcba987654321, 1 << 63, 1<<64 - 1, Of("text")} {
		Call(mark, func() { wantMarks(t, marks(), mark) })
	}
	Call(0x12, func() {
		Call(0x34, func() {
			Call(0x34, func() { wantMarks(t, marks(), 0x34, 0x34, 0x12) })
		})
		Call(5, func() { wantMarks(t, marks(), 5, 0x12) })
		wantMarks(t, marks(), 0x12)
		others := make(chan []uint64)
		go func() { others <- marks() }()
		wantMarks(t, <-others)
	})
	wantMarks(t, marks())
	Call(3, func() {
		Call(2, func() {
			for mark, want := range []bool{false, false, true, true} {
				if got := On(uint64(mark)); got != want {
					t.Errorf("On(%d) = %v, want %v", mark, got, want)
				}
			}
			first := uint64(0)
			Any(func(mark uint64) bool { first = mark; return true })
			if first != 2 {
				t.Errorf("Any asks for %d first, want 2", first)
			}
		})
	})
}

//go:noinline
func deep(frames int, f func()) {
	if frames > 0 {
		deep(frames-1, f)
		return
	}
	f()
}

// On finds a mark however far away it is, and where stacks have just as many frames
// as a buffer.
func TestOn_deep(t *testing.T) {
	for _, frames := range []int{1, 200, 20_000} {
		deep(frames, func() {
			Call(7, func() {
				deep(frames, func() {
					if !On(7) || On(8) {
						t.Errorf("with %d frames: On(7) = %v, On(8) = %v, want true, false", frames, On(7), On(8))
					}
				})
			})
		})
	}
	for frames := range 300 {
		Call(7, func() {
			deep(frames, func() {
				if !On(7) {
					t.Errorf("with %d frames: On(7) = false", frames)
				}
			})
		})
	}
}

// What is deferred runs above the frames of a panic or Goexit, as far out as it may be;
// when they are gone so is the mark.
func TestOn_panics(t *testing.T) {
	want := func(want bool) {
		t.Helper()
		if got := On(7); got != want {
			t.Errorf("On(7) = %v, want %v", got, want)
		}
	}
	func() {
		defer func() {
			want(true)
			recover()
			want(true)
		}()
		Call(7, func() {
			defer want(true)
			panic("in vain")
		})
	}()
	want(false)
	Call(7, func() {
		defer want(true)
		defer func() { recover() }()
		panic("in vain")
	})
	ended := make(chan bool)
	go func() {
		defer close(ended)
		defer want(true)
		Call(7, runtime.Goexit)
	}()
	<-ended
}

func TestNew(t *testing.T) {
	a, b := New(), New()
	if a == 0 || b <= a || b >= Of("") {
		t.Errorf("New() = %d, then %d; want more each time, from 1 to below %d", a, b, Of(""))
	}
	if a, again := Of("a"), Of("a"); a == Of("b") || a != again {
		t.Errorf("Of(a) = %d and %d, Of(b) = %d", a, again, Of("b"))
	}
}

func TestInTrace(t *testing.T) {
	trace := func() string {
		buf := make([]byte, 1<<16)
		return string(buf[:runtime.Stack(buf, false)])
	}
	wantMarks(t, InTrace(trace()))
	for _, frames := range []int{0, 1000} { // the second has its middle left out
		deep(frames, func() {
			Call(Of("text"), func() {
				Call(0xedcba987654321, func() { wantMarks(t, InTrace(trace()), 0xedcba987654321, Of("text")) })
			})
		})
	}
	text := ""
	Call(0x1234, func() { deep(1000, func() { text = trace() }) })
	if !strings.Contains(text, "elided") {
		t.Errorf("the trace is whole:\n%s", text)
	}
	wantMarks(t, InTrace(text), 0x1234)
	for frames := range 60 { // the gap moves over the mark: there it is not whole
		Call(0x12, func() {
			deep(frames, func() {
				Call(0x345678, func() { deep(100, func() { text = trace() }) })
			})
		})
		for _, mark := range InTrace(text) {
			if mark != 0x12 && mark != 0x345678 {
				t.Errorf("marks %#x in the trace, want of 0x12 and 0x345678", InTrace(text))
			}
		}
	}
}

// A mark costs a few nanoseconds: what is marked does not escape.
func TestCall_allocates(t *testing.T) {
	var n int
	if got := testing.AllocsPerRun(100, func() { Call(0x1234, func() { n++ }) }); got != 0 {
		t.Errorf("Call allocates %v times, want 0", got)
	}
}

func BenchmarkCall(b *testing.B) {
	for _, mark := range []uint64{1, 0x12, 0x12345} {
		b.Run(fmt.Sprintf("%#x", mark), func(b *testing.B) {
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				Call(mark, func() { n++ })
			}
		})
	}
}

func BenchmarkOn(b *testing.B) {
	for _, frames := range []int{0, 100, 10_000} {
		b.Run(fmt.Sprintf("frames=%d", frames), func(b *testing.B) {
			Call(1, func() {
				deep(frames, func() {
					b.ReportAllocs()
					for b.Loop() {
						On(1)
					}
				})
			})
		})
	}
}

func TestOldest(t *testing.T) {
	oldest := func() (uint64, bool) {
		var pcs [64]uintptr
		return Oldest(pcs[:runtime.Callers(1, pcs[:])])
	}
	if mark, ok := oldest(); ok {
		t.Errorf("Oldest() = %d of a stack without marks", mark)
	}
	for _, want := range []uint64{0, 1, 16, 0x1023456789abcdef} {
		done := make(chan bool)
		go Call(want, func() {
			defer close(done)
			Call(7, func() {
				if got, ok := oldest(); got != want || !ok {
					t.Errorf("Oldest() = %#x, %v, want %#x", got, ok, want)
				}
			})
		})
		<-done
	}
}
