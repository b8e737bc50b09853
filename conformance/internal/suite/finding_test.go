package suite

import (
	"testing"

	"github.com/escapement-go/escapement/conformance"
)

// A schedule that two families have is sampled in each of them: no finding is in more runs than were made.
func TestFinding_chances(t *testing.T) {
	f := newFinding()
	s := MustParse("wait=100ms | call 1 @0 | call 2 @100ms~")
	for _, family := range []string{Leaks, "racing"} {
		for range Samples {
			f.chance(&Violation{Headline: "late", Run: recorded(s)}, Job{Schedule: s, Family: family})
		}
	}
	f.settleChances()
	if want := "late (in 80 of 80 runs)"; f.worst == nil || f.worst.Headline != want || f.family != "racing" {
		t.Errorf("found %v in %s, want %q in racing", f.worst, f.family, want)
	}
}

func recorded(s conformance.Schedule) *Recording {
	rec := &Recording{}
	rec.Schedule = s
	return rec
}
