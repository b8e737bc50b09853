package debounce

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

// journal is a recorder for many goroutines.
type journal struct {
	mu    sync.Mutex
	start time.Time
	lines []string
}

func (j *journal) log(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf("%v: ", time.Since(j.start))+fmt.Sprintf(format, args...))
}

func (j *journal) check(t *testing.T, want ...string) {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	if !slices.Equal(j.lines, want) {
		t.Errorf("got\n%q\nwant\n%q", j.lines, want)
	}
}

func newJournal() *journal { return &journal{start: time.Now()} }
