package suite

import (
	"cmp"
	"slices"
	"strings"

	"github.com/escapement-go/escapement/conformance"
)

// rank is the greater, the less a rule tells where others fail too: what calls that meet, or 200,000
// requests, show, a few steps show better, and best those that are about one thing.
func (e *engine[T, E]) rank(id string) int {
	switch i := slices.IndexFunc(e.rules, func(r Rule[T, E]) bool { return r.ID == id }); {
	case e.findings[id] != nil && e.findings[id].worst != nil && e.findings[id].worst.never:
		return -2
	case i >= 0 && (e.rules[i].Cause || id == callsRule && e.callPanics()):
		return -1
	case e.probed(id):
		return 2
	case i >= 0 && e.rules[i].Mixed:
		return 1
	}
	return 0
}

// callPanics reports whether an operation was found to panic, which explains what others find: it was not done.
func (e *engine[T, E]) callPanics() bool {
	f := e.findings[callsRule]
	return f != nil && f.worst != nil && strings.Contains(f.worst.Headline, " panicked: ")
}

// telling names the rule among those that fail which tells most of what is wrong, and the
// others. It is one of the least rank; the one that breaks on the smallest schedule; of
// several, the one that concerns the fewest schedules.
func telling(r *conformance.Report, rank func(rule string) int) (cause string, also []string) {
	var failing []conformance.Verdict
	parsed := map[string]conformance.Schedule{}
	for _, v := range r.Verdicts[2:] {
		if v.Status == conformance.Fail && v.Level != conformance.Provisional {
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
		s, sOK := parsed[a.Rule]
		t, tOK := parsed[b.Rule]
		switch p, q := rank(a.Rule), rank(b.Rule); {
		case p != q:
			return p - q
		case sOK && tOK:
			return cmp.Or(s.Compare(t), cmp.Compare(a.Judged, b.Judged))
		case sOK:
			return -1
		case tOK:
			return 1
		}
		return 0
	})
	for _, v := range failing[1:] {
		also = append(also, v.Rule)
	}
	return failing[0].Rule, also
}
