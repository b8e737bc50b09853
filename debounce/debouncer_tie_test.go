package debounce_test

import (
	"fmt"
	"testing"

	"github.com/escapement-go/escapement/debounce"
	"github.com/escapement-go/escapement/internal/tie"
)

// A step that meets the deadline in life has one of the outcomes that the docs allow,
// however often it is tried: nothing is lost, nothing fires that was cancelled, and after
// Stop nothing runs.
func TestDebouncer_ties(t *testing.T) {
	meet := func(log *tie.Log) *debounce.Debouncer[int] {
		d := debounce.New(tie.Wait, log.Fire)
		d.Call(1)
		tie.Meet()
		return d
	}
	tie.Run(t, []tie.Step{
		{Name: "Call", Run: func(log *tie.Log) string { meet(log).Call(2); return "" },
			Legal: []string{" 1@100ms 2@200ms", " 2@200ms"}},
		{Name: "Cancel", Run: func(log *tie.Log) string { return fmt.Sprint(meet(log).Cancel()) },
			Legal: []string{"true", "false 1@100ms"}},
		{Name: "Cancel and Call", Run: func(log *tie.Log) string {
			d := meet(log)
			said := fmt.Sprint(d.Cancel())
			d.Call(2)
			return said
		}, Legal: []string{"true 2@200ms", "false 1@100ms 2@200ms"}},
		{Name: "Flush", Run: func(log *tie.Log) string { return fmt.Sprint(meet(log).Flush()) },
			Legal: []string{"true 1@100ms", "false 1@100ms"}},
		{Name: "Stop", Run: func(log *tie.Log) string { meet(log).Stop(); log.Stopped(); return "" },
			Legal: []string{"", " 1@100ms"}},
	})
}
