package conformance

import (
	"os"
	"path/filepath"
	"testing"
)

// After a crash ESCAPEMENT_LAST holds the schedule that was under way.
func TestLast_isKnownAfterACrash(t *testing.T) {
	last := filepath.Join(t.TempDir(), "last")
	t.Setenv("ESCAPEMENT_LAST", last)
	j := JudgeDebouncer(t, zooDebouncerSpec("", Injected))
	want, err := ParseSchedule("wait=100ms | call 1 @0 | call 2 @50ms")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range j.Run(want) {
		t.Error(v.Text)
	}
	got, err := os.ReadFile(last)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want.String()+"\n" {
		t.Errorf("%s holds %q, want %q", last, got, want)
	}
}
