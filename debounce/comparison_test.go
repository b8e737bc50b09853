package debounce

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/limiters"
)

// The last column of COMPARISON.md is what the Debouncer and the ThrottleFunc do.
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
		"trailing, at most 100":       {MaxWait(100 * ms)}, // auditTime
	}
	throttles := map[string]limiters.Edges{
		"throttle, leading":    limiters.Leading,
		"throttle, trailing":   limiters.Trailing,
		"throttle, both edges": limiters.Leading | limiters.Trailing,
		"throttle, sample":     limiters.Sample,
	}
	rows := 0
	for _, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 5 {
			continue
		}
		var made func(c *handClock, f func(int)) target
		if opts, ok := options[cells[0]]; ok {
			made = func(c *handClock, f func(int)) target { return New(100*ms, f, append(opts, WithClock(c))...) }
		} else if edges, ok := throttles[cells[0]]; ok {
			made = func(c *handClock, f func(int)) target {
				return limiters.NewThrottleFunc(100*ms, f, edges, limiters.WithClock(c))
			}
		} else {
			continue
		}
		rows++
		if got := played(t, cells[1], made); got != cells[4] {
			t.Errorf("%s: %s: fires %s, the file says %s", cells[0], cells[1], got, cells[4])
		}
	}
	if rows != 38 {
		t.Errorf("found %d rows, want 38", rows)
	}
}

// target is a Debouncer, or a ThrottleFunc.
type target interface {
	Call(int)
	Cancel() bool
	Flush() bool
}

// played returns the fires of what is made.
func played(t *testing.T, calls string, made func(c *handClock, f func(int)) target) string {
	t.Helper()
	c := newHandClock()
	start := c.now
	var fires []string
	d := made(c, func(v int) { fires = append(fires, fmt.Sprintf("%d@%d", v, c.now.Sub(start)/ms)) })
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
