package suite

import (
	"testing"

	"github.com/escapement-go/escapement/conformance"
)

func TestStepMark(t *testing.T) {
	for _, tt := range []struct{ step, want string }{
		{"stop @0", "x"},
		{"call 1 @0", "1"},
		{"call 1 2 @0", "1(key 2)"},
		{"cancel @0", "x"},
		{"cancel 2 @0", "2"},
		{"wall -1s @0", "(-1s)"},
		{"setlimit 5/1s @0", "5/1s"},
		{"wait 2 50ms @0", "2(50ms)"},
		{"acquire 3 2 1s @0", "3(weight 2 1s)"},
		{"release 3 @0~", "3~"},
		{"timeout 2 1s 1 @0", "2(under 1)"}, // how long a timer is, is in the schedule
	} {
		if got := stepMark(MustParse(tt.step).Steps[0]); got != tt.want {
			t.Errorf("stepMark(%s) = %q, want %q", tt.step, got, tt.want)
		}
	}
}

// Only marks that occur are explained, and those of one lane not in another.
func TestLegend(t *testing.T) {
	lanes := []Lane{
		{Name: "call", Marks: []Mark{{Text: "1~"}, {Text: "y"}}},
		{Name: "got", Marks: []Mark{{Text: "n"}}},
	}
	own := []Sign{
		{Like: "^y$", Means: "y is granted"},
		{Like: "^n$", Means: "n is denied"},
	}
	const want = "where n is denied, ~ comes just when something is due\n"
	if got := legend(lanes, own); got != want {
		t.Errorf("legend = %q, want %q", got, want)
	}
	if got := legend(lanes[:0], own); got != "" {
		t.Errorf("legend of nothing = %q, want none", got)
	}
}

func TestBusy(t *testing.T) {
	rec := &Recording{Trace: conformance.Trace{Fires: []conformance.Fire{
		{Value: 1, Ended: conformance.Mark{At: 30, Seq: 2}},
		{Value: 2, Began: conformance.Mark{At: 40, Seq: 3}, Ended: conformance.Mark{At: 40, Seq: 4}},
	}}}
	lanes := rec.busy()
	if len(lanes) != 1 || len(lanes[0].Marks) != 2 || lanes[0].Marks[0].Text != "1[" || lanes[0].Marks[1].At != 30 {
		t.Errorf("busy = %v, want 1[ at 0 and 1) at 30: callback 2 takes no time", lanes)
	}
}
