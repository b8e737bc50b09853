package suite

import (
	"cmp"
	"slices"
	"strings"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/internal/verb"
)

// explain puts the parts of a failure's text into its verdict, for those who draw it.
func (e *engine[T, E]) explain(r *Rule[T, E], v *conformance.Verdict, broken *Violation) {
	broken.Because = e.assuming(broken.Because)
	v.Text, v.Because, v.Replay = e.text(r, broken), broken.Because, e.replay(r.ID, broken)
	v.Interleaving = strings.Trim(broken.order, "\n")
	if broken.Run != nil {
		v.Picture = pictured(broken)
	}
}

// assuming says of values that nobody has declared that they are assumed.
func (e *engine[T, E]) assuming(because string) string {
	for i := range e.settled {
		s := &e.settled[i]
		if s.Declared != 0 {
			continue
		}
		for _, value := range s.Values {
			name := value[strings.LastIndex(value, ".")+1:]
			because = strings.ReplaceAll(because, name+" is declared", name+" is assumed")
		}
	}
	return because
}

// pictured is the timeline of a violation as data.
func pictured(v *Violation) *inside.Picture {
	p := &inside.Picture{At: v.At}
	if v.Run.Order != inside.OrderSettled {
		p.Order = v.Run.Order.String()
	}
	for _, l := range lanes(v) {
		lane := inside.Lane{Name: l.Name}
		for _, m := range l.Marks {
			lane.Marks = append(lane.Marks, inside.LaneMark{At: m.At, Text: m.Text})
		}
		p.Lanes = append(p.Lanes, lane)
	}
	for _, d := range v.Run.Done {
		if d.Op != verb.Idle {
			p.Spans = append(p.Spans, between(string(d.Op), stepMark(d.Step), d.Began, d.Ended, d.Inside))
		}
	}
	for _, f := range v.Run.Fires {
		p.Spans = append(p.Spans, between("callback", FireMark(f.Value), f.Began, f.Ended, false))
	}
	slices.SortStableFunc(p.Spans, func(a, b inside.Span) int { return cmp.Compare(a.First, b.First) })
	return p
}

// best are the schedules below the rules on the page of a contract.
func best(page string) map[string]string {
	all := map[string]string{}
	for _, section := range strings.Split(page, "\n## ")[1:] {
		id, text, _ := strings.Cut(section, "\n")
		lines := strings.Split(strings.TrimSpace(text), "\n")
		if n := len(lines); n > 1 && lines[n-1] == "```" {
			all[id] = lines[n-2]
		}
	}
	return all
}

// between makes a span of two points.
func between(lane, text string, began, ended conformance.Mark, within bool) inside.Span {
	return inside.Span{
		Lane: lane, Text: text, Inside: within,
		From: began.At, To: ended.At, First: began.Seq, Last: ended.Seq,
	}
}
