package conformance

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/synctestcompat"
)

// clockRules are the rules of RunClock. Each judges the schedules of the family
// that bears its name.
var clockRules = []rule{
	clkRule("CK-NOW", "The clock MUST move by what Advance says and by nothing else, and Since and Until MUST agree with Now.",
		nil),
	clkRule("CK-TIMER", "A timer, and After, MUST send once, no sooner than the clock reaches the deadline, and what it sends MUST be the time of the deadline.",
		[]Op{OpTimer}),
	clkRule("CK-STOP", "Stop and Reset MUST report whether the timer was armed; a stopped timer MUST NOT fire, and one that was reset MUST fire once, that much after the Reset.",
		[]Op{OpTimer}),
	clkRule("CK-UNREAD", "Stop and Reset of a timer that has fired but whose value was not received MUST report true, and no value from before a Stop or Reset MUST be received after it (Go 1.23).",
		[]Op{OpTimer}),
	clkRule("CK-TICKER", "A ticker MUST send the time of each tick; ticks that come while one is unread MUST be dropped, and the cadence MUST NOT shift.",
		[]Op{OpTicker}),
	clkRule("CK-TICKSTOP", "A stopped ticker MUST NOT tick; Reset MUST make it tick at the new period from then on, a stopped one too, until it is stopped.",
		[]Op{OpTicker}),
	clkRule("CK-TICKUNREAD", "No tick from before a Stop or Reset of a ticker MUST be received after it (Go 1.23).",
		[]Op{OpTicker}),
	clkRule("CK-TICKARG", "NewTicker and Ticker.Reset MUST panic if the period is not positive.",
		[]Op{OpTicker}),
	clkRule("CK-ZERO", "Timers, functions and sleeps with a duration <= 0 MUST fire at once, without the clock being moved.",
		nil),
	clkRule("CK-FUNC", "AfterFunc MUST run its function once when the duration has passed and not before; Stop and Reset MUST report whether it was armed, and hold.",
		[]Op{OpAfterFunc}),
	clkRule("CK-CHAN", "The channel of a timer that AfterFunc made MUST be nil.",
		[]Op{OpAfterFunc}),
	clkRule("CK-SLEEP", "Sleep MUST return when the duration has passed, and not before.",
		[]Op{OpSleep}),
	clkRule("CK-SAME", "Timers that are due at one instant MUST all fire, in whatever order.",
		nil),
	clkRule("CK-REENT", "A function MUST be able to call every method of the clock and its timers.",
		[]Op{OpAfterFunc}),
	clkRule("CK-ORDER", "Functions with different deadlines MUST run in the order of their deadlines, however far the clock is moved at once.",
		[]Op{OpAfterFunc}),
	clkRule("CK-AT", "While a function runs, Now MUST be the instant at which it was due, however far the clock is moved at once.",
		[]Op{OpAfterFunc}),
	clkRule("CK-CHAIN", "What a function arms, resets or stops MUST take effect before the clock moves on: what it arms fires on the way, what it stops does not.",
		[]Op{OpAfterFunc}),
	clkRule("CK-FLOW", "A goroutine that a timer wakes MUST have its turn before the clock moves on: it finds Now at that instant, and what it arms, receives, resets or stops counts.",
		[]Op{OpConsume}),
	clkRule("CK-CONTEXT", "A context with a deadline MUST be live before it, without blocking whoever asks, and MUST have ended with context.DeadlineExceeded from it on, or as cancelled before.",
		[]Op{OpTimeout}),
	clkRule("CK-CTXTREE", "A context MUST have the earlier deadline of its own and its parent's, end when its parent ends, and keep the Err and Cause with which it first ended.",
		[]Op{OpTimeout}),
	clkRule("CK-ARMED", "What is armed MUST be counted once, and what has fired or was stopped, reset or cancelled MUST NOT be counted any more.",
		[]Op{OpArmed}),
	{Rule: Rule{"CK-AWAIT", "When Advance returns, what it declares to wait for MUST have run.", lawsLink + "ck-await", Extended},
		probe: (*contract).clockAwaits, skip: clkSkip("CK-AWAIT", []Op{OpAfterFunc})},
	{Rule: Rule{"CK-DIFF", "On any mix of operations the clock MUST show what package time shows.", lawsLink + "ck-diff", Core},
		trace: func(x *exam) *violation { return x.clockRule("CK-DIFF") },
		probe: (*contract).clockDiffers, skip: clkSkip("CK-DIFF", []Op{OpTimer})},
	clkRule("X-LEAK", "When all timers are stopped and all contexts cancelled, no goroutine MUST remain.",
		nil),
	{Rule: Rule{"X-RACE", "Concurrent use of all operations MUST be free of data races.", lawsLink + "x-race", Core},
		probe: (*contract).clockRace, skip: withoutRaceDetector, live: true},
}

