package conformance

import (
	"fmt"
	"slices"
	"time"
)

// leakyRules are the rules of RunLeakyBucket.
var leakyRules = []rule{
	lkyRule("LB-SPACE", "Two items MUST leave at least the interval apart, from one to the next and not on a grid; with a declared slack, after idle time, so many more may leave together.",
		(*exam).lbSpace),
	lkyRule("LB-EXACT", "While items wait they MUST leave exactly the interval apart.",
		(*exam).lbExact),
	lkyRule("LB-IDLE", "Idle time MUST NOT build up credit beyond the declared slack, and an item that finds nothing waiting MUST leave when the trait Head says.",
		(*exam).lbIdle),
	lkyRule("LB-SAMEINSTANT", "Two items that come at the very instant at which the last one left MUST NOT leave together.",
		(*exam).lbSameInstant),
	lkyRule("LB-BOUND", "As many items as the backlog MUST be accepted to wait, and not one more; all of them, if it is declared that there is no bound.",
		(*exam).lbBound),
	lkyRule("LB-DROP", "An item that was refused, or that waits when Stop returns, MUST NOT leave; any other that was accepted MUST leave, once.",
		(*exam).lbDrop),
	lkyRule("LB-FIFO", "Items MUST leave in the order in which they came.",
		(*exam).lbFIFO),
	lkyRule("LB-EMPTY", "Nothing MUST leave that was not put.",
		(*exam).lbEmpty),
	lkyRule("LB-FRAC", "However often items are offered and refused, it MUST NOT change when the others leave.",
		(*exam).lbFrac),
	lkyRule("LB-CANCEL", "An item that is cancelled while it waits MUST NOT leave, MUST give its place back when its turn would have come at the latest, and MUST NOT delay the others.",
		(*exam).lbCancel, OpCancel),
	lkyRule("LB-CLOSE", "After Close nothing MUST be accepted; what waits MUST leave or not, as declared.",
		(*exam).lbClose, OpClose),
	lkyRule("X-CALLS", "Every operation of a legal schedule MUST return and MUST NOT panic.",
		(*exam).lkyCalls),
	lkyRule("X-REENT", "An operation called by the function that an item leaves to MUST NOT deadlock.",
		(*exam).lkyReent),
	lkyRule("X-LEAK", "After Stop, or Close without Stop, no goroutine and no armed timer MUST remain; without either, when all is quiet.",
		func(x *exam) *violation { return x.xLeft() }),
	{Rule: Rule{"X-PANIC", "If the function panics with an item, the others MUST leave as if it had returned.", lawsLink + "x-panic", Core},
		probe: (*contract).leakyPanic, skip: func(c *contract) string {
			if c.exact != "" {
				return c.exact
			}
			if c.lky.Traits.Head != HeadAtOnce {
				return "items leave on a goroutine of the implementation, where a panic would end the test"
			}
			return ""
		}},
	{Rule: Rule{"X-CONC", "Of items that many goroutines put at one instant no more MUST be accepted than one after the other, and each that is MUST leave once, or be cancelled once.", lawsLink + "x-conc", Core},
		probe: (*contract).leakyConcurrent, skip: func(c *contract) string { return c.exact }},
	{Rule: Rule{"X-RACE", "Concurrent use of all operations MUST be free of data races.", lawsLink + "x-race", Core},
		probe: (*contract).leakyRace, skip: withoutRaceDetector, live: true},
}

func lkyRule(id, text string, check func(*exam) *violation, ops ...Op) rule {
	base := needs(ops)
	return rule{
		Rule: Rule{id, text, lawsLink + anchor(id), Core},
		skip: func(c *contract) string {
			tr := c.lky.Traits
			switch why := base(c); {
			case why != "":
				return why
			case tr.Unbounded && id == "LB-FRAC":
				return "declared: Unbounded"
			case id == "LB-SAMEINSTANT" && tr.Slack > 0:
				return "declared: Slack"
			case tr.Head == 0 && (id == "LB-EXACT" || id == "LB-IDLE" || id == "LB-BOUND" || id == "LB-CANCEL"):
				return "trait Head is undeclared"
			case tr.CloseFlush == 0 && id == "LB-CLOSE":
				return "trait CloseFlush is undeclared"
			case id == "X-LEAK" && !c.lab.bubble:
				return "goroutines can only be told apart in a bubble"
			}
			return ""
		},
		trace: check,
	}
}

// crowded returns the first item that left too soon after the ones before it.
func (x *exam) crowded() (i, k int, bad bool) {
	interval, slack := x.Schedule.Config.Interval, x.c.lky.Traits.Slack
	for k := range x.Fires {
		for i := max(0, k-slack-1); i < k; i++ {
			if k-i > slack && x.Fires[k].Began.At-x.Fires[i].Began.At < time.Duration(k-i-slack)*interval {
				return i, k, true
			}
		}
	}
	return 0, 0, false
}

