package clocktest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/internal/verb"
	"github.com/escapement-go/escapement/synctestcompat"
)

// probed is the contract with CK-DIFF as its only rule, whose probe is the test's.
type probed struct {
	*contract
	probe func(s *search) *suite.Violation
}

func (p *probed) Families(*suite.Suite) []suite.Family { return nil }

func (p *probed) Rules() []suite.Rule[*Traits, *exam] {
	rules := p.contract.Rules()
	i := slices.IndexFunc(rules, func(r suite.Rule[*Traits, *exam]) bool { return r.ID == programs })
	r := rules[i]
	r.Probe = func(probe *suite.Probe) (*suite.Violation, string) {
		return p.probe(&search{contract: p.contract, probe: probe}), ""
	}
	return []suite.Rule[*Traits, *exam]{r}
}

// probe lets a test judge programs on a clock, and returns the verdict.
func probe(t *testing.T, spec Spec, judge func(s *search) *suite.Violation) conformance.Verdict {
	t.Helper()
	r := suite.Examine(t, &probed{&contract{spec: spec}, judge}, inside.Options{})
	v, ok := r.Verdict(programs)
	if !ok {
		t.Fatalf("%s: no verdict on %s", spec.Name, programs)
	}
	return v
}

// The bundled clock shows what package time shows on programs of 80 steps: as it is, told to
// settle, and also told to report events and sites. -v prints how often each operation met a
// timer of each kind in each state.
func TestPrograms_likePackageTime(t *testing.T) {
	synctestcompat.Require(t)
	prove.Require(t, prove.Suite)
	n, steps, racing := prove.Number(500, 500, 2_000, 10_000), 80, suite.WithoutRaceDetector() == ""
	if racing {
		n /= 10
	}
	reports := []fakeclock.Option{fakeclock.WithEvents(func(fakeclock.Event) {}), fakeclock.WithSites()}
	for _, spec := range []Spec{
		bundled("plain", WaitsForFunctions),
		bundled("settled", WaitsForAll),
		bundled("settled, with events and sites", WaitsForAll, reports...),
	} {
		met := map[meeting]int{}
		judged, open := 0, 0
		v := probe(t, spec, func(s *search) (first *suite.Violation) {
			for seed := uint64(0); judged < n && first == nil && !s.stalled; {
				var some []conformance.Schedule
				for range min(n-judged, batch) {
					some = append(some, s.program(s.probe.Suite, seed, steps))
					seed++
				}
				s.try(some, func(x *exam) {
					for _, m := range x.ledger.met {
						met[m]++
					}
					if x.open() != "" {
						open++
						return
					}
					judged++
					if v := x.inOrder(); v != nil && first == nil {
						v.Run, first = x.Recording, v
					}
				})
			}
			if first != nil {
				first = s.smallest(first)
			}
			return first
		})
		if v.Status != conformance.Pass {
			t.Errorf("%s: %s: %s\n%s", spec.Name, v.Status, v.Reason, v.Text)
			continue
		}
		t.Logf("%s: %d programs of %d steps, 0 differences; %d more were open in their order\n%s",
			spec.Name, judged, steps, open, coverage(met))
		if few := rare(met, 100); n >= 2_000 && len(few) > 0 {
			t.Errorf("%s: fewer than 100 of: %s", spec.Name, strings.Join(few, ", "))
		}
	}
}

// bundled describes the clock of this module. It is written down here again because the
// packages that describe it for others import this one.
func bundled(name string, waits Waits, opts ...fakeclock.Option) Spec {
	return Spec{
		Name: name, Traits: Traits{Waits: waits},
		New: func(env Env) Funcs {
			opts := slices.Clone(opts)
			if waits == WaitsForAll {
				opts = append(opts, fakeclock.WithSettle(env.Settle))
			}
			clock := fakeclock.New(opts...)
			f := Of(clock)
			f.WithTimeout = func(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
				return fakeclock.WithTimeout(parent, clock, d)
			}
			f.WithDeadline = func(parent context.Context, t time.Time) (context.Context, context.CancelFunc) {
				return fakeclock.WithDeadline(parent, clock, t)
			}
			return f
		},
	}
}

func (m meeting) String() string { return fmt.Sprintf("%-9s %-9s %s", m.kind, m.state, m.op) }

func coverage(met map[meeting]int) string {
	var lines []string
	for m, n := range met {
		lines = append(lines, fmt.Sprintf("%-30s %7d", m, n))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// rare lists the meetings that came less often than least. A channel of After can only be
// read, and a function has no value.
func rare(met map[meeting]int, least int) []string {
	var out []string
	kinds := []conformance.Op{verb.Timer, verb.Ticker, verb.AfterFunc, verb.After}
	for _, kind := range kinds {
		for _, state := range []string{stateArmed, stateUnread, stateSpent, stateStopped} {
			for _, op := range []conformance.Op{verb.Halt, verb.Rearm, verb.Read} {
				switch {
				case kind == verb.After && (op != verb.Read || state == stateStopped),
					kind == verb.AfterFunc && (op == verb.Read || state == stateUnread),
					kind == verb.Ticker && state == stateSpent: // a ticker goes on
					continue
				}
				if m := (meeting{kind, op, state}); met[m] < least {
					out = append(out, fmt.Sprintf("%s (%d)", m, met[m]))
				}
			}
		}
	}
	return out
}
