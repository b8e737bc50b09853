package debounce_test

import (
	"fmt"
	"testing"

	"github.com/escapement-go/escapement/debounce"
	"github.com/escapement-go/escapement/internal/ties"
)

// A step that meets the timer has one of the outcomes that the docs allow: nothing is lost,
// nothing fires that was cancelled, and after Stop nothing runs.
func TestDebouncer_ties(t *testing.T) {
	met := func(log *ties.Log) *debounce.Debouncer[int] {
		d := debounce.New(ties.Wait, log.Fire)
		d.Call(1)
		ties.Meet()
		return d
	}
	ties.Run(t, []ties.Tie{
		{
			Name:  "Call",
			Run:   func(log *ties.Log) string { met(log).Call(2); return "" },
			Legal: []string{" 1@100ms 2@200ms", " 2@200ms"},
		},
		{
			Name:  "Cancel",
			Run:   func(log *ties.Log) string { return fmt.Sprint(met(log).Cancel()) },
			Legal: []string{"true", "false 1@100ms"},
		},
		{
			Name: "CancelAndCall",
			Run: func(log *ties.Log) string {
				d := met(log)
				said := fmt.Sprint(d.Cancel())
				d.Call(2)
				return said
			},
			Legal: []string{"true 2@200ms", "false 1@100ms 2@200ms"},
		},
		{
			Name:  "Flush",
			Run:   func(log *ties.Log) string { return fmt.Sprint(met(log).Flush()) },
			Legal: []string{"true 1@100ms", "false 1@100ms"},
		},
		{
			Name:  "Stop",
			Run:   func(log *ties.Log) string { met(log).Stop(); log.Stopped(); return "" },
			Legal: []string{"", " 1@100ms"},
		},
	})
}