func (x *exam) lbSpace() *violation {
	if !x.judgeable() {
		return nil
	}
	i, k, bad := x.crowded()
	if !bad {
		return nil
	}
	a, b := x.Fires[i], x.Fires[k]
	return x.told(b.Began.At, fmt.Sprintf("the interval is %s, and a Slack of %d is declared", duration(x.Schedule.Config.Interval), x.c.lky.Traits.Slack),
		"item %d left %s after item %d, want %s at least", b.Value, duration(b.Began.At-a.Began.At), a.Value,
		duration(time.Duration(k-i-x.c.lky.Traits.Slack)*x.Schedule.Config.Interval))
}

func (x *exam) lbSameInstant() *violation {
	if !x.judgeable() {
		return nil
	}
	for k := 1; k < len(x.Fires); k++ {
		if a, b := x.Fires[k-1], x.Fires[k]; a.Began.At == b.Began.At {
			return x.told(b.Began.At, fmt.Sprintf("the interval is %s, and no Slack is declared", duration(x.Schedule.Config.Interval)),
				"items %d and %d left together at %s", a.Value, b.Value, duration(b.Began.At))
		}
	}
	return nil
}

func (x *exam) lbExact() *violation {
	if !x.drained() || x.Schedule.racing() > 0 && x.c.lky.Traits.Head != HeadAtOnce {
		return nil
	}
	if _, _, crowded := x.crowded(); crowded {
		return nil // LB-SPACE
	}
	it, due, idle, found := x.mistimed()
	if !found || idle || len(it.left) == 0 {
		return nil
	}
	at := it.left[0].Began.At
	because := fmt.Sprintf("item %d waited, and an item leaves every %s while any waits", it.put.N, duration(x.Schedule.Config.Interval))
	if slack := x.c.lky.Traits.Slack; slack > 0 {
		because += fmt.Sprintf(", once a Slack of %d, which is declared, is used up", slack)
	}
	return x.told(min(at, due), because,
		"item %d left at %s, want %s", it.put.N, duration(at), duration(due))
}

func (x *exam) lbIdle() *violation {
	if !x.quiet() || x.Schedule.racing() > 0 && x.c.lky.Traits.Head != HeadAtOnce {
		return nil
	}
	it, due, idle, found := x.mistimed()
	if i, k, crowded := x.crowded(); crowded {
		// The items that were too close came out of idle time if nothing left in the
		// interval before the first of them, or nothing at all did.
		if a := x.Fires[i]; i > 0 && a.Began.At-x.Fires[i-1].Began.At <= x.Schedule.Config.Interval || x.Fires[k].Began.At == a.Began.At {
			return nil
		}
		return x.told(x.Fires[k].Began.At, "nothing had left for a while, which must not count",
			"item %d left %s after item %d that found nothing waiting", x.Fires[k].Value, duration(x.Fires[k].Began.At-x.Fires[i].Began.At), x.Fires[i].Value)
	}
	if !found || !idle || len(it.left) == 0 {
		return nil
	}
	at := it.left[0].Began.At
	return x.told(min(at, due), fmt.Sprintf("it came at %s and found nothing waiting, and %s is declared", duration(it.put.Began.At), x.c.traits[0].values[x.c.lky.Traits.Head-1]),
		"item %d left at %s, want %s", it.put.N, duration(at), duration(due))
}

func (x *exam) lbBound() *violation {
	if !x.judgeable() || x.Schedule.racing() > 0 {
		return nil
	}
	v := x.leakyView()
	backlog, interval := x.Schedule.Config.Backlog, x.Schedule.Config.Interval
	for k := range v.items {
		put := v.items[k].put
		if put.Inside || v.closed != nil && v.closed.Began.Seq < put.Began.Seq {
			continue
		}
		waiting, places := 0, 0 // places may be held by what was cancelled
		last := time.Duration(-1)
		for i := range v.items[:k] {
			it := &v.items[i]
			if it.waits(put) {
				waiting++
				places++
			} else if it.put.OK && it.cancelled != nil && len(it.left) == 0 {
				places++
			}
			if len(it.left) > 0 && it.left[0].Began.Seq < put.Began.Seq {
				last = max(last, it.left[0].Began.At)
			}
		}
		atOnce := x.c.lky.Traits.Head == HeadAtOnce && waiting == 0 &&
			(x.c.lky.Traits.Slack > 0 || last < 0 || put.Began.At >= last+interval)
		switch {
		case x.c.lky.Traits.Unbounded && !put.OK:
			return x.told(put.Began.At, "Unbounded is declared", "item %d was refused, want accepted", put.N)
		case x.c.lky.Traits.Unbounded:
		case !put.OK && places < backlog:
			return x.told(put.Began.At, fmt.Sprintf("%d waited, and the backlog is %d", waiting, backlog), "item %d was refused, want accepted", put.N)
		case !put.OK && atOnce && places == 0 && x.c.lky.Traits.Slack == 0:
			return x.told(put.Began.At, "nothing waited, and the interval was over", "item %d was refused, want accepted", put.N)
		case put.OK && waiting >= backlog && !atOnce:
			return x.told(put.Began.At, fmt.Sprintf("%d waited, and the backlog is %d: Unbounded is not declared", waiting, backlog), "item %d was accepted, want refused", put.N)
		}
	}
	return nil
}

