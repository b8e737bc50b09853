package timeline

import (
	"fmt"
	"strings"
	"testing"
)

func TestTimeline_drawsLanesUnderInstants(t *testing.T) {
	tl := Timeline{
		Instants: []string{"0", "1ms", "100ms", "101ms"},
		Lanes: []Lane{
			{"call", map[int]string{0: "1", 1: "2"}},
			{"want", map[int]string{3: "F"}},
			{"got", map[int]string{2: "F"}},
		},
		Mark: 2, Note: "first difference",
	}
	want := `t     0  1ms  100ms  101ms
call  1--2------------------
want  ---------------F------
got   --------F-------------
              ^ first difference
`
	if got := tl.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTimeline_staysWithinItsWidthAndShowsTheMark(t *testing.T) {
	tl := Timeline{Lanes: []Lane{{"call", map[int]string{}}, {"got", map[int]string{}}}, Note: "first difference"}
	for i := range 200 {
		tl.Instants = append(tl.Instants, fmt.Sprintf("%dms", 100*i))
		tl.Lanes[0].Cells[i] = fmt.Sprint(i)
	}
	for _, mark := range []int{-1, 0, 1, 100, 198, 199} {
		tl.Mark = mark
		got := tl.String()
		for _, line := range strings.Split(got, "\n") {
			if len(line) > Width && !strings.Contains(line, "^") {
				t.Errorf("mark %d: a line of %d characters: %s", mark, len(line), line)
			}
		}
		if mark >= 0 && !strings.Contains(got, fmt.Sprintf(" %dms", 100*mark)) {
			t.Errorf("mark %d: its instant is not shown:\n%s", mark, got)
		}
	}
}

func TestTimeline_leavesOutMostOfMany(t *testing.T) {
	var asked []string
	for key := range 50 {
		asked = append(asked, fmt.Sprintf("1(key %d)", key+1))
	}
	cells := map[int]string{0: strings.Join(asked, ",")}
	tl := Timeline{Instants: []string{"0"}, Lanes: []Lane{{"allow", cells}}, Mark: -1}
	want := `t      0
allow  1(key 1),1(key 2),1(key 3),... 46 more,1(key 50)--
`
	if got := tl.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestCount(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Count(0, "token"), "0 tokens"}, {Count(1, "token"), "1 token"}, {Count("0.5", "token"), "0.5 tokens"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
