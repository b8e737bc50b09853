package clocktest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/internal/verb"
	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/jonboulle/clockwork"
)

// The programs alone find the known differences between clockwork's fake clock and package
// time (D1 to D17; D6 shows as D5, which differs first, and D14 cannot show in programs,
// because they settle). -v prints a smallest schedule of each.
func TestPrograms_findClockwork(t *testing.T) {
	synctestcompat.Require(t)
	prove.Require(t, prove.Suite)
	if testing.Short() && suite.WithoutRaceDetector() == "" {
		t.Skip("-short: the race detector finds nothing new in these programs, at five times the cost")
	}
	spec := Spec{
		Name: "clockwork", Traits: Traits{Waits: WaitsForAll},
		New: func(Env) Funcs { return Of(clockwork.NewFakeClock()) },
	}
	found := map[string]string{}
	wanted := []string{"D1", "D2", "D3", "D4", "D5", "D7", "D8", "D9", "D10", "D11", "D12", "D13", "D15", "D16", "D17"}
	probe(t, spec, func(s *search) *suite.Violation {
		seen := map[string]int{}
		for seed := uint64(0); seed < 6000 && len(found) < len(wanted); seed++ {
			var first *suite.Violation
			s.try([]conformance.Schedule{s.program(s.probe.Suite, seed, 80)}, func(x *exam) {
				if first = x.inOrder(); first != nil {
					first.Run = x.Recording
				}
			})
			if first == nil {
				continue
			}
			if seen[first.Kind]++; seen[first.Kind] > 60 {
				continue // enough of this kind
			}
			small := s.smallest(first)
			if d := divergence(small); d != "" && found[d] == "" {
				found[d] = small.Headline + "\n      " + small.Run.Schedule.String()
			}
		}
		return nil
	})
	for _, d := range wanted {
		if found[d] == "" {
			t.Errorf("no program shows %s", d)
		}
		t.Logf("%-4s %s", d, found[d])
	}
}

// shown is a smallest schedule and the difference that it shows.
type shown struct {
	steps     []conformance.Step
	got, want string // the headline
	panics    bool   // want is a panic at the instant of the difference
	word      string // what the difference is about, as in aboutWhat
	n         int    // and its number
	// goroutines sleep or receive, functions run.
	goroutines, functions bool
}

// missed matches what is said of what did not happen.
var missed = regexp.MustCompile(` did not (run|wake|panic)$| received nothing$`)

// What should have panicked is said to have not.
func TestMissing(t *testing.T) {
	s, err := conformance.ParseSchedule("ticker 1 1s @0 | rearm 1 0 @0")
	if err != nil {
		t.Fatal(err)
	}
	const want = "Reset(0) of ticker 1 did not panic, want a panic at "
	if got := (event{step: s.Steps[1], text: panics}).missing(s); got != want {
		t.Errorf("missing = %q, want %q", got, want)
	}
}

// aboutWhat are the words of headlines, by the operations that they are about.
var aboutWhat = []struct {
	word  string
	words *regexp.Regexp
}{
	{"halt", regexp.MustCompile(`^Stop of \w+ (\d+)`)},
	{"rearm", regexp.MustCompile(`^Reset\(\S+\) of \w+ (\d+)`)},
	{"read", regexp.MustCompile(`^(?:the value|nothing was) received from \w+ (\d+)`)},
	{"chan", regexp.MustCompile(`^(?:the channel|Chan) of \w+ (\d+)`)},
	{"now:", regexp.MustCompile(`^Now is ()`)},
	{"armed:", regexp.MustCompile(`^the number of armed timers is ()`)},
	{"function", regexp.MustCompile(`^function (\d+)`)},
	{"consumer", regexp.MustCompile(`^consumer (\d+)`)},
}

func show(v *suite.Violation) *shown {
	s := &shown{steps: v.Run.Schedule.Steps}
	s.got, s.want, _ = strings.Cut(v.Headline, ", want ")
	about := s.got
	switch {
	case s.got == "nothing happened":
		about, s.got = strings.TrimPrefix(s.want, "that "), "nothing"
	case missed.MatchString(s.got):
		s.got = "nothing"
	}
	for _, w := range aboutWhat {
		if found := w.words.FindStringSubmatch(about); found != nil {
			s.word = w.word
			s.n, _ = strconv.Atoi(found[1])
			break
		}
	}
	s.panics = strings.Contains(s.want, "panic")
	s.goroutines = s.has(verb.Consume, 0) || s.has(verb.Sleep, 0)
	s.functions = s.has(verb.AfterFunc, 0)
	return s
}

