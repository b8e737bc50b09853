package conformance

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

// moreDebouncerFamilies are the schedules of what a debouncer may have besides: an end
// of its input, keys, a clock that is set back.
func moreDebouncerFamilies(c *contract) []family {
	base := Config{}.With("wait", "100ms")
	call := []Op{OpCall}
	gaps := []time.Duration{0, 1, wait - 1, wait + 1}
	if e := c.deb.edges(); e != Trailing {
		base = base.With("edges", e.String())
	}
	out := []family{{name: instances, schedules: keyed(enumerate(base, call, gaps, 3))}}
	if c.accepts(opKeys) {
		out = append(out, family{name: keys, schedules: keyed(enumerate(base, call, gaps, 3))})
	}
	if c.time == Injected && c.deb.Traits.ClockBack != 0 {
		out = append(out, debouncerBack(c, base)...)
	}
	if base.has("edges") {
		return out
	}
	out = append(out, family{name: "zero payload", schedules: []Schedule{{base, []Step{{Op: OpCall}}}}})
	if c.accepts(OpClose) {
		out = append(out, family{name: string(OpClose), look: true,
			schedules: ending(enumerate(base, call, []time.Duration{1, wait + 1}, 3), OpClose, []time.Duration{0, wait / 2, wait + 1})})
	}
	return out
}

// debouncerBack sets the clock back within a burst.
func debouncerBack(c *contract, base Config) []family {
	configs := []Config{base}
	for _, e := range c.deb.Traits.Edges {
		if e&Leading != 0 && e.String() != base.Edges.String() {
			configs = append(configs, Config{}.With("wait", "100ms").With("edges", e.String()))
		}
	}
	var back []Schedule
	for _, cfg := range configs {
		for _, by := range []time.Duration{-1, -wait, -time.Hour} {
			for _, at := range []time.Duration{1, wait / 2, wait - 1} {
				head := []Step{{Op: OpCall, N: 1}, {Op: OpWall, D: by, At: at}}
				second := append(slices.Clone(head), Step{Op: OpCall, N: 2, At: at + 3*wait})
				back = append(back, Schedule{cfg, second}, Schedule{cfg, append(slices.Clone(second), Step{Op: OpCall, N: 3, At: at + 5*wait})})
				if cfg.Edges != Leading {
					back = append(back, Schedule{cfg, head}, Schedule{cfg, append(slices.Clone(head), Step{Op: OpCall, N: 2, At: at + 1})})
				}
			}
		}
	}
	return []family{{name: "back", schedules: back}}
}

// dbAll holds what each callback got against the events since the one before it.
func (x *exam) dbAll() *violation {
	edges := x.Schedule.Config.Edges
	if !x.plain() || edges == LeadingAndTrailing && x.c.deb.Traits.BothSingle == BothTwice {
		return nil
	}
	v := x.deb()
	var pending []int
	ops := v.ops
	dead := false
	take := func(to int) { // the operations that began before the point to
		for len(ops) > 0 && ops[0].Began.Seq < to {
			switch d := ops[0]; {
			case dead:
			case d.Op == OpCall:
				pending = append(pending, d.N)
			case d.Op == OpStop, d.Op == OpCancel:
				pending = nil
				dead = d.Op == OpStop || x.c.deb.Traits.AfterCancel == CancelFinal
			}
			ops = ops[1:]
		}
	}
	for _, f := range x.Fires {
		take(f.Began.Seq)
		n := slices.Index(pending, f.Value)
		if n < 0 {
			if len(f.Values) == 0 {
				return x.say(f.Began.At, "", "fired at %s with no event", duration(f.Began.At))
			}
			continue // DB-SUBSEQ's, or decided before a racing cancel
		}
		want := pending[:n+1]
		pending = pending[n+1:]
		if edges == Leading {
			want = want[n:] // what came before it in its burst is lost
		}
		if !slices.Equal(f.Values, want) {
			return x.say(f.Began.At, "these events had neither fired nor been discarded",
				"fired at %s with %v, want %v", duration(f.Began.At), f.Values, want)
		}
	}
	return nil
}

