package conformance

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// table lists the traits with what was declared and how to observe them.
func (l LimiterTraits) table(c *contract) []trait {
	without := func(ops ...Op) func() bool {
		return func() bool { return !slices.ContainsFunc(ops, c.accepts) }
	}
	never := func() bool { return false }
	return []trait{
		{"Initial", int(l.Initial), []string{"InitialFull", "InitialEmpty", "InitialOne"}, never, c.observeInitial},
		{"Oversize", int(l.Oversize), []string{"OversizeRejected", "OversizePrepaid", "OversizeWaits"}, without(opMany), c.observeOversize},
		{"BackTime", int(l.BackTime), []string{"BackClamp", "BackReject", "BackRewind"}, func() bool { return c.time != Explicit }, c.observeBackTime},
		{"ZeroRate", int(l.ZeroRate), []string{"ZeroRateBurst", "ZeroRateRejects", "ZeroRateRefused"}, without(OpAllow), c.observeZeroRate},
		{"Inf", int(l.Inf), []string{"InfGrants", "InfAbsent"}, without(OpAllow), c.observeInf},
		{"Fair", int(l.Fair), []string{"FairFIFO", "FairNone"}, without(OpWait), c.observeFair},
		{"DeadlineCheck", int(l.DeadlineCheck), []string{"DeadlineFailFast", "DeadlineSleeps"}, without(opContext), c.observeDeadline},
		{"Refund", int(l.Refund), []string{"RefundFull", "RefundConservative", "RefundNone"}, without(OpCancel), c.observeRefund},
		{"LateCancel", int(l.LateCancel), []string{"LateIgnored", "LateRefunds"}, without(opGiveUp), c.observeLate},
		{"Rewake", int(l.Rewake), []string{"RewakeKeeps", "RewakeServes"}, without(OpWait), c.observeRewake},
		{"Raise", int(l.Raise), []string{"RaiseBringsNothing", "RaiseBringsTokens"}, without(OpSetBurst), c.observeRaise},
	}
}

// see runs one schedule and returns its trace.
func (c *contract) see(text string) *Trace {
	s, err := ParseSchedule(text)
	if err != nil {
		panic(err)
	}
	seen := &Trace{}
	c.try(job{schedule: s}, 1, func(tr *Trace) { seen = tr })
	return seen
}

// tryLimiter runs one schedule and returns how many tokens were granted by the
// instant 0 and altogether.
func (c *contract) tryLimiter(text string) (first, all int) {
	for _, d := range c.see(text).Done {
		if d.OK && d.Ended.Seq != 0 && (d.Op == OpAllow || d.Op == OpWait) {
			all += d.N
			if d.Ended.At == 0 && d.At == 0 {
				first += d.N
			}
		}
	}
	return first, all
}

func (c *contract) observeInitial() int {
	op := "allow"
	if !c.accepts(OpAllow) {
		op = "wait"
	}
	first, _ := c.tryLimiter("rate=1/1h burst=3 | " + op + " 1 @0 | " + op + " 1 @0 | " + op + " 1 @0 | " + op + " 1 @0")
	switch first {
	case 3:
		return int(InitialFull)
	case 0:
		return int(InitialEmpty)
	case 1:
		return int(InitialOne)
	}
	return 0
}

func (c *contract) observeOversize() int {
	if _, all := c.tryLimiter("rate=1/1h burst=3 | allow 4 @0"); all > 0 {
		return int(OversizePrepaid)
	}
	if c.accepts(OpReserve) {
		if tr := c.see("rate=1/1h burst=3 | reserve 4 @0"); len(tr.Done) == 1 && tr.Done[0].OK {
			return int(OversizeWaits)
		}
	}
	return int(OversizeRejected)
}

func (c *contract) observeBackTime() int {
	if _, all := c.tryLimiter("rate=1/1s burst=3 | allow 2 @1h | allow 1 @0"); all < 3 {
		return int(BackReject)
	}
	return int(BackClamp)
}

