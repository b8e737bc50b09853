package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/synctestcompat"
)

// The reference clock shows what package time shows on 10,000 programs of 80 steps:
// as it is, told to settle, and also told to report events and sites. -v prints how
// often each operation met a timer of each kind in each state.
func TestClock_likePackageTime(t *testing.T) {
	synctestcompat.Require(t)
	n, steps := 10_000, 80
	if testing.Short() {
		n = 500
	}
	if raceDetector {
		n /= 10
	}
	for _, config := range []struct {
		name  string
		waits ClockWaits
		opts  []fakeclock.Option
	}{
		{"plain", WaitsForFunctions, nil},
		{"settled", WaitsForAll, nil},
		{"settled, with events and sites", WaitsForAll, []fakeclock.Option{fakeclock.WithEvents(func(fakeclock.Event) {}), fakeclock.WithSites()}},
	} {
		cells := map[string]int{}
		spec := zooClock(config.name, config.waits, nil, config.opts...)
		spec.met = func(kind, op Op, state string) { cells[fmt.Sprintf("%-9s %-9s %s", kind, state, op)]++ }
		c := clockContract(t, spec)
		c.findings, c.schedules, c.stopped, c.stalls = map[string]*finding{}, map[string]bool{}, map[string]string{}, map[string]string{}
		c.lab.bubble = true
		c.learn()
		v, open := c.differ(n, steps)
		if v != nil {
			t.Errorf("%s: %s", config.name, c.text(c.ruleOf("CK-DIFF"), v))
			continue
		}
		if stall := c.stalls["CK-DIFF"]; stall != "" {
			t.Errorf("%s: %s", config.name, stall)
		}
		t.Logf("%s: %d programs of %d steps, 0 differences; %d more were open in their order\n%s", config.name, n, steps, open, coverage(cells))
		if short := thin(cells, 100); !testing.Short() && !raceDetector && len(short) > 0 {
			t.Errorf("%s: fewer than 100 of: %s", config.name, strings.Join(short, ", "))
		}
	}
}

func coverage(cells map[string]int) string {
	var lines []string
	for cell, n := range cells {
		lines = append(lines, fmt.Sprintf("%-30s %7d", cell, n))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// thin lists the cells with fewer than least. A channel of After can only be read,
// and a function has no value.
func thin(cells map[string]int, least int) []string {
	var out []string
	for _, kind := range []Op{OpTimer, OpTicker, OpAfterFunc, OpAfter} {
		for _, state := range []string{stateArmed, stateUnread, stateSpent, stateStopped} {
			for _, op := range []Op{OpHalt, OpRearm, OpRead} {
				switch {
				case kind == OpAfter && (op != OpRead || state == stateStopped),
					kind == OpAfterFunc && (op == OpRead || state == stateUnread),
					kind == OpTicker && state == stateSpent: // a ticker goes on
					continue
				}
				cell := fmt.Sprintf("%-9s %-9s %s", kind, state, op)
				if cells[cell] < least {
					out = append(out, fmt.Sprintf("%s (%d)", cell, cells[cell]))
				}
			}
		}
	}
	return out
}

func (c *contract) ruleOf(id string) *rule {
	i := slices.IndexFunc(c.rules, func(r rule) bool { return r.ID == id })
	return &c.rules[i]
}