func clkRule(id, text string, ops []Op) rule {
	return rule{
		Rule:  Rule{id, text, lawsLink + anchor(id), Core},
		skip:  clkSkip(id, ops),
		trace: func(x *exam) *violation { return x.clockRule(id) },
	}
}

// clkSkip is the skip function of a clock rule.
func clkSkip(id string, ops []Op) func(c *contract) string {
	base := needs(ops)
	return func(c *contract) string {
		waits := c.clk.Traits.Waits
		switch {
		case !synctestcompat.Available:
			return "package time can only be held in a bubble: " + synctestcompat.Reason
		case base(c) != "":
			return base(c)
		case id == "CK-FLOW" && waits != WaitsForAll && waits != 0:
			return "declared: " + c.traits[0].values[waits-1]
		case id == "CK-AWAIT" && waits == 0:
			return "trait Waits is undeclared"
		case id == "CK-AWAIT" && waits == WaitsForNothing:
			return "declared: WaitsForNothing"
		case (id == "CK-ORDER" || id == "CK-AT" || id == "CK-CHAIN") && waits == WaitsForNothing:
			return "declared: WaitsForNothing"
		}
		return ""
	}
}

// clockRule judges a run by comparing it with package time.
func (x *exam) clockRule(id string) *violation {
	if x.unordered != "" {
		return nil
	}
	if id == "X-LEAK" {
		if len(x.Left) == 0 {
			return nil
		}
		return &violation{
			Headline: "a goroutine is left: " + x.Left[0],
			Because:  "all timers were stopped, all contexts cancelled and every sleeper woken",
			At:       x.End,
		}
	}
	if x.Stuck {
		return x.clockStuck()
	}
	want, got := x.want, x.events
	if id == "CK-ARMED" {
		want, got = counted(want), counted(got)
	}
	loose := id == "CK-FUNC" || id == "CK-SLEEP" || id == "CK-SAME" || x.c.clk.Traits.Waits == WaitsForNothing
	d := compare(want, got, !loose)
	if d == nil {
		return nil
	}
	v := &violation{At: d.at, Kind: d.kind()}
	v.Headline = d.headline()
	step := x.Schedule.Steps[d.part/2]
	if d.at < 0 {
		v.At = step.At
	}
	v.Because = d.because(step, x.Schedule)
	v.Lanes = clockLanes(d, step, want, got)
	return v
}

func (x *exam) clockStuck() *violation {
	return &violation{
		Headline: fmt.Sprintf("%s never returned, or what it waits for never came", x.doing),
		Because:  "every goroutine is blocked, while on package time the schedule runs to its end",
		At:       x.End,
		Lanes:    clockLanes(&difference{agreed: len(x.events)}, Step{}, x.want, x.events),
	}
}

// clockHung judges a run that made no progress: a goroutine that is blocked in a
// method which it called from a function of the clock proves why.
func (c *contract) clockHung(f family, h *hang) {
	s := h.job.schedule
	c.stopped[f.name] = "a run hung and the rest was given up: " + s.String()
	for _, g := range strings.Split(h.stacks, "\n\n") {
		header, stack, _ := strings.Cut(g, "\n")
		turn := strings.Index(stack, ".(*world).turn(")
		if turn < 0 || !strings.Contains(header, "[sync.") && !strings.Contains(header, "[semacquire") {
			continue
		}
		c.reentryHangs = true
		c.blame("CK-REENT", f, &violation{
			Headline: "a method of the clock that a function called never returned",
			Because:  "its goroutine is blocked under the function that the clock runs: " + describe(header, stack),
			Trace:    &Trace{Schedule: s},
		})
		return
	}
	if where := c.waitsForEver(h); where != "" && f.name != leaks {
		c.lost(f.name, f, h, where)
		return
	}
	c.stalls[f.name] = "no progress, and the stacks do not prove why: " + s.String()
}

// counted are the answers to armed steps.
func counted(events []event) []event {
	return slices.DeleteFunc(slices.Clone(events), func(e event) bool { return !strings.HasPrefix(e.text, string(OpArmed)+":") })
}

