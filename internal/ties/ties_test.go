package ties

import (
	"testing"
	"time"

	"github.com/escapement-go/escapement/synctestcompat"
)

// What is said and what fires is the outcome, and a callback after Stopped is late.
func TestTie_once(t *testing.T) {
	synctestcompat.Require(t)
	for _, tt := range []struct {
		name    string
		run     func(log *Log) string
		outcome string
		late    bool
	}{
		{"nothing", func(*Log) string { return "" }, "", false},
		{"an answer and two fires", func(log *Log) string {
			time.AfterFunc(Wait, func() { log.Fire(1) })
			time.AfterFunc(2*Wait, func() { log.Fire(2) })
			Meet()
			return "true"
		}, "true 1@100ms 2@200ms", false},
		{"a fire before Stopped", func(log *Log) string { log.Fire(1); log.Stopped(); return "" }, " 1@0s", false},
		{"a fire after Stopped", func(log *Log) string { log.Stopped(); log.Fire(1); return "" }, " 1@0s", true},
		{"a timer that Stopped does not stop", func(log *Log) string {
			time.AfterFunc(2*Wait, func() { log.Fire(1) })
			log.Stopped()
			return ""
		}, " 1@200ms", true},
	} {
		synctestcompat.Run(t, func(*testing.T) {
			if outcome, late := (Tie{Run: tt.run}).once(); outcome != tt.outcome || late != tt.late {
				t.Errorf("%s: once() = %q, %v, want %q, %v", tt.name, outcome, late, tt.outcome, tt.late)
			}
		})
	}
}
