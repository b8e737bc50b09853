package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/jonboulle/clockwork"
)

// The reference clock shows what package time shows on programs of 80 steps: as it is,
// told to settle, and also told to report events and sites. -v prints how often each
// operation met a timer of each kind in each state.
func TestClock_likePackageTime(t *testing.T) {
	synctestcompat.Require(t)
	prove.Require(t, prove.Suite)
	n, steps := prove.Number(500, 500, 2_000, 10_000), 80
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

// The programs alone find what clockwork's fake clock is known to do otherwise
// (D1 to D17; D6 shows as D5, whose answer differs first; of D14 programs cannot
// know, as they settle). -v prints a smallest schedule of each.
func TestClock_programsFindClockwork(t *testing.T) {
	synctestcompat.Require(t)
	prove.Require(t, prove.Suite)
	if !aside(t) {
		return
	}
	c := clockContract(t, ClockSpec{
		Name: "clockwork", Traits: ClockTraits{Waits: WaitsForAll},
		New: func(ClockEnv) ClockFuncs { return ClockOf(clockwork.NewFakeClock()) },
	})
	c.findings, c.schedules, c.stopped, c.stalls = map[string]*finding{}, map[string]bool{}, map[string]string{}, map[string]string{}
	c.lab.bubble = true
	c.learn()
	defer oneProcessor(true)()
	found := map[string]string{}
	seen := map[string]int{}
	wanted := []string{"D1", "D2", "D3", "D4", "D5", "D7", "D8", "D9", "D10", "D11", "D12", "D13", "D15", "D16", "D17"}
	for seed := uint64(0); seed < 6000 && len(found) < len(wanted); seed++ {
		var first *violation
		c.runClock([]job{{schedule: c.program(seed, 80), family: "CK-DIFF"}}, func(j job, tr *Trace) { first = c.judgeClock(j, tr) })
		if first == nil {
			continue
		}
		if seen[first.Kind]++; seen[first.Kind] > 60 {
			continue // enough of this kind
		}
		small := c.shrinkClock(first)
		if d := divergence(small); d != "" && found[d] == "" {
			found[d] = small.Headline + "\n      " + small.Trace.Schedule.String()
		}
	}
	for _, d := range wanted {
		if found[d] == "" {
			t.Errorf("no program shows %s", d)
		}
		t.Logf("%-4s %s", d, found[d])
	}
}

// divergence names what a smallest schedule shows of clockwork.
func divergence(v *violation) string {
	steps := v.Trace.Schedule.Steps
	// at finds a step by operation and number, done by the schedule or by others.
	at := func(op Op, n int, inside bool) int {
		return slices.IndexFunc(steps, func(s Step) bool {
			return s.Op == op && (n == 0 || s.N == n) && (s.In != 0 && s.In != n) == inside
		})
	}
	has := func(op Op, n int, inside bool) bool { return at(op, n, inside) >= 0 }
	got, want, _ := strings.Cut(v.Headline, ", want ")
	var n int // what it is about
	about := got
	if got == "nothing" {
		about = want
	}
	word, rest, _ := strings.Cut(about, " ")
	_, _ = fmt.Sscanf(rest, "%d", &n)
	goroutines := has(OpConsume, 0, false) || has(OpSleep, 0, false)
	functions := has(OpAfterFunc, 0, false)
	nobody := !goroutines && !functions
	switch {
	case word == "chan":
		return "D17"
	case word == "rearm" && strings.HasSuffix(want, "panics (at "+duration(v.At)+")") && has(OpTicker, n, false):
		return "D3"
	case word == "armed:" && has(OpTicker, 0, false) && has(OpRearm, 0, false) && nobody && !has(OpTimer, 0, false) && !has(OpAfter, 0, false):
		return "D2"
	case nobody && word == "halt" && strings.HasSuffix(got, "false"):
		return "D4"
	case nobody && word == "rearm" && strings.HasSuffix(got, "false"):
		return "D5"
	case nobody && word == "read" && has(OpTicker, n, false) && has(OpRearm, n, false) && at(OpHalt, n, false) > at(OpRearm, n, false):
		return "D1"
	case nobody && word == "read" && has(OpTicker, n, false) && (has(OpRearm, n, false) || has(OpHalt, n, false)):
		return "D7"
	case word == "now:" && goroutines && !functions:
		return "D9"
	case word == "now:" && !goroutines:
		return "D8"
	case word == "function" && strings.HasPrefix(want, "function") && got != "nothing" && !goroutines && !has(OpHalt, 0, true) && !has(OpRearm, 0, true):
		return "D13"
	case !goroutines && has(OpAfterFunc, n, false) && has(OpHalt, n, true) && (word == "function" || word == "halt"):
		return "D11"
	case !goroutines && has(OpAfterFunc, n, false) && has(OpRearm, n, true) && (word == "function" || word == "rearm"):
		return "D12"
	case got == "nothing" && word == "consumer" && !functions && has(OpTicker, steps[at(OpConsume, n, false)].K, false):
		return "D16"
	case got == "nothing" && goroutines && !functions:
		return "D15"
	case got == "nothing" && word == "function" && !goroutines && slices.ContainsFunc(steps, func(s Step) bool { return s.In != 0 }):
		return "D10"
	}
	return ""
}
