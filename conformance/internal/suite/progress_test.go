package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Where ESCAPEMENT_REPORT names a folder, a file there says how far a run is, as long as it
// goes on; a nil progress says nothing.
func TestProgress(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("ESCAPEMENT_REPORT", filepath.Join(folder, "a file"))
	if p := newProgress("mine", "debouncer"); p != nil {
		t.Error("there is a progress where nobody watches")
	}
	var nobody *progress
	nobody.step()
	nobody.close()

	t.Setenv("ESCAPEMENT_REPORT", folder)
	p := newProgress("mine", "debouncer")
	paths, err := filepath.Glob(filepath.Join(folder, "*.progress"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("files of progress: %v, %v", paths, err)
	}
	says := func(want string) {
		t.Helper()
		text, err := os.ReadFile(paths[0])
		if line, _, _ := strings.Cut(string(text), "\n"); err != nil || line != want {
			t.Errorf("it says %s (%v), want %s", line, err, want)
		}
	}
	says(`{"name":"mine","contract":"debouncer","runs":0}`)
	for range often {
		p.step()
	}
	says(`{"name":"mine","contract":"debouncer","runs":256}`)
	p.close()
	if _, err := os.Stat(paths[0]); err == nil {
		t.Error("the file stays when the run has ended")
	}
}
