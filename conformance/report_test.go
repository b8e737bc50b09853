package conformance

import "testing"

func TestTable_labels(t *testing.T) {
	for i, want := range map[int]string{0: "[A]", 25: "[Z]", 26: "[AA]", 51: "[AZ]", 52: "[BA]", 701: "[ZZ]", 702: "[AAA]"} {
		if got := label(i); got != want {
			t.Errorf("label(%d) = %s, want %s", i, got, want)
		}
	}
}