// dbClose judges the end of the input.
func (x *exam) dbClose() *violation {
	if x.c.breaks(debouncerLaws...) || !x.plain() {
		return nil
	}
	if x.withEdges() {
		if d := x.edgeDifference(); d.rule == "DB-CLOSE" {
			return d.v
		}
		return nil
	}
	steps := x.Schedule.Steps
	end := steps[len(steps)-1]
	var last Step
	for _, s := range steps {
		if s.Op == OpCall {
			last = s
		}
	}
	due := last.At + x.Schedule.Config.Wait
	if last.Op == "" || due <= end.At {
		due = -1 // nothing was pending
	}
	for i, f := range x.Fires {
		if f.Began.At < end.At || f.Began.Seq < x.Done[len(x.Done)-1].Began.Seq {
			continue
		}
		at := f.Began.At
		switch how := x.c.deb.Traits.CloseFlush; {
		case due < 0:
			return x.say(at, "nothing was pending when the input ended", "fired at %s, want nothing more", duration(at))
		case how == CloseDrops:
			return x.say(at, "CloseDrops is declared", "fired at %s, after the input had ended at %s", duration(at), duration(end.At))
		case how == CloseFires && at != end.At:
			return x.say(at, "CloseFires is declared", "fired at %s, want %s, when the input ended", duration(at), duration(end.At))
		case how == CloseAtDeadline && at != due:
			return x.say(at, "CloseAtDeadline is declared", "fired at %s, want %s", duration(at), duration(due))
		case i+1 < len(x.Fires):
			return x.say(x.Fires[i+1].Began.At, "one event was pending when the input ended", "fired again at %s", duration(x.Fires[i+1].Began.At))
		}
		return nil
	}
	if due >= 0 && x.c.deb.Traits.CloseFlush != CloseDrops {
		return x.say(end.At, fmt.Sprintf("call %d at %s was pending", last.N, duration(last.At)),
			"nothing fired for call %d after the input had ended at %s", last.N, duration(end.At))
	}
	return nil
}

// debouncerLaws are those that hold of one debouncer on a clock that only goes
// forward. What it gets wrong alone says nothing of keys, instances and the rest.
var debouncerLaws = []string{"DB-QUIET", "DB-EXACT", "DB-ONE", "DB-LAST", "DB-LIVE", "DB-IDLE", "DB-SUBSEQ",
	"DB-LEAD", "DB-LEAD1", "DB-REARM", "DB-LEADONLY", "DB-BOTH1", "DB-BOTHN", "X-CALLS"}

// dbApart judges what each key, or each instance, did for itself.
func (x *exam) dbApart() *violation {
	if x.c.breaks(debouncerLaws...) || x.Refused != "" || x.Stuck {
		return nil
	}
	for key := 1; key <= 2; key++ {
		own := *x.Trace
		own.Schedule.Steps, own.Fires, own.Done = nil, nil, nil
		mine := map[int]bool{}
		for _, s := range x.Schedule.Steps {
			if s.K == key {
				own.Schedule.Steps = append(own.Schedule.Steps, s)
				mine[s.N] = true
			}
		}
		for _, d := range x.Done {
			if d.K == key {
				own.Done = append(own.Done, d)
			}
		}
		for _, f := range x.Fires {
			if f.Key == key || f.Key == 0 && mine[f.Value] {
				own.Fires = append(own.Fires, f)
			}
		}
		apart := &exam{Trace: &own, c: x.c, job: x.job}
		checks := []func(*exam) *violation{(*exam).dbQuiet, (*exam).dbExact, (*exam).dbOne, (*exam).dbLast, (*exam).dbLive}
		if x.withEdges() {
			checks = []func(*exam) *violation{func(x *exam) *violation { return x.edgeDifference().v }}
		}
		for _, check := range checks {
			if v := check(apart); v != nil {
				v.Headline = fmt.Sprintf("key %d: %s", key, v.Headline)
				return v
			}
		}
	}
	return nil
}

// dbBack judges runs in which the clock is set back once.
func (x *exam) dbBack() *violation {
	if x.c.breaks(debouncerLaws...) || x.Refused != "" || x.Stuck {
		return nil
	}
	w := x.Schedule.Config.Wait
	if x.Schedule.Config.Edges&Leading != 0 {
		return x.leadBack()
	}
	calls := 0
	because := ""
	for _, s := range x.Schedule.Steps {
		if s.Op == OpWall {
			because = fmt.Sprintf("the clock was set back by %s at %s, and that may hold up what is pending for %s at most", duration(-s.D), duration(s.At), duration(w))
			continue
		}
		calls++
		superseded := slices.ContainsFunc(x.Schedule.Steps, func(o Step) bool { return o.Op == OpCall && o.At > s.At && o.At <= s.At+2*w })
		served := slices.ContainsFunc(x.Fires, func(f Fire) bool { return f.Began.At >= s.At+w && f.Began.At <= s.At+2*w })
		if !superseded && !served {
			return x.say(s.At+2*w, because, "nothing fired for call %d at %s by %s", s.N, duration(s.At), duration(s.At+2*w))
		}
	}
	if n := len(x.Fires); n > calls {
		return x.say(x.Fires[n-1].Began.At, because, "fired %d times for %d events", n, calls)
	}
	return nil
}