// headline says what the clock showed, and what package time shows.
func (d *difference) headline() string {
	if len(d.want) == 0 {
		return d.got[0].text + ", want nothing of the kind"
	}
	want, got := d.pair()
	when := " (at " + duration(want.at) + ")"
	about, what, answer := strings.Cut(want.text, ": ")
	switch {
	case got.text == "":
		return "nothing, want " + want.text + when
	case got.text == want.text:
		return got.text + " too early, want it at " + duration(want.at)
	case answer && strings.HasPrefix(got.text, about+": "):
		return got.text + ", want " + what + when
	}
	return got.text + ", want " + want.text + when
}

// pair picks what is missing and what was seen instead, of the same thing if there
// is one.
func (d *difference) pair() (want, got event) {
	for _, w := range d.want {
		for _, g := range d.got {
			if g.who == w.who && subject(g) == subject(w) {
				return w, g
			}
		}
	}
	if len(d.want) > 0 {
		want = d.want[0]
	}
	if len(d.got) > 0 {
		got = d.got[0]
	}
	return want, got
}

// subject is what an event is about: "function 1", "read 2".
func subject(e event) string {
	words := strings.Fields(e.text)
	return strings.TrimSuffix(strings.Join(words[:min(2, len(words))], " "), ":")
}

// kind tells differences of different kinds apart.
func (d *difference) kind() string {
	want, got := d.pair()
	word := func(e event) string { w, _, _ := strings.Cut(e.text, " "); return w }
	return fmt.Sprint(word(want), word(got), want.who == 0, got.who == 0)
}

func (d *difference) because(step Step, s Schedule) string {
	text := fmt.Sprintf("package time shows the latter while it moves to %s", duration(step.At))
	if d.part%2 == 1 {
		text = "package time shows the latter at the step " + step.String()
	}
	for _, f := range s.Steps {
		if f.In != 0 {
			text += fmt.Sprintf("; %d does %s in its turn", f.In, call(f))
		}
	}
	return text
}

// clockLanes shows what package time shows and what the clock has shown, up to the
// first difference, which came at the step.
func clockLanes(d *difference, step Step, wanted, shown []event) []lane {
	want, got := lane{name: "want"}, lane{name: "got"}
	wanted = slices.Clone(wanted)
	slices.SortStableFunc(wanted, func(a, b event) int { // the order of one instant is chance
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.part, b.part), cmp.Compare(a.who, b.who))
	})
	for _, e := range wanted {
		want.marks = append(want.marks, laneMark{e.at, e.mark})
	}
	rest := slices.Clone(wanted)
	for _, e := range shown[:d.agreed] {
		i := slices.IndexFunc(rest, func(w event) bool { return w.who == e.who && w.text == e.text })
		if i >= 0 {
			got.marks = append(got.marks, laneMark{rest[i].at, e.mark})
			rest = slices.Delete(rest, i, i+1)
		}
	}
	at := d.at
	if at < 0 {
		at = step.At
	}
	for _, e := range d.got {
		got.marks = append(got.marks, laneMark{at, e.mark})
	}
	return []lane{want, got}
}

// returnsEarly reports how Advance returned before what it woke had run: functions,
// or if asked for, goroutines that sleep and receive.
func (c *contract) returnsEarly(goroutines bool) (how string) {
	if !synctestcompat.Available {
		return ""
	}
	c.lab.inBubble(func() {
		f := c.clk.New(ClockEnv{Settle: synctestcompat.Wait})
		const each = 20
		for i := range each {
			var ran atomic.Bool
			if goroutines {
				go func() {
					f.Sleep(time.Second)
					ran.Store(true)
				}()
			} else {
				f.AfterFunc(time.Second, func() {
					var wg sync.WaitGroup // a function that takes its time
					wg.Add(1)
					go func() { runtime.Gosched(); wg.Done() }()
					wg.Wait()
					ran.Store(true)
				})
			}
			synctestcompat.Wait()
			f.Advance(time.Second)
			returned := ran.Load()
			synctestcompat.Wait()
			if !returned && ran.Load() {
				how = fmt.Sprintf("in round %d of %d", i+1, each)
				return
			}
		}
	})
	return how
}

// clockAwaits is the probe of CK-AWAIT.
func (c *contract) clockAwaits() (*violation, string) {
	if how := c.returnsEarly(false); how != "" {
		return &violation{
			Headline: "Advance returned before the function that it started had (" + how + ")",
			Because:  "the clock declares " + c.traits[0].values[c.clk.Traits.Waits-1],
		}, ""
	}
	if c.clk.Traits.Waits == WaitsForAll && c.accepts(OpSleep) {
		if how := c.returnsEarly(true); how != "" {
			return &violation{
				Headline: "Advance returned before the sleeper that it woke had run (" + how + ")",
				Because:  "the clock declares WaitsForAll",
			}, ""
		}
	}
	return nil, ""
}
