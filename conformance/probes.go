package conformance

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// otherClock runs schedules twice, the second time with package time moving on by an
// hour before each step: what comes out must be the same.
func (c *contract) otherClock() (*violation, string) {
	key := "wait"
	if c.thr != nil {
		key = "interval"
	}
	cfg := Config{}.With(key, "100ms")
	schedules := enumerate(cfg, []Op{OpCall}, []time.Duration{0, 1, wait - 1, wait, wait + 1}, 3)
	runs := func(jump bool) (out []*Trace, hung bool) {
		var jobs []job
		for _, s := range schedules {
			jobs = append(jobs, job{schedule: s, jump: jump})
		}
		h := c.lab.run(jobs, func(_ job, tr *Trace) { out = append(out, tr) })
		return out, h != nil
	}
	still, hung := runs(false)
	moved, hungToo := runs(true)
	if hung || hungToo || len(still) != len(moved) {
		return nil, "a run made no progress"
	}
	for i, tr := range moved {
		want := lane{name: "want"}
		same := len(tr.Fires) == len(still[i].Fires)
		for n, f := range still[i].Fires {
			want.marks = append(want.marks, laneMark{f.Began.At, fireMark(f.Value)})
			same = same && tr.Fires[n].Began.At == f.Began.At && tr.Fires[n].Value == f.Value
		}
		if same {
			continue
		}
		got := lane{name: "got"}
		for _, f := range tr.Fires {
			got.marks = append(got.marks, laneMark{f.Began.At, fireMark(f.Value)})
		}
		return &violation{
			Headline: fmt.Sprintf("%d callbacks, want %d as on package time that stands still", len(tr.Fires), len(still[i].Fires)),
			Because:  "package time moved on by an hour before each step, and Env.Clock did not",
			Lanes:    []lane{want, got}, Trace: tr,
		}, ""
	}
	return nil, ""
}

// panics runs schedules in which a callback panics, the first or the second, and judges what follows.
func (c *contract) panics() (*violation, string) {
	if c.breaks(debouncerLaws...) || c.breaks("DB-MAX", "DB-MAXNE", "DB-MAXTAIL", "DB-MAXPAY") || c.breaks(throttleLaws...) {
		return nil, "rules are broken that panics have nothing to do with"
	}
	policy := PanicPolicy(0)
	ops := []Op{OpCall}
	var configs []Config
	if c.thr != nil {
		policy = c.thr.Traits.PanicPolicy
		for _, e := range c.thr.Traits.Edges {
			configs = append(configs, Config{}.With("interval", "100ms").With("edges", e.String()))
		}
		if len(configs) == 0 {
			configs = []Config{Config{}.With("interval", "100ms").With("edges", c.thr.edges().String())}
		}
	} else {
		policy = c.deb.Traits.PanicPolicy
		cfg := Config{}.With("wait", "100ms")
		if len(c.deb.Traits.Edges) == 0 || slices.Contains(c.deb.Traits.Edges, Trailing) {
			configs = append(configs, cfg)
			if c.deb.Traits.MaxWait != 0 {
				configs = append(configs, cfg.With("maxwait", "100ms"))
			}
		}
		for _, e := range c.deb.Traits.Edges {
			if e != Trailing {
				configs = append(configs, cfg.With("edges", e.String()))
			}
		}
		if c.accepts(OpFlush) {
			ops = append(ops, OpFlush)
		}
	}
	var jobs []job
	for _, cfg := range configs {
		for _, nth := range []string{"1", "2"} {
			for _, s := range enumerate(cfg.With("panics", nth), ops, []time.Duration{1, wait - 1, wait + 1, 3 * wait}, 3) {
				jobs = append(jobs, job{schedule: s})
			}
		}
	}
	panicked := 0
	var worst *violation
	h := c.lab.run(jobs, func(j job, tr *Trace) {
		if !tr.Panicked {
			return
		}
		panicked++
		x := &exam{Trace: tr, c: c, job: j}
		if v := x.afterPanic(policy); v != nil && (worst == nil || smaller(tr.Schedule, worst.Trace.Schedule) < 0) {
			v.Trace = tr
			worst = v
		}
	})
	switch {
	case h != nil:
		if where := lockedOut(h.stacks); where != "" {
			return &violation{Headline: "an operation never returned after a callback had panicked",
				Because: "nothing runs that could let go of what it waits for: " + where,
				Trace:   &Trace{Schedule: h.job.schedule}}, ""
		}
		return nil, "no progress, and the stacks do not prove why"
	case panicked == 0:
		return nil, "the callback runs on a goroutine of the implementation, or of package time, where a panic would end the process"
	}
	return worst, ""
}

// afterPanic judges a run in which a callback has panicked.
func (x *exam) afterPanic(policy PanicPolicy) *violation {
	if x.called && policy == PanicPropagates && !slices.ContainsFunc(x.Done, func(d Done) bool { return d.Panic != "" }) {
		return &violation{Headline: "the panic of the callback came out of nothing",
			Because: "an operation ran the callback, and PanicPropagates is declared; if it is documented so, declare PanicPolicy: PanicRecovered"}
	}
	for i, d := range x.Done {
		switch {
		case d.Panic == "":
		case d.Panic != plannedPanic:
			return &violation{Headline: fmt.Sprintf("%s panicked: %s", d.Step, d.Panic), Because: "a callback had panicked before", At: d.At}
		case policy == PanicRecovered:
			return &violation{Headline: fmt.Sprintf("the panic of the callback came out of %s", d.Step), Because: "PanicRecovered is declared; if it is documented so, declare PanicPolicy: PanicPropagates", At: d.At}
		default:
			x.Done[i].Panic = ""
		}
	}
	checks := []func(*exam) *violation{func(x *exam) *violation { return x.edgeDifference().v }}
	if x.c.thr != nil {
		checks[0] = func(x *exam) *violation { return x.throttleDifference().v }
	} else if !x.withEdges() {
		checks = []func(*exam) *violation{(*exam).dbQuiet, (*exam).dbExact, (*exam).dbOne, (*exam).dbLive, (*exam).dbIdle, (*exam).dbFlush}
	}
	for _, check := range checks {
		if v := check(x); v != nil {
			v.Headline = "after the panic of a callback: " + v.Headline
			return v
		}
	}
	return nil
}

// lockedOut returns what an operation waits for, if it is a lock and no callback is
// running.
func lockedOut(dump string) string {
	found := ""
	for _, g := range strings.Split(dump, "\n\n") {
		header, stack, _ := strings.Cut(g, "\n")
		if strings.Contains(stack, "Spec).play.func1(") {
			return "" // a callback
		}
		for _, state := range []string{"sync.Mutex", "sync.RWMutex", "semacquire"} {
			if strings.Contains(header, "["+state) && slices.ContainsFunc([]string{"DebouncerFuncs", "ThrottleFuncs"}, func(s string) bool {
				return strings.Contains(stack, ".(*"+s+").do(")
			}) {
				found = describe(header, stack)
			}
		}
	}
	return found
}