// at finds a step by operation and number, where 0 stands for any number, among those that
// the schedule does, or the function, sleeper or consumer with that number. It returns a
// negative number if there is none.
func (s *shown) at(op conformance.Op, n int) int { return s.find(op, n, false) }

func (s *shown) find(op conformance.Op, n int, inside bool) int {
	return slices.IndexFunc(s.steps, func(s conformance.Step) bool {
		return s.Op == op && (n == 0 || s.N == n) && (s.In != 0 && s.In != n) == inside
	})
}

func (s *shown) has(op conformance.Op, n int) bool    { return s.find(op, n, false) >= 0 }
func (s *shown) inside(op conformance.Op, n int) bool { return s.find(op, n, true) >= 0 }

// alone reports whether the schedule alone uses timers.
func (s *shown) alone() bool { return !s.goroutines && !s.functions }

// ofFunction reports whether the difference is about a function, and no goroutine sleeps
// or receives.
func (s *shown) ofFunction() bool { return !s.goroutines && s.has(verb.AfterFunc, s.n) }

// divergences are the known differences, each with a condition for smallest schedules that
// show it. The first that holds names the difference.
var divergences = []struct {
	id   string
	fits func(s *shown) bool
}{
	{"D17", func(s *shown) bool { return s.word == "chan" }},
	{"D3", func(s *shown) bool { return s.word == "rearm" && s.panics && s.has(verb.Ticker, s.n) }},
	{"D2", func(s *shown) bool {
		return s.word == "armed:" && s.alone() && s.has(verb.Ticker, 0) && s.has(verb.Rearm, 0) &&
			!s.has(verb.Timer, 0) && !s.has(verb.After, 0)
	}},
	{"D4", func(s *shown) bool { return s.alone() && s.word == "halt" && strings.HasSuffix(s.got, "false") }},
	{"D5", func(s *shown) bool { return s.alone() && s.word == "rearm" && strings.HasSuffix(s.got, "false") }},
	{"D1", func(s *shown) bool {
		return s.alone() && s.word == "read" && s.has(verb.Ticker, s.n) && s.has(verb.Rearm, s.n) &&
			s.at(verb.Halt, s.n) > s.at(verb.Rearm, s.n)
	}},
	{"D7", func(s *shown) bool {
		return s.alone() && s.word == "read" && s.has(verb.Ticker, s.n) &&
			(s.has(verb.Rearm, s.n) || s.has(verb.Halt, s.n))
	}},
	{"D9", func(s *shown) bool { return s.word == "now:" && s.goroutines && !s.functions }},
	{"D8", func(s *shown) bool { return s.word == "now:" && !s.goroutines }},
	{"D13", func(s *shown) bool {
		return s.word == "function" && strings.HasPrefix(s.want, "function") && s.got != "nothing" && !s.goroutines &&
			!s.inside(verb.Halt, 0) && !s.inside(verb.Rearm, 0)
	}},
	{"D11", func(s *shown) bool {
		return s.ofFunction() && s.inside(verb.Halt, s.n) && (s.word == "function" || s.word == "halt")
	}},
	{"D12", func(s *shown) bool {
		return s.ofFunction() && s.inside(verb.Rearm, s.n) && (s.word == "function" || s.word == "rearm")
	}},
	{"D16", func(s *shown) bool {
		return s.got == "nothing" && s.word == "consumer" && !s.functions &&
			s.has(verb.Ticker, s.steps[s.at(verb.Consume, s.n)].K)
	}},
	{"D15", func(s *shown) bool { return s.got == "nothing" && s.goroutines && !s.functions }},
	{"D10", func(s *shown) bool {
		return s.got == "nothing" && s.word == "function" && !s.goroutines &&
			slices.ContainsFunc(s.steps, func(s conformance.Step) bool { return s.In != 0 })
	}},
}

// divergence names the known difference that a smallest schedule shows.
func divergence(v *suite.Violation) string {
	s := show(v)
	for _, d := range divergences {
		if d.fits(s) {
			return d.id
		}
	}
	return ""
}
