package interleave

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/escapement-go/escapement/internal/sched"
)

// encode writes the choices of a run, as 12.1,30.2 for the first alternative at node 12 and the second at node 30
// where all else is the plainest choice, and a sum of what happened, by which a replay notices that it
// does something else.
func encode(run *sched.Run) string {
	var all []string
	for i, n := range run.Nodes {
		if n.Alt > 0 {
			all = append(all, fmt.Sprintf("%d.%d", i, n.Alt))
		}
	}
	if len(all) == 0 {
		all = []string{"first"}
	}
	return fmt.Sprintf("%s-%04x", strings.Join(all, ","), sum(run))
}

func sum(run *sched.Run) uint16 {
	h := uint32(2166136261)
	for _, s := range run.Steps {
		text := "time"
		if s.G != nil {
			text = nameOf(s.G) + s.Op.Name
		} else if s.Timer != nil {
			text = fmt.Sprint("t", s.Timer.ID)
		}
		for i := range len(text) {
			h = (h ^ uint32(text[i])) * 16777619
		}
	}
	return uint16(h ^ h>>16)
}

// decode is the way back.
func decode(text string) (prefix []sched.Choice, sum uint16, err error) {
	choices, hash, _ := strings.Cut(text, "-")
	n, err := strconv.ParseUint(hash, 16, 16)
	if err != nil {
		return nil, 0, fmt.Errorf("no sum at its end")
	}
	if choices == "first" {
		return nil, uint16(n), nil
	}
	for _, c := range strings.Split(choices, ",") {
		var at, alt int
		if _, err := fmt.Sscanf(c, "%d.%d", &at, &alt); err != nil || at < len(prefix) || at > 1<<20 || alt >= 1<<16 {
			return nil, 0, fmt.Errorf("%q is no choice", c)
		}
		prefix = append(prefix, make([]sched.Choice, at+1-len(prefix))...)
		prefix[at].Alt = uint16(alt)
	}
	return prefix, uint16(n), nil
}

// replay runs one interleaving.
func (e *explorer) replay(text string) Result {
	e.result = Result{Rewritten: true, Runs: []int{1}}
	prefix, want, err := decode(text)
	if err != nil {
		e.result.Failure = fmt.Sprintf("interleave: %s=%s: %v", Variable, text, err)
		return e.result
	}
	if !e.warm() {
		return e.result
	}
	o := e.once(prefix)
	if sched.Tried() != e.tried {
		o = e.once(prefix)
	}
	e.result.Points = len(o.run.Steps)
	switch {
	case o.run.Diverged != "" || sum(o.run) != want:
		e.result.Failure = "interleave: " + Variable + " names an interleaving that no longer exists, or the " +
			"function is not deterministic" + story(o.run)
	default:
		e.ends(o)
	}
	return e.result
}
