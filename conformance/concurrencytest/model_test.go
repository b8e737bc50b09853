package concurrencytest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/model"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// strictest are the traits under which most is judged.
func strictest() Traits {
	return Traits{
		Backlog: BacklogBounded, Timeout: TimeoutBounded, Context: ContextHonoured, ContextError: ErrorOfContext,
		SeatHeld: SeatFreed, Fair: FairFIFO, Oversize: OversizeFails, OverRelease: OverReleaseIgnored,
	}
}

// seen makes a trace: the groups of a schedule, and what became of its requests. "2+3 4x3" says that request 2 runs,
// and 4 is rejected, in the group of step 3; "2x100ms" that 2 is rejected at that instant, between two steps.
func seen(t *testing.T, schedule conformance.Schedule, outcomes string) *trace {
	t.Helper()
	out, ids, groupOf := &trace{}, map[int]int{}, map[string]*group{}
	for i, st := range schedule.Steps {
		if !st.Racing || i == 0 || st.At > schedule.Steps[i-1].At {
			seq := 100 * (i + 1)
			out.groups = append(out.groups, &group{at: st.At, racing: st.Racing,
				began: conformance.Mark{At: st.At, Seq: seq}, settled: conformance.Mark{At: st.At, Seq: seq + 90}})
		}
		g := out.groups[len(out.groups)-1]
		groupOf[fmt.Sprint(i+1)] = g
		s := &step{Step: st, request: -1, ended: true}
		if r, known := ids[st.N]; known && st.Op != verb.Resize {
			s.request = r
		}
		if comes(st.Op) {
			s.request = len(out.requests)
			ids[st.N] = s.request
			out.requests = append(out.requests, &request{id: st.N, weight: max(1, st.K)})
		}
		if st.Op != verb.Idle {
			g.steps = append(g.steps, s)
		}
	}
	for i, text := range strings.Fields(outcomes) {
		id, sign, when := 0, ' ', ""
		if _, err := fmt.Sscanf(text, "%d%c%s", &id, &sign, &when); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		q := out.requests[ids[id]]
		if q.admitted = sign == '+'; !q.admitted {
			q.err = errors.New("rejected")
		}
		if g := groupOf[when]; g != nil {
			q.decided = conformance.Mark{At: g.at, Seq: g.began.Seq + 1 + i}
			continue
		}
		at, err := time.ParseDuration(when)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range out.groups {
			if g.at <= at {
				q.decided = conformance.Mark{At: at, Seq: g.settled.Seq + 1 + i}
			}
		}
	}
	return out
}

func check(t *testing.T, tr Traits, text, outcomes string) model.Result[*state] {
	t.Helper()
	schedule := suite.MustParse(text)
	f := newFrame(tr.config(schedule.Config, nil), &tr, seen(t, schedule, outcomes))
	f.inForce = func(string) bool { return true }
	return model.Check(limiters, f, f.events())
}

// What correct limiters do breaks no law.
func TestModel_legal(t *testing.T) {
	const (
		one     = "limit=1 backlog=1 timeout=100ms | acquire 1 @0 | acquire 2 @0"
		lowered = "limit=2 backlog=5 timeout=1h | acquire 1 @0 | acquire 2 2 @0 | acquire 3 @0 | resize 1 @0"
	)
	unfair, kept, late := strictest(), strictest(), strictest()
	unfair.Fair, kept.SeatHeld, late.Context = FairNone, SeatKept, ContextEndsWait
	for _, c := range []struct {
		traits             Traits
		schedule, outcomes string
	}{
		{strictest(), one, "1+1"},
		{strictest(), one + " | acquire 3 @0", "1+1 3x3"},
		{strictest(), one + " | release 1 @0", "1+1 2+3"},
		{strictest(), one + " | idle 1s", "1+1 2x100ms"},
		{strictest(), one + " | release 1 @100ms~", "1+1 2x3"}, // either, at a tie
		{strictest(), one + " | release 1 @100ms~", "1+1 2+3"},
		{strictest(), one + " | release 1 @0 | acquire 3 @0~", "1+1 2+3 3x4"}, // 2 is still in the backlog
		{strictest(), one + " | release 1 @0 | acquire 3 @0~", "1+1 2+3"},
		{strictest(), one + " | release 9 @0", "1+1"},
		{unfair, "limit=1 backlog=2 timeout=1h | acquire 1 @0 | acquire 2 @0 | acquire 3 @0 | release 1 @0", "1+1 3+4"},
		{kept, one + " | release 1 @0 | acquire 3 @0", "1+1 2+3 3x4"},
		{late, "limit=1 backlog=1 timeout=1h | cancel 1 @0 | acquire 1 @0", "1+2"},
		// What becomes of 2 is open, be it only whether it holds up 3.
		{strictest(), lowered + " | release 1 @0", "1+1"},
		{strictest(), lowered + " | release 1 @0", "1+1 2x4 3+5"},
	} {
		if r := check(t, c.traits, c.schedule, c.outcomes); len(r.Marks) > 0 || r.Failed != "" {
			t.Errorf("%s with %s breaks %v %s", c.schedule, c.outcomes, r.Marks, r.Failed)
		}
	}
}

