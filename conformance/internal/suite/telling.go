package suite

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/verb"
)

// rank is the greater, the less a rule tells where others fail too: what calls that meet, or 200,000
// requests, show, a few steps show better, and best those that are about one thing.
func (e *engine) rank(id string) int {
	r, v := e.rule(id), e.broken(id)
	panics := id == callsRule && v != nil && strings.Contains(v.Headline, " panicked: ") // so that it was not done
	switch {
	case v != nil && v.never:
		return -2
	case r == nil:
		return 0
	case r.Cause || panics:
		return -1
	case r.probes():
		return 2
	case r.Mixed:
		return 1
	}
	return 0
}

// corner reports whether a configuration is one that nobody uses, for what boundaries do: a time of 0 or
// nanoseconds, or of years, a bound shorter than the wait, a rate of nothing, without end or beyond what is counted, no
// burst or one without end, a clock that starts at an odd instant. What it shows follows more often from something
// that a plain one shows, than the other way round.
func corner(cfg conformance.Config) bool {
	for key, d := range map[string]time.Duration{
		"wait": cfg.Wait, "maxwait": cfg.MaxWait, "interval": cfg.Interval, "timeout": cfg.Timeout,
	} {
		if cfg.Has(key) && (d < time.Microsecond || d > 365*24*time.Hour) {
			return true
		}
	}
	return cfg.Has("maxwait") && cfg.MaxWait < cfg.Wait || cfg.Has("epoch") ||
		cfg.Has("rate") && (cfg.Rate.Events <= 0 || cfg.Rate.Extreme() || cfg.Rate.Interval() < time.Microsecond) ||
		cfg.Has("burst") && (cfg.Burst < 1 || cfg.Burst >= 1<<30)
}

// oddness is the greater, the more likely a schedule shows at a boundary what a plain one shows, too: 1 in a corner,
// for one of several keys, with a negative or an enormous number, a clock that is set, or a callback that calls back or
// panics; 2 with a negative time.
func oddness(s conformance.Schedule) int {
	cfg := s.Config
	special := func(st conformance.Step) bool { return st.K != 0 || st.N < 0 || st.N >= 1<<30 || st.Op == verb.Wall }
	switch {
	case min(cfg.Wait, cfg.MaxWait, cfg.Interval, cfg.Timeout) < 0:
		return 2
	case corner(cfg), cfg.Has("inside"), cfg.Has("panics"), slices.ContainsFunc(s.Steps, special):
		return 1
	}
	return 0
}

// setCauses groups what fails, and says where what could not be judged hangs: what hangs in one place is one cause.
func (e *engine) setCauses(r *conformance.Report) {
	first, also := telling(r, e.rank)
	hangs := map[string]int{}
	for _, c := range r.ByCause(append([]string{"CANARY", first}, also...)) {
		if u := e.whose(c.Rules[0]); u != nil && c.Status == conformance.Inconclusive {
			c.Schedule, c.Place = u.schedule(), e.place(u.hang)
		}
		if i, ok := hangs[c.Place]; ok && c.Place != "" {
			r.Causes[i].Rules = append(r.Causes[i].Rules, c.Rules...)
			continue
		}
		hangs[c.Place] = len(r.Causes)
		r.Causes = append(r.Causes, c)
	}
}

// place is the line of the implementation, or of its test, at which a run hangs, "" if no goroutine shows one.
func (e *engine) place(h *Hang) string {
	for _, g := range h.Goroutines {
		if e.foreign(g.Stack) && (g.Bubble || g.below(markOperation) >= 0) && !waitsForTests(g.Stack) && g.Place != "" {
			return g.Function + " at " + g.Place
		}
	}
	return ""
}

// telling names the rule among those that fail which tells most of what is wrong, and the
// others. It is one of the least rank, which a corner raises; one that a plain schedule breaks; the one that breaks
// on the smallest schedule; of several, the one that concerns the fewest schedules.
func telling(r *conformance.Report, rank func(rule string) int) (cause string, also []string) {
	var failing []conformance.Verdict
	parsed := map[string]conformance.Schedule{}
	for _, v := range r.Verdicts[2:] {
		if Failed(v) {
			failing = append(failing, v)
			if s, err := conformance.ParseSchedule(v.Schedule); err == nil {
				parsed[v.Rule] = s
			}
		}
	}
	if len(failing) == 0 {
		return "", nil
	}
	slices.SortStableFunc(failing, func(a, b conformance.Verdict) int {
		s, t := parsed[a.Rule], parsed[b.Rule]
		p, q := rank(a.Rule), rank(b.Rule)
		if corner(s.Config) && p >= 0 {
			p++
		}
		if corner(t.Config) && q >= 0 {
			q++
		}
		return cmp.Or(p-q, oddness(s)-oddness(t), s.Compare(t), cmp.Compare(a.Judged, b.Judged))
	})
	for _, v := range failing[1:] {
		also = append(also, v.Rule)
	}
	return failing[0].Rule, also
}
