package conformance

import (
	"regexp"
	"slices"
	"strings"
)

// Cause is one behaviour of an implementation, with all the rules that fail by it: on one schedule, or with one
// headline. Rules that could not be judged for one reason are one cause, too.
type Cause struct {
	// Status is Fail, Undecided for what is to be declared or decided, or Inconclusive for what could not be judged.
	Status Status `json:"status"`
	// Rules are the IDs of the rules, the most telling first.
	Rules []string `json:"rules"`
	// Headline and Schedule are those of the first rule; Headline is the reason for what could not be judged.
	Headline string `json:"headline,omitempty"`
	Schedule string `json:"schedule,omitempty"`
	// Place is the line at which the run hangs, for a cause that could not be judged; "" if it is not known.
	Place string `json:"place,omitempty"`
}

// ByCause groups failing rules by their finding, then TRAITS if it is undecided, then rules that could not be judged.
// The order of the failing ones is that of first, and for rules that are not in it that of the verdicts.
func (r *Report) ByCause(first []string) []Cause {
	rank := func(v Verdict) int {
		if i := slices.Index(first, v.Rule); i >= 0 {
			return i
		}
		return len(first)
	}
	var broken, asked, open []Verdict
	for _, v := range r.Verdicts {
		switch {
		case v.Status == Fail && v.Level != Provisional:
			broken = append(broken, v)
		case v.Status == Undecided && v.Text != "":
			asked = append(asked, v)
		case v.Status == Inconclusive && v.Text != "":
			open = append(open, v)
		}
	}
	slices.SortStableFunc(broken, func(a, b Verdict) int { return rank(a) - rank(b) })
	return slices.Concat(grouped(broken), grouped(asked), grouped(open))
}

// grouped joins verdicts of one cause, in the order in which each cause is first found.
func grouped(verdicts []Verdict) []Cause {
	var groups [][]Verdict
	for _, v := range verdicts {
		i := slices.IndexFunc(groups, func(g []Verdict) bool {
			return slices.ContainsFunc(g, func(w Verdict) bool { return sameCause(v, w) })
		})
		if i < 0 {
			groups = append(groups, []Verdict{v})
			continue
		}
		groups[i] = append(groups[i], v)
	}
	var out []Cause
	for _, g := range groups {
		c := Cause{Status: g[0].Status, Headline: g[0].Reason, Schedule: g[0].Schedule}
		for _, v := range g {
			c.Rules = append(c.Rules, v.Rule)
		}
		out = append(out, c)
	}
	return out
}

// sameCause reports whether two rules find one thing.
func sameCause(v, w Verdict) bool {
	if v.Schedule != "" && v.Schedule == w.Schedule {
		return true
	}
	a, b := plainHeadline(v.Reason), plainHeadline(w.Reason)
	return a != "" && (a == b || strings.HasSuffix(a, ": "+b) || b != "" && strings.HasSuffix(b, ": "+a))
}

// circumstance is what a headline begins with that says on which key something happened, or which call panicked.
var circumstance = regexp.MustCompile(`^key -?\d+: |^.* panicked: `)

// instant is when something happened.
var instant = regexp.MustCompile(` at -?\d[0-9a-zµ.]*`)

// plainHeadline is a headline without the circumstance; and without instants, unless it compares with what was wanted.
func plainHeadline(headline string) string {
	plain := circumstance.ReplaceAllString(headline, "")
	if !strings.Contains(plain, "want") {
		plain = instant.ReplaceAllString(plain, "")
	}
	return plain
}
