package debounce

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The last column of COMPARISON.md is what the Debouncer does.
func TestComparison(t *testing.T) {
	text, err := os.ReadFile("COMPARISON.md")
	if err != nil {
		t.Fatal(err)
	}
	options := map[string][]Option{
		"trailing":                    nil,
		"leading":                     {Leading()},
		"leading and trailing":        {LeadingAndTrailing()},
		"leading and trailing, twice": {LeadingAndTrailingTwice()},
		"trailing, at most 250":       {MaxWait(250 * ms)},
		"trailing, at most 30":        {MaxWait(30 * ms)},
	}
	rows := 0
	for _, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		opts, ok := options[cells[0]]
		if !ok || len(cells) != 5 {
			continue
		}
		rows++
		if got := played(t, cells[1], opts); got != cells[4] {
			t.Errorf("%s: %s: fires %s, the file says %s", cells[0], cells[1], got, cells[4])
		}
	}
	if rows != 12 {
		t.Errorf("found %d rows, want 12", rows)
	}
}

// played returns the fires of a debouncer whose wait is 100 ms.
func played(t *testing.T, calls string, opts []Option) string {
	t.Helper()
	c := newHandClock()
	start := c.now
	var fires []string
	d := New(100*ms, func(v int) { fires = append(fires, fmt.Sprintf("%d@%d", v, c.now.Sub(start)/ms)) }, append(opts, WithClock(c))...)
	n := 0
	for _, call := range strings.Split(calls, ", ") {
		call, early := strings.CutSuffix(call, " before the timer")
		call = strings.TrimSuffix(call, " after the timer")
		op, at, _ := strings.Cut(call, " ")
		when, err := strconv.Atoi(at)
		if err != nil {
			t.Fatal(err)
		}
		c.advance(time.Duration(when)*ms - c.now.Sub(start))
		if !early {
			c.release()
		}
		switch op {
		case "call":
			n++
			d.Call(n)
		case "cancel":
			d.Cancel()
		case "flush":
			d.Flush()
		default:
			t.Fatalf("unknown %q", op)
		}
	}
	c.release()
	c.to(time.Hour)
	return strings.Join(fires, ", ")
}