// leadBack judges the leading edge: once the wait has passed since an event that came
// after the step back, the next one is leading again.
func (x *exam) leadBack() *violation {
	var before, back *Step
	untold := x.c.deb.Traits.Payload == NoPayload
	for i := range x.Schedule.Steps {
		s := &x.Schedule.Steps[i]
		if s.Op == OpWall {
			before, back = nil, s
			continue
		}
		if back != nil && before != nil && s.At > before.At+x.Schedule.Config.Wait &&
			!slices.ContainsFunc(x.Fires, func(f Fire) bool { return (untold || f.Value == s.N) && f.Began.At == s.At }) {
			return x.say(s.At, fmt.Sprintf("the clock was set back by %s at %s, and call %d came later", duration(-back.D), duration(back.At), before.N),
				"call %d did not fire at %s", s.N, duration(s.At))
		}
		before = s
	}
	return nil
}

// debouncerConcurrent has goroutines bring events at one instant.
func (c *contract) debouncerConcurrent() (*violation, string) {
	const each = 3
	if c.breaks(debouncerLaws...) {
		return nil, "rules are broken that goroutines have nothing to do with"
	}
	kinds := c.deb.kinds()
	var worst *violation
	for _, edges := range kinds {
		wantLed, want := int64(0), int64(0)
		if edges&Leading != 0 && edges != NoEdges {
			wantLed, want = 1, 1
		}
		if edges&Trailing != 0 && edges != NoEdges {
			want++
		}
		l := c.lab.apart(func(d driver, _ job, rec *recorder) {
			rec.now = d.now
			var met [places]meeting
			var impls [places]DebouncerFuncs
			for i := range impls {
				impls[i] = c.deb.build(Env{d.clock(), Config{}.start()}, DebounceConfig{Wait: wait, Edges: edges}, func(int, []int) { met[i].fire() })
			}
			for round := range meetings {
				d.to(time.Duration(round) * 10 * wait)
				c.lab.meet(func(g, i int) {
					for n := range each {
						met[i].begun.Add(1)
						_ = catch(func() { impls[i].Call((round*meeters+g)*each + n + 1) }) // X-CALLS judges panics
					}
				})
				d.settle()
				var led [places]int64
				for i := range led {
					led[i] = met[i].fires.Load()
				}
				d.to(d.now() + 3*wait)
				d.settle()
				for i := range impls {
					all, late := met[i].end(each)
					if late && edges == LeadingAndTrailing && c.deb.Traits.BothSingle != BothTwice && all == wantLed {
						continue // it found them all, and they were one
					}
					if (led[i] != wantLed || all != want) && worst == nil {
						worst = &violation{
							Headline: fmt.Sprintf("%d goroutines with %d events each at one instant brought %d fires at once and %d in all, want %d and %d",
								meeters, each, led[i], all, wantLed, want),
							Because: fmt.Sprintf("they are one burst (edges=%s, round %d of %d), and no order of the calls fires otherwise", edges, round+1, meetings),
						}
					}
				}
			}
			for i := range impls {
				impls[i].release(false)
			}
			d.settle()
		})
		if l.once() != nil {
			return nil, "concurrent use made no progress"
		}
	}
	if worst == nil && c.accepts(OpFlush) && slices.Contains(kinds, Trailing) {
		return c.flushesConcurrent()
	}
	return worst, ""
}

// flushesConcurrent has a flush meet an event, or another flush of the same event.
func (c *contract) flushesConcurrent() (worst *violation, why string) {
	l := c.lab.apart(func(d driver, _ job, rec *recorder) {
		rec.now = d.now
		var fires [places]atomic.Int64
		var impls [places]DebouncerFuncs
		for i := range impls {
			impls[i] = c.deb.build(Env{d.clock(), Config{}.start()}, DebounceConfig{Wait: wait, Edges: Trailing}, func(int, []int) { fires[i].Add(1) })
		}
		for round := range meetings {
			d.to(time.Duration(round) * 10 * wait)
			twice := round%2 == 1
			for i := range impls {
				if twice {
					_ = catch(func() { impls[i].Call(round + 1) })
				}
			}
			d.settle()
			c.lab.meet(func(g, i int) {
				_ = catch(func() { // X-CALLS judges panics
					if twice || g == 0 {
						impls[i].Flush()
					} else {
						impls[i].Call(round + 1)
					}
				})
			})
			d.to(d.now() + 3*wait)
			d.settle()
			for i := range impls {
				if n := fires[i].Swap(0); n != 1 && worst == nil {
					what := "a flush beside it"
					if twice {
						what = "two flushes at one instant"
					}
					worst = &violation{
						Headline: fmt.Sprintf("one event and %s brought %d fires, want 1", what, n),
						Because:  fmt.Sprintf("no order of the calls fires otherwise (round %d of %d)", round+1, meetings),
					}
				}
			}
		}
		for i := range impls {
			impls[i].release(false)
		}
		d.settle()
	})
	if l.once() != nil {
		return nil, "concurrent use made no progress"
	}
	return worst, ""
}
