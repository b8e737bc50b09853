package suite

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// explain puts the parts of a failure's text into its verdict, for those who draw it.
func (e *engine) explain(r *law, v *conformance.Verdict, broken *Violation) {
	broken.Because = e.assuming(broken.Because)
	v.Text, v.Because, v.Replay = e.text(r, broken), broken.Because, e.replay(r.ID, broken)
	v.Interleaving = strings.Trim(broken.order, "\n")
	if broken.Run != nil {
		v.Picture = pictured(broken)
	}
}

// assuming says of values that nobody has declared that they are assumed.
func (e *engine) assuming(because string) string {
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
	p := &inside.Picture{At: v.At, Lanes: lanes(v)}
	if v.Run.Order != inside.OrderSettled {
		p.Order = v.Run.Order.String()
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

// Granted is how the timeline shows an answer.
var Granted = map[bool]string{true: "y", false: "n"}

// stepMark is how the timeline shows a step: by what it is about, and in brackets by what is said
// of it only at times.
func stepMark(s conformance.Step) string {
	mark, kinds := "x", s.Op.Arguments()
	optional := strings.HasPrefix(kinds, "N") && s.N != 0
	switch {
	case strings.HasPrefix(kinds, "n") || optional:
		mark = fmt.Sprint(s.N)
	case strings.HasPrefix(kinds, "r"):
		mark = s.Rate.String()
	case strings.HasPrefix(kinds, "d"):
		mark = timeline.Duration(s.D)
	}
	if strings.HasPrefix(mark, "-") { // which would be lost among the dashes of the line
		mark = "(" + mark + ")"
	}
	var more []string
	if strings.Contains(kinds, "K") && s.K != 0 {
		more = append(more, fmt.Sprintf("%s %d", s.Op.Second(), s.K))
	}
	if strings.Contains(kinds, "D") && s.D != 0 {
		more = append(more, timeline.Duration(s.D))
	}
	if len(more) > 0 {
		mark += "(" + strings.Join(more, " ") + ")"
	}
	if s.Racing {
		mark += "~"
	}
	return mark
}

// busy is the lane of callbacks that take time, from where they begin to where they end, nil if
// there are none.
func (r *Recording) busy() []Lane {
	lane := Lane{Name: "busy"}
	for _, f := range r.Fires {
		if f.Ended.Seq != 0 && f.Ended.At > f.Began.At {
			lane.Marks = append(lane.Marks, Mark{At: f.Began.At, Text: fmt.Sprint(f.Value, "[")},
				Mark{At: f.Ended.At, Text: fmt.Sprint(f.Value, ")")})
		}
	}
	if lane.Marks == nil {
		return nil
	}
	slices.SortStableFunc(lane.Marks, func(a, b Mark) int { return cmp.Compare(a.At, b.At) })
	return []Lane{lane}
}

// Shown is a detail of a recording that knows what came of its requests.
type Shown interface {
	Lanes() []Lane
}

// shown is a run that keeps a rule, for its picture: what came of its requests, if anything did.
func (e *engine) shown(rec *Recording) *Violation {
	v := &Violation{Run: rec, At: -1}
	if d, ok := rec.Detail.(Shown); ok {
		v.Lanes = d.Lanes()
	} else if got := Answers(e.profile.Answers)(rec); got != nil {
		v.Lanes = []Lane{{Name: "got", Marks: got}}
	}
	return v
}

// Sign is a mark that a timeline explains where it occurs.
type Sign struct {
	Like  string // the marks that it is, as a regular expression
	Lane  string // where it occurs; "" stands for the lanes want and got
	Means string // "y is granted"
}

// commonSigns are those of all contracts.
var commonSigns = []Sign{
	{`^\d*\*$`, anyLane, "* is called inside a callback"},
	{`~$`, anyLane, "~ comes just when something is due"},
	{`^x~?$`, anyLane, "x is the call"},
	{`\(([a-z ]+\d+ )?[0-9.]+(ns|us|ms|s|m|h)\)`, anyLane,
		"a time in brackets is how long it may wait"},
	{`\[$`, "busy", "[ and ) are where a callback begins and ends"},
	{`\[|\)`, inside.LaneWindow, "[ and ) are where a window begins and ends"},
}

const anyLane = "any"

// legend explains the marks that occur in the lanes.
func legend(lanes []Lane, own []Sign) string {
	var means []string
	for _, sign := range slices.Concat(own, commonSigns) {
		if occurs(sign, lanes) {
			means = append(means, sign.Means)
		}
	}
	if len(means) == 0 {
		return ""
	}
	return "where " + strings.Join(means, ", ") + "\n"
}

func occurs(sign Sign, lanes []Lane) bool {
	pattern := regexp.MustCompile(sign.Like)
	like := func(m Mark) bool { return pattern.MatchString(m.Text) }
	return slices.ContainsFunc(lanes, func(l Lane) bool {
		here := l.Name == sign.Lane || sign.Lane == anyLane || sign.Lane == "" && (l.Name == "want" || l.Name == "got")
		return here && slices.ContainsFunc(l.Marks, like)
	})
}
