package limitertest

import (
	"strconv"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// observer tries the implementation to see which choices it makes.
type observer struct{ s *suite.Suite }

// see runs one schedule and returns its trace.
func (o observer) see(text string) *conformance.Trace {
	for _, rec := range o.s.Try(suite.MustParse(text), conformance.OrderSettled, 1) {
		return &rec.Trace
	}
	return &conformance.Trace{}
}

// granted runs one schedule and returns how many tokens were granted by the
// instant 0 and altogether.
func (o observer) granted(text string) (first, all int) {
	for _, d := range o.see(text).Done {
		if d.OK && d.Ended.Seq != 0 && (d.Op == conformance.OpAllow || d.Op == conformance.OpWait) {
			all += d.N
			if d.Ended.At == 0 && d.At == 0 {
				first += d.N
			}
		}
	}
	return first, all
}

func (o observer) initial() int {
	op := "allow"
	if !o.s.Accepts(conformance.OpAllow) {
		op = "wait"
	}
	first, _ := o.granted("rate=1/1h burst=3 | " + op + " 1 @0 | " + op + " 1 @0 | " + op + " 1 @0 | " + op + " 1 @0")
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

func (o observer) oversize() int {
	if _, all := o.granted("rate=1/1h burst=3 | allow 4 @0"); all > 0 {
		return int(OversizePrepaid)
	}
	if o.s.Accepts(conformance.OpReserve) {
		if tr := o.see("rate=1/1h burst=3 | reserve 4 @0"); len(tr.Done) == 1 && tr.Done[0].OK {
			return int(OversizeWaits)
		}
	}
	return int(OversizeRejected)
}

func (o observer) backTime() int {
	if _, all := o.granted("rate=1/1s burst=3 | allow 2 @1h | allow 1 @0"); all < 3 {
		return int(BackReject)
	}
	return int(BackClamp)
}

func (o observer) zeroRate() int {
	tr := o.see("rate=0/1s burst=1 | allow 1 @0")
	switch {
	case tr.Refused != "":
		return int(ZeroRateRefused)
	case len(tr.Done) == 1 && tr.Done[0].OK:
		return int(ZeroRateBurst)
	}
	return int(ZeroRateRejects)
}

func (o observer) infinite() int {
	if _, all := o.granted("rate=inf burst=1 | allow 1 @0 | allow 1 @0 | allow 1 @0"); all == 3 {
		return int(InfGrants)
	}
	return int(InfAbsent)
}

// drained begins a schedule with an empty bucket of a rate of 10/1s and a burst of 3.
func (o observer) drained() string {
	switch {
	case o.s.Accepts(opSeveral):
		return "rate=10/1s burst=3 | allow 3 @0 | "
	case o.s.Accepts(conformance.OpAllow):
		return "rate=10/1s burst=3 | allow 1 @0 | allow 1 @0 | allow 1 @0 | "
	}
	return "rate=10/1s burst=1 | wait 1 @0 | "
}

// ended is when the last wait of a schedule returned, and whether it had a token.
func (o observer) ended(text string) (time.Duration, bool) {
	var last conformance.Done
	for _, d := range o.see(text).Done {
		if d.Op == conformance.OpWait {
			last = d
		}
	}
	return last.Ended.At, last.OK && last.Ended.Seq != 0
}

func (o observer) fair() int {
	if !o.s.Accepts(conformance.OpAllow) {
		return int(FairFIFO)
	}
	at, _ := o.ended(o.drained() + "wait 1 @0 | wait 1 @0 | allow 1 @100ms | allow 1 @200ms")
	if at <= 200*time.Millisecond+1 {
		return int(FairFIFO)
	}
	return int(FairNone)
}

func (o observer) deadline() int {
	if at, _ := o.ended(o.drained() + "wait 1 50ms @0"); at >= 49*time.Millisecond {
		return int(DeadlineSleeps)
	}
	return int(DeadlineFailFast)
}

// refund gives up the first of two reservations or waits, and sees when a third would be
// due.
func (o observer) refund() int {
	last := "reserve 1 @0"
	if !o.s.Accepts(opGiveUp) {
		last = "wait 1 @0"
	}
	alone := o.arrival(o.drained() + last + " | cancel %d @0 | " + last)
	other := o.arrival(o.drained() + last + " | " + last + " | cancel %d @0 | " + last)
	switch {
	case alone > 150*time.Millisecond:
		return int(RefundNone)
	case other > 250*time.Millisecond:
		return int(RefundConservative)
	}
	return int(RefundFull)
}

// arrival runs a schedule that gives up the first claim after draining the bucket, and
// returns the instant of its last claim.
func (o observer) arrival(text string) time.Duration {
	first := 1
	if !o.s.Accepts(conformance.OpAllow) {
		first = 2
	}
	var at time.Duration
	for _, d := range o.see(strings.ReplaceAll(text, "%d", strconv.Itoa(first))).Done {
		switch d.Op {
		case conformance.OpReserve:
			at = d.At + d.Delay
		case conformance.OpWait:
			at = d.Ended.At
		}
	}
	return at
}

func (o observer) lateCancel() int {
	if o.arrival(o.drained()+"reserve 1 @0 | cancel %d @150ms | reserve 1 @150ms") < 160*time.Millisecond {
		return int(LateRefunds)
	}
	return int(LateIgnored)
}

func (o observer) rewake() int {
	text, early := "wait 1 @0 | wait 1 @0 | cancel 1 @0", 101*time.Millisecond
	if o.s.Accepts(conformance.OpSetLimit) {
		early = 50 * time.Millisecond
		text = "wait 1 @0 | setlimit 1000/1s @0"
	} else if !o.s.Accepts(opContext) {
		return int(RewakeKeeps)
	}
	if at, _ := o.ended(o.drained() + text); at <= early {
		return int(RewakeServes)
	}
	return int(RewakeKeeps)
}

func (o observer) raise() int {
	if _, all := o.granted("rate=1/1h burst=1 | setburst 2 @0 | allow 1 @0 | allow 1 @0"); all > 1 {
		return int(RaiseBringsTokens)
	}
	return int(RaiseBringsNothing)
}
