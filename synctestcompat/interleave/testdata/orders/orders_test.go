package orders

import (
	"strings"
	"testing"

	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

// firsts are the interleavings that fail first, on any machine.
var firsts = map[string]string{
	"bucket/clock before the lock":                 "2.1-cb06",
	"window/clock before the lock":                 "2.1-cb06",
	"semaphore/granted as it gives up":             "0.1-ec86",
	"limiter/deadline at the grant":                "4.1,5.1,6.1-11eb",
	"gate/broadcast of a context without the lock": "1.1,3.1,5.1-40ff",
	"tokens/context had ended":                     "first-97bd",
	"batcher/quits before it has drained":          "4.1,10.1-f922",
	"limiter/a flag as a once":                     "3.1,5.1-15b9",
	"cache/replaces a newer once":                  "2.1-5bc3",
	"keys/added without a second look":             "9.1,11.1-17d4",
	"window/renewed without a second look":         "3.1,5.1-6549",
	"stats/nested readers":                         "2.1-1340",
	"semaphore/if for a loop":                      "1.1,8.1-3dfa",
	"gate/opened without the lock":                 "1.1,4.1-1afa",
	"count/load and add":                           "3.1,5.1-d392",
	"window/two words":                             "3.1,5.1-1a2a",
	"flights/put back before they are read":        "first-f939",
	"throttle/written to when put back":            "4.2,5.1,7.2-6f91",
	"lease/released as it expires":                 "0.1-3bc9",
	"job/abandoned as it begins":                   "5.1,7.1-a696",
	"debouncer/generation before the lock":         "1.1,2.1,4.1-3cbc",
	"cache/generation before the lock":             "1.1,7.1-352d",
	"debouncer/cancelled when it has expired":      "1.1-4b39",
	"batcher/full when it has expired":             "1.1-429a",
	"throttle/timer sends to what is closed":       "7.1-cd68",
	"throttle/timer armed after the item came out": "4.1-15fc",
}

// explored returns what interleave finds of a program.
func explored(t *testing.T, p Program) interleave.Result {
	t.Helper()
	r := interleave.Explore(t, p.Body)
	if !r.Rewritten {
		t.Skip("to be run by weave")
	}
	return r
}

func TestMistaken(t *testing.T) {
	for _, p := range Mistaken {
		t.Run(p.Name, func(t *testing.T) {
			r := explored(t, p)
			if r.Replay == "" {
				t.Errorf("row: %-45s %-16s not found: %s", p.Name, p.Kind, r.Summary())
				return
			}
			number := 0
			for _, n := range r.Runs {
				number += n
			}
			_, first, _ := strings.Cut(r.Replay, ":")
			t.Logf("row: %-45s %-16s number %d, preemptions %d, %s", p.Name, p.Kind, number, len(r.Runs)-1, first)
			if want := firsts[p.Name]; first != want {
				t.Errorf("%s fails first, want %s:\n%s", first, want, r.Failure)
			}
		})
	}
}

func TestRight(t *testing.T) {
	for _, p := range Right {
		t.Run(p.Name, func(t *testing.T) {
			r := explored(t, p)
			t.Logf("row: %-45s %-16s %s", p.Name, p.Kind, r.Summary())
			if r.Failure != "" {
				t.Error(r.Failure)
			}
		})
	}
}