func (c *contract) observeZeroRate() int {
	tr := c.see("rate=0/1s burst=1 | allow 1 @0")
	switch {
	case tr.Refused != "":
		return int(ZeroRateRefused)
	case len(tr.Done) == 1 && tr.Done[0].OK:
		return int(ZeroRateBurst)
	}
	return int(ZeroRateRejects)
}

func (c *contract) observeInf() int {
	if _, all := c.tryLimiter("rate=inf burst=1 | allow 1 @0 | allow 1 @0 | allow 1 @0"); all == 3 {
		return int(InfGrants)
	}
	return int(InfAbsent)
}

// drained begins a schedule with an empty bucket of a rate of 10/1s and a burst of 3.
func (c *contract) drained() string {
	switch {
	case c.accepts(opMany):
		return "rate=10/1s burst=3 | allow 3 @0 | "
	case c.accepts(OpAllow):
		return "rate=10/1s burst=3 | allow 1 @0 | allow 1 @0 | allow 1 @0 | "
	}
	return "rate=10/1s burst=1 | wait 1 @0 | "
}

// ended is when the last wait of a schedule returned, and whether it had a token.
func (c *contract) ended(text string) (time.Duration, bool) {
	var last Done
	for _, d := range c.see(text).Done {
		if d.Op == OpWait {
			last = d
		}
	}
	return last.Ended.At, last.OK && last.Ended.Seq != 0
}

func (c *contract) observeFair() int {
	if !c.accepts(OpAllow) {
		return int(FairFIFO)
	}
	if at, _ := c.ended(c.drained() + "wait 1 @0 | wait 1 @0 | allow 1 @100ms | allow 1 @200ms"); at <= 200*time.Millisecond+1 {
		return int(FairFIFO)
	}
	return int(FairNone)
}

func (c *contract) observeDeadline() int {
	if at, _ := c.ended(c.drained() + "wait 1 50ms @0"); at >= 49*time.Millisecond {
		return int(DeadlineSleeps)
	}
	return int(DeadlineFailFast)
}

// observeRefund gives up the first of two, and tells by when a third would come.
func (c *contract) observeRefund() int {
	last := "reserve 1 @0"
	if !c.accepts(opGiveUp) {
		last = "wait 1 @0"
	}
	alone, other := c.arrival(c.drained()+last+" | cancel %d @0 | "+last), c.arrival(c.drained()+last+" | "+last+" | cancel %d @0 | "+last)
	switch {
	case alone > 150*time.Millisecond:
		return int(RefundNone)
	case other > 250*time.Millisecond:
		return int(RefundConservative)
	}
	return int(RefundFull)
}

// arrival is the instant that the last held thing of a schedule has, whose cancel is
// of the first one after the bucket is drained.
func (c *contract) arrival(text string) time.Duration {
	first := 1
	if !c.accepts(OpAllow) {
		first = 2
	}
	var at time.Duration
	for _, d := range c.see(strings.ReplaceAll(text, "%d", strconv.Itoa(first))).Done {
		switch d.Op {
		case OpReserve:
			at = d.At + d.Delay
		case OpWait:
			at = d.Ended.At
		}
	}
	return at
}

func (c *contract) observeLate() int {
	if c.arrival(c.drained()+"reserve 1 @0 | cancel %d @150ms | reserve 1 @150ms") < 160*time.Millisecond {
		return int(LateRefunds)
	}
	return int(LateIgnored)
}

func (c *contract) observeRewake() int {
	text, early := "wait 1 @0 | wait 1 @0 | cancel 1 @0", 101*time.Millisecond
	if c.accepts(OpSetLimit) {
		early = 50 * time.Millisecond
		text = "wait 1 @0 | setlimit 1000/1s @0"
	} else if !c.accepts(opContext) {
		return int(RewakeKeeps)
	}
	if at, _ := c.ended(c.drained() + text); at <= early {
		return int(RewakeServes)
	}
	return int(RewakeKeeps)
}

func (c *contract) observeRaise() int {
	if _, all := c.tryLimiter("rate=1/1h burst=1 | setburst 2 @0 | allow 1 @0 | allow 1 @0"); all > 1 {
		return int(RaiseBringsTokens)
	}
	return int(RaiseBringsNothing)
}
