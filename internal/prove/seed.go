package prove

import (
	"flag"
	"testing"
)

// SameSeed makes the random tests of t, those of rapid, draw the same in each run, so that chance has no say in whether
// a change may land. In the long form, and with -rapid.seed, others are drawn. Not for a parallel test: the seed is a
// flag.
func SameSeed(t testing.TB) {
	t.Helper()
	seed := flag.Lookup("rapid.seed")
	if seed == nil {
		t.Fatal("prove.SameSeed: there is no flag -rapid.seed; does this test import rapid?")
	}
	if seed.Value.String() != "0" || Reaches(All) {
		return
	}
	if err := seed.Value.Set("1"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = seed.Value.Set("0") })
}
