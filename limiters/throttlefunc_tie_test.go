package limiters_test

import (
	"fmt"
	"testing"

	"github.com/escapement-go/escapement/internal/tie"
	"github.com/escapement-go/escapement/limiters"
)

// A step that meets the end of an interval in life has one of the outcomes that the docs
// allow, however often it is tried: nothing is lost, nothing is emitted that was cancelled,
// and after Stop nothing runs.
func TestThrottleFunc_ties(t *testing.T) {
	meet := func(log *tie.Log, calls int, edges limiters.Edges) *limiters.ThrottleFunc[int] {
		h := limiters.NewThrottleFunc(tie.Wait, log.Fire, edges)
		for v := range calls {
			h.Call(v + 1)
		}
		tie.Meet()
		return h
	}
	const both = limiters.Leading | limiters.Trailing
	tie.Run(t, []tie.Step{
		{Name: "Call", Run: func(log *tie.Log) string { meet(log, 2, both).Call(3); return "" },
			Legal: []string{" 1@0s 2@100ms 3@200ms", " 1@0s 3@100ms"}},
		{Name: "Call, on the trailing edge", Run: func(log *tie.Log) string {
			meet(log, 1, limiters.Trailing).Call(2)
			return ""
		}, Legal: []string{" 1@100ms 2@200ms", " 2@100ms"}},
		{Name: "Cancel", Run: func(log *tie.Log) string { return fmt.Sprint(meet(log, 2, both).Cancel()) },
			Legal: []string{"true 1@0s", "false 1@0s 2@100ms"}},
		{Name: "Flush", Run: func(log *tie.Log) string { return fmt.Sprint(meet(log, 2, both).Flush()) },
			Legal: []string{"true 1@0s 2@100ms", "false 1@0s 2@100ms"}},
		{Name: "Stop", Run: func(log *tie.Log) string { meet(log, 2, both).Stop(); log.Stopped(); return "" },
			Legal: []string{" 1@0s", " 1@0s 2@100ms"}},
	})
}