func (x *exam) lbDrop() *violation {
	if !x.judgeable() {
		return nil
	}
	v := x.leakyView()
	var stop *Done // the first that has returned
	if i := slices.IndexFunc(x.Done, func(d Done) bool { return d.Op == OpStop && d.Ended.Seq != 0 }); i >= 0 {
		stop = &x.Done[i]
	}
	for i := range v.items {
		it := &v.items[i]
		switch {
		case !it.put.OK && len(it.left) > 0:
			return x.told(it.left[0].Began.At, "", "item %d left at %s, which was refused at %s", it.put.N, duration(it.left[0].Began.At), duration(it.put.Began.At))
		case stop != nil && len(it.left) > 0 && it.left[0].Began.Seq > stop.Ended.Seq && it.waits(stop):
			return x.told(it.left[0].Began.At, fmt.Sprintf("stop at %s had returned", duration(stop.Began.At)), "item %d left at %s, want never", it.put.N, duration(it.left[0].Began.At))
		case len(it.left) > 1:
			return x.told(it.left[1].Began.At, "", "item %d left twice, at %s and at %s", it.put.N, duration(it.left[0].Began.At), duration(it.left[1].Began.At))
		case it.put.OK && len(it.left) == 0 && it.cancelled == nil && v.closed == nil && !x.stopped():
			return x.told(it.put.Began.At, fmt.Sprintf("it was accepted at %s", duration(it.put.Began.At)), "item %d never left (up to %s)", it.put.N, duration(x.End))
		}
	}
	return nil
}

func (x *exam) lbFIFO() *violation {
	if !x.judgeable() {
		return nil
	}
	newest := -1
	for _, f := range x.Fires {
		i := slices.IndexFunc(x.leakyView().items, func(it leakyItem) bool { return it.put.N == f.Value })
		if i >= 0 && i < newest {
			return x.told(f.Began.At, "", "item %d left at %s, after item %d that came later", f.Value, duration(f.Began.At), x.leakyView().items[newest].put.N)
		}
		newest = max(newest, i)
	}
	return nil
}

func (x *exam) lbEmpty() *violation {
	if !x.judgeable() {
		return nil
	}
	for _, f := range x.Fires {
		if !slices.ContainsFunc(x.leakyView().items, func(it leakyItem) bool { return it.put.N == f.Value }) {
			return x.told(f.Began.At, "", "item %d left at %s, which nobody put", f.Value, duration(f.Began.At))
		}
	}
	return nil
}

func (x *exam) lbFrac() *violation {
	if !x.quiet() || len(x.Schedule.Steps) > 8 || x.Schedule.racing() > 0 {
		return nil
	}
	without := Schedule{Config: x.Schedule.Config}
	matters := false // something was put after something was refused, or waited then
	for _, it := range x.leakyView().items {
		if it.put.OK {
			without.Steps = append(without.Steps, it.put.Step)
		} else {
			matters = true
		}
	}
	if !matters {
		return nil
	}
	other := x.rerun(without)
	for i, f := range x.Fires {
		if i >= len(other.Fires) || f.Value != other.Fires[i].Value {
			return x.told(f.Began.At, "without the items that were refused it does not", "item %d left at %s", f.Value, duration(f.Began.At))
		}
		if o := other.Fires[i].Began.At; f.Began.At != o {
			return x.told(min(o, f.Began.At), fmt.Sprintf("without the items that were refused it leaves at %s", duration(o)),
				"item %d left at %s, want %s", f.Value, duration(f.Began.At), duration(o))
		}
	}
	return nil
}

