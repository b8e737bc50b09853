package httplimit

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/escapement-go/escapement/limiters"
)

// What was said before is not seen in what is said now, though texts are kept.
func TestPolicies_describe(t *testing.T) {
	rng, cfg, kept := rand.New(rand.NewPCG(1, 2)), new(config), new(policies)
	for range 5000 {
		limit := 1 + rng.IntN(4)
		d := limiters.Decision{
			Limit: limit, Window: time.Duration(1+rng.IntN(2)) * time.Minute,
			Remaining: rng.IntN(limit + 1), ResetAfter: time.Duration(rng.IntN(5)) * time.Second,
		}
		got, want := http.Header{}, http.Header{}
		kept.describe(got, &d, cfg)
		new(policies).describe(want, &d, cfg)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%+v: %v, want %v", d, got, want)
		}
	}
}
