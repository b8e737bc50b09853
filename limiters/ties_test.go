package limiters_test

import (
	"fmt"
	"testing"

	"github.com/escapement-go/escapement/internal/ties"
	"github.com/escapement-go/escapement/limiters"
)

// A step that meets the end of an interval has one of the outcomes that the docs allow:
// nothing is lost, nothing is emitted that was cancelled, and after Stop nothing runs.
func TestThrottleFunc_ties(t *testing.T) {
	met := func(log *ties.Log) *limiters.ThrottleFunc[int] {
		h := limiters.NewThrottleFunc(ties.Wait, log.Fire)
		h.Call(1)
		h.Call(2)
		ties.Meet()
		return h
	}
	ties.Run(t, []ties.Tie{
		{
			Name:  "Call",
			Run:   func(log *ties.Log) string { met(log).Call(3); return "" },
			Legal: []string{" 1@0s 2@100ms 3@200ms", " 1@0s 3@100ms"},
		},
		{
			Name: "TrailingCall",
			Run: func(log *ties.Log) string {
				h := limiters.NewThrottleFunc(ties.Wait, log.Fire, limiters.Trailing)
				h.Call(1)
				ties.Meet()
				h.Call(2)
				return ""
			},
			Legal: []string{" 1@100ms 2@200ms", " 2@100ms"},
		},
		{
			Name:  "Cancel",
			Run:   func(log *ties.Log) string { return fmt.Sprint(met(log).Cancel()) },
			Legal: []string{"true 1@0s", "false 1@0s 2@100ms"},
		},
		{
			Name:  "Flush",
			Run:   func(log *ties.Log) string { return fmt.Sprint(met(log).Flush()) },
			Legal: []string{"true 1@0s 2@100ms", "false 1@0s 2@100ms"},
		},
		{
			Name:  "Stop",
			Run:   func(log *ties.Log) string { met(log).Stop(); log.Stopped(); return "" },
			Legal: []string{" 1@0s", " 1@0s 2@100ms"},
		},
	})
}
