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
)

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
func (e *engine[T, E]) shown(rec *Recording) *Violation {
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
	Like  *regexp.Regexp // the marks that it is
	Lane  string         // where it occurs; "" stands for the lanes want and got
	Means string         // "y is granted"
}

// Signed is a contract whose timelines have marks of their own.
type Signed interface {
	Signs() []Sign
}

// commonSigns are those of all contracts.
var commonSigns = []Sign{
	{regexp.MustCompile(`^\d*\*$`), anyLane, "* is called inside a callback"},
	{regexp.MustCompile(`~$`), anyLane, "~ comes just when something is due"},
	{regexp.MustCompile(`^x~?$`), anyLane, "x is the call"},
	{regexp.MustCompile(`\(([a-z ]+\d+ )?[0-9.]+(ns|us|ms|s|m|h)\)`), anyLane,
		"a time in brackets is how long it may wait"},
	{regexp.MustCompile(`\[$`), "busy", "[ and ) are where a callback begins and ends"},
	{regexp.MustCompile(`\[|\)`), inside.LaneWindow, "[ and ) are where a window begins and ends"},
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
	like := func(m Mark) bool { return sign.Like.MatchString(m.Text) }
	return slices.ContainsFunc(lanes, func(l Lane) bool {
		here := l.Name == sign.Lane || sign.Lane == anyLane || sign.Lane == "" && (l.Name == "want" || l.Name == "got")
		return here && slices.ContainsFunc(l.Marks, like)
	})
}
