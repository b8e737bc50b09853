package limiters_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Reservations and waits that are given up in any order, while the limit and the burst change: more steps
// than the schedules of the suite have, which draws them one after the other.
func TestTokenBucket_givenUpAmongChanges(t *testing.T) {
	synctestcompat.Require(t) // waits can only be driven exactly in a bubble
	judge := tokenBucketSpec(conformance.Injected).Judge(t)
	r := rand.New(rand.NewPCG(15, 39)) // with which a bucket that gave back too much failed in the first 200
	for range prove.Long(500, 200_000) {
		s := amongChanges(t, r)
		for _, v := range judge.Run(s) {
			t.Fatalf("%s: %s\n%s\nor smaller: %s", v.Rule, v.Headline, s, judge.Smallest(s, v.Rule))
		}
	}
}

// amongChanges draws a schedule that empties a bucket at first, and changes it no more than three times.
func amongChanges(t *testing.T, r *rand.Rand) conformance.Schedule {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	rate := pick("10/1s", "10/1s", "100/1s")
	text := fmt.Sprintf("rate=%s burst=%s", rate, pick("2", "3", "5"))
	at, claims, changes := time.Duration(0), 0, 0
	step := func(format string, args ...any) {
		text += " | " + fmt.Sprintf(format, args...) + " @" + at.String()
	}
	claim := func() {
		claims++
		step("%s %s", pick("reserve", "wait"), pick("1", "1", "2", "3"))
	}
	change := func() {
		if changes++; changes <= 3 {
			step("%s", pick("setlimit 100/1s", "setlimit 20/1s", "setlimit "+rate, "setburst 2", "setburst 3", "setburst 5"))
		}
	}
	for range 2 + r.IntN(3) {
		claim()
	}
	change()
	for range 3 + r.IntN(9) {
		at += []time.Duration{0, 0, 0, 10, 25, 50, 100, 300}[r.IntN(8)] * time.Millisecond
		switch r.IntN(8) {
		case 0, 1, 2:
			claim()
		case 3, 4, 5:
			step("cancel %d", 1+r.IntN(claims))
		case 6:
			step("allow %s", pick("1", "1", "2", "3"))
		case 7:
			change()
		}
	}
	s, err := conformance.ParseSchedule(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Two that are given up after a change bring all of it back, however much that is.
func TestTokenBucket_givenUpAtTheExtremes(t *testing.T) {
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	l := limiters.NewTokenBucket(0, math.MaxInt)
	l.AllowN(start, 1)
	first, second := l.ReserveN(start, math.MaxInt), l.ReserveN(start, math.MaxInt/2)
	l.SetLimitAt(start, 0)
	first.CancelAt(start)
	second.CancelAt(start)
	if got, want := l.TokensAt(start), float64(math.MaxInt-1); got != want {
		t.Errorf("%g tokens are there, want %g", got, want)
	}
}
