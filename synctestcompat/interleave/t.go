package interleave

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// T is the argument of [Check]'s function, a new one for each interleaving. It collects failures. Its Cleanup
// functions are called at the end of the interleaving, in the bubble; its Context belongs to the bubble too. The
// other methods of testing.TB are those of the test.
//
// All methods may be called by all goroutines. FailNow, and methods that use it, end the calling
// goroutine.
type T struct {
	testing.TB

	mu       sync.Mutex
	failed   bool
	skipped  bool
	texts    []string
	cleanups []func()
	ctx      context.Context
	cancel   context.CancelFunc
}

// body runs f and then what it has deferred to Cleanup.
func (t *T) body(f func(*T)) {
	t.ctx, t.cancel = context.WithCancel(context.Background())
	defer t.clean()
	f(t)
}

func (t *T) clean() {
	t.cancel()
	for {
		t.mu.Lock()
		last := len(t.cleanups) - 1
		if last < 0 {
			t.mu.Unlock()
			return
		}
		f := t.cleanups[last]
		t.cleanups = t.cleanups[:last]
		t.mu.Unlock()
		defer t.clean() // the next, also if f panics or ends the goroutine
		f()
	}
}

// note keeps a text, with the line of the caller of the method that calls note.
func (t *T) note(fails bool, text string) {
	_, file, line, _ := runtime.Caller(2)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = t.failed || fails
	t.texts = append(t.texts, fmt.Sprintf("%s:%d: %s", base(file), line, strings.TrimSuffix(text, "\n")))
}

// Helper does nothing: each text names its own line.
func (t *T) Helper() {}

// Cleanup calls f when the interleaving ends.
func (t *T) Cleanup(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleanups = append(t.cleanups, f)
}

// Context is cancelled just before the functions of Cleanup are called.
func (t *T) Context() context.Context { return t.ctx }

// Fail makes the interleaving fail.
func (t *T) Fail() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = true
}

// FailNow is Fail, and ends the goroutine.
func (t *T) FailNow() { t.Fail(); runtime.Goexit() }

// Failed reports whether the interleaving has failed.
func (t *T) Failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed
}

// Log notes a text, which is shown if the interleaving fails.
func (t *T) Log(args ...any) { t.note(false, fmt.Sprintln(args...)) }

// Logf notes a text, which is shown if the interleaving fails.
func (t *T) Logf(format string, args ...any) { t.note(false, fmt.Sprintf(format, args...)) }

// Error is Log and Fail.
func (t *T) Error(args ...any) { t.note(true, fmt.Sprintln(args...)) }

// Errorf is Logf and Fail.
func (t *T) Errorf(format string, args ...any) { t.note(true, fmt.Sprintf(format, args...)) }

// Fatal is Log and FailNow.
func (t *T) Fatal(args ...any) { t.note(true, fmt.Sprintln(args...)); runtime.Goexit() }

// Fatalf is Logf and FailNow.
func (t *T) Fatalf(format string, args ...any) {
	t.note(true, fmt.Sprintf(format, args...))
	runtime.Goexit()
}

// Skip is Log and SkipNow.
func (t *T) Skip(args ...any) { t.note(false, fmt.Sprintln(args...)); t.SkipNow() }

// Skipf is Logf and SkipNow.
func (t *T) Skipf(format string, args ...any) {
	t.note(false, fmt.Sprintf(format, args...))
	t.SkipNow()
}

// SkipNow ends the goroutine. If f's goroutine calls it, this interleaving is not judged further; if it
// does so in all of them, the test is skipped.
func (t *T) SkipNow() {
	t.mu.Lock()
	t.skipped = true
	t.mu.Unlock()
	runtime.Goexit()
}

// Skipped reports whether SkipNow was called.
func (t *T) Skipped() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.skipped
}