func (x *exam) lbCancel() *violation {
	if !x.judgeable() || slices.ContainsFunc(x.Done, func(d Done) bool { return d.Op == OpClose || d.Inside }) {
		return nil
	}
	v := x.leakyView()
	for i := range x.Done {
		d := &x.Done[i]
		if d.Op != OpCancel {
			continue
		}
		k := slices.IndexFunc(v.items, func(it leakyItem) bool { return it.put.N == d.N })
		waits := k >= 0 && v.items[k].waits(d)
		if waits != d.OK && !d.Racing {
			return x.told(d.Began.At, map[bool]string{true: "it waited", false: "it did not wait: it had left, was refused, or was never put"}[waits],
				"cancel %d at %s reported %v, want %v", d.N, duration(d.Began.At), d.OK, waits)
		}
	}
	for i := range v.items {
		if it := &v.items[i]; it.cancelled != nil && len(it.left) > 0 {
			return x.told(it.left[0].Began.At, fmt.Sprintf("it was cancelled at %s", duration(it.cancelled.Began.At)),
				"item %d left at %s, want never", it.put.N, duration(it.left[0].Began.At))
		}
	}
	latest := make([]time.Duration, 0, len(v.items))
	for _, dues := range x.dues() {
		for k, due := range dues {
			if k == len(latest) {
				latest = append(latest, due)
			}
			latest[k] = max(latest[k], due)
		}
	}
	k := -1
	for i := range v.items {
		it := &v.items[i]
		if !it.put.OK {
			// LB-BOUND lets those who were cancelled hold their places. No longer than
			// until their turn would have come:
			places, j := 0, 0
			for n := range v.items[:i] {
				if other := &v.items[n]; other.put.OK {
					if other.waits(it.put) || other.cancelled != nil && latest[j] > it.put.Began.At {
						places++
					}
					j++
				}
			}
			if places < x.Schedule.Config.Backlog && !x.c.lky.Traits.Unbounded {
				return x.told(it.put.Began.At, "what was cancelled must not hold a place for ever", "item %d was refused, want accepted", it.put.N)
			}
			continue
		}
		k++
		switch {
		case it.cancelled != nil:
		case len(it.left) == 0:
			return x.told(it.put.Began.At, "what was cancelled was another item", "item %d never left (up to %s)", it.put.N, duration(x.End))
		case it.left[0].Began.At > latest[k]:
			return x.told(latest[k], "so it would have if nothing had been cancelled", "item %d left at %s, want at %s or before",
				it.put.N, duration(it.left[0].Began.At), duration(latest[k]))
		}
	}
	return nil
}

func (x *exam) lbClose() *violation {
	v := x.leakyView()
	if !x.judgeable() || v.closed == nil || slices.ContainsFunc(x.Done, func(d Done) bool { return d.Inside }) {
		return nil
	}
	for i := range v.items {
		it := &v.items[i]
		switch {
		case it.put.Began.Seq > v.closed.Began.Seq && it.put.OK:
			return x.told(it.put.Began.At, fmt.Sprintf("the input was closed at %s", duration(v.closed.Began.At)), "item %d was accepted, want refused", it.put.N)
		case !it.waits(v.closed):
		case x.c.lky.Traits.CloseFlush == CloseDrops && len(it.left) > 0:
			return x.told(it.left[0].Began.At, fmt.Sprintf("the input was closed at %s, and CloseDrops is declared", duration(v.closed.Began.At)),
				"item %d left at %s, want never", it.put.N, duration(it.left[0].Began.At))
		case x.c.lky.Traits.CloseFlush == CloseAtDeadline && len(it.left) == 0 && it.cancelled == nil:
			return x.told(it.put.Began.At, fmt.Sprintf("it waited when the input was closed at %s, and CloseAtDeadline is declared", duration(v.closed.Began.At)),
				"item %d never left (up to %s)", it.put.N, duration(x.End))
		}
	}
	if v.closed.Ended.Seq == 0 {
		return x.told(v.closed.Began.At, "nothing waited any more", "close at %s had not returned by %s", duration(v.closed.Began.At), duration(x.End))
	}
	return nil
}

func (x *exam) lkyReent() *violation {
	for _, d := range x.Done {
		if d.Inside && d.Ended.Seq == 0 {
			return x.told(d.Began.At, "everything that could wake it was asleep for good", "%s called by the function never returned", d.Op)
		}
	}
	return nil
}

func (x *exam) lkyCalls() *violation {
	if x.Refused != "" {
		return &violation{Headline: fmt.Sprintf("the constructor refused %s: %s", x.Schedule.Config, x.Refused)}
	}
	for _, d := range x.Done {
		if d.Panic != "" {
			return x.told(d.At, "", "%s panicked: %s", d.Step, d.Panic)
		}
		if x.Stuck && d.Ended.Seq == 0 && !d.Inside {
			return x.told(d.At, "", "%s never returned", d.Step)
		}
	}
	return nil
}