// What others do breaks the law that explains all of it.
func TestModel_laws(t *testing.T) {
	const (
		one = "limit=1 backlog=1 timeout=100ms | acquire 1 @0 | acquire 2 @0"
		two = "limit=1 backlog=2 timeout=1h | acquire 1 @0 | acquire 2 @0 | acquire 3 @0"
	)
	for _, c := range []struct{ rule, schedule, outcomes string }{
		{"CT-LIMIT", one, "1+1 2+2"},
		{"CT-WORK", one + " | release 1 @0", "1+1"},
		{"CT-REJECT", one, "1+1 2x2"},
		{"CT-REJECT", one + " | acquire 3 @0", "1+1"},
		{"CT-SEAT", one + " | release 1 @0 | acquire 3 @0", "1+1 2+3 3x4"},
		{"CT-TIME", one + " | idle 1s", "1+1 2x101ms"},
		{"CT-TIME", one + " | idle 1s", "1+1 2x99ms"},
		{"CT-TIME", one + " | idle 100ms | acquire 3 @150ms", "1+1 2x100ms 3x4"}, // 2 kept its place
		{"CT-TIME0", "limit=1 backlog=1 timeout=0 | acquire 1 @0", "1x1"},
		{"CT-CTX", one + " | cancel 2 @0", "1+1"},
		{"CT-CTX", one + " | cancel 2 @0 | acquire 3 @0", "1+1 2x3 3x4"},
		{"CT-CTXPRE", "limit=1 backlog=1 timeout=1h | cancel 1 @0 | acquire 1 @0", "1+2"},
		{"CT-TIE", one + " | release 1 @100ms~ | acquire 3 @100ms", "1+1 2x3"}, // its slot is lost
		{"CT-NOGHOST", two + " | cancel 2 @0 | release 1 @0", "1+1 2x4"},
		{"CT-RELEASE", "limit=2 backlog=0 timeout=1h | acquire 1 2 @0 | release 1 @0 | acquire 2 @0 | acquire 3 @0",
			"1+1 2+3 3x4"},
		{"CT-OVERREL", one + " | release 9 @0", "1+1 2+3"},
		{"CT-HEAD", "limit=2 backlog=2 timeout=1h | acquire 1 2 @0 | release 1 @0 | acquire 2 @0 | acquire 3 2 @0 | " +
			"acquire 4 @0 | cancel 3 @0 | try 5 @0", "1+1 2+3 3x6 5+7"}, // which shows the slot
		{"CT-FIFO", two + " | release 1 @0", "1+1 3+4"},
		{"CT-OVER", "limit=1 backlog=1 timeout=1h | acquire 1 2 @0", ""},
		{"CT-RESIZE", one + " | resize 2 @0", "1+1"},
		{"CT-RESIZE", "limit=3 backlog=1 timeout=1h | resize 1 @0 | acquire 1 @0 | acquire 2 @0 | acquire 3 @0",
			"1+2 2+3 3+4"},
		{"CT-LIMIT", "limit=1 backlog=1 timeout=1h | acquire 1 @0 | resize 0 @0 | release 1 @0 | acquire 2 @0",
			"1+1 2+4"},
		{"X-PANIC", "limit=1 backlog=1 timeout=1h | do 1 @0 | do 2 @0 | panic 1 @0", "1+1"},
	} {
		r := check(t, strictest(), c.schedule, c.outcomes)
		var rules []string
		for _, m := range r.Marks {
			rules = append(rules, m.Law)
		}
		if got := strings.Join(rules, " "); got != c.rule || r.Failed != "" {
			t.Errorf("%s with %s breaks %q %s, want %s: %v", c.schedule, c.outcomes, got, r.Failed, c.rule, r.Marks)
		}
	}
}

// Where the order of service is given the model foretells what becomes of each request.
func TestPlan_after(t *testing.T) {
	s := suite.MustParse("limit=1 backlog=1 timeout=100ms | acquire 1 @0 | acquire 2 @0 | acquire 3 @0 | " +
		"release 1 @50ms | acquire 4 @60ms")
	tr := strictest()
	pos := plan{cfg: s.Config}.after(&tr, s.Steps, 200*time.Millisecond)
	for id, want := range map[int]fate{1: fateLeft, 2: fateRuns, 3: fateFull, 4: fateLate} {
		if got := pos.fates[id-1]; got != want {
			t.Errorf("request %d: %d, want %d", id, got, want)
		}
	}
}
