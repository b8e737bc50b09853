package limitertest

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// observer tries the implementation to see which choices it makes. Each of its observations
// is 0 if the constructor refused, or if what was seen tells nothing.
type observer struct {
	s *suite.Suite
	c *contract
}

// plan is a limiter on which something is observed, and how its bucket is emptied.
type plan struct {
	o     observer
	cfg   Config
	op    conformance.Op // by which single tokens are taken
	first int            // the number of the first claim after the bucket was emptied
	full  int            // how many single tokens a full bucket grants
}

// plan chooses a limiter that the constructor accepts. Where there are only waits, it has a
// burst of 1 if that is accepted: who waits for the rest of a burst would be in the way.
func (o observer) plan() plan {
	p := plan{o: o, cfg: o.c.usual, op: verb.Allow, first: 1}
	if !o.s.Accepts(opRequest) {
		p.op = verb.Wait
		if one := (Config{perSecond(10), 1}); o.accepts(one) {
			p.cfg = one
		}
	}
	p.full = p.cfg.Burst + o.credit()
	if p.op == verb.Wait {
		p.first += p.full
	}
	return p
}

// credit is how many tokens are granted on top of those that the bucket holds.
func (o observer) credit() int {
	return suite.Number(o.c.spec.Traits.Overdraft || o.overdraft())
}

// overdraft asks a full bucket for all that it holds, and then for two tokens more.
func (o observer) overdraft() bool {
	if o.c.overdraft == nil {
		o.c.overdraft = new(bool)
		if o.s.Accepts(opSeveral) && o.c.usual.Burst > 1 {
			p := plan{o: o, cfg: o.c.usual, op: verb.Allow}
			tr := p.see(fmt.Sprintf("allow 1 @0 | allow %d @{100} | allow 2 @{100} | "+
				"allow 1 @{101.5} | allow 1 @{102.5}", p.cfg.Burst))
			*o.c.overdraft = len(tr.Done) == 5 && tr.Done[1].OK && tr.Done[2].OK && !tr.Done[3].OK && tr.Done[4].OK
		}
	}
	return *o.c.overdraft
}

// accepts reports whether the constructor accepts a configuration.
func (o observer) accepts(cfg Config) (yes bool) {
	o.trial([]Config{cfg}, func(*suite.Stage, *Funcs, Config) { yes = true })
	return yes
}

// trial tries one of the configurations in a run of its own, in which a panic shows nothing.
func (o observer) trial(of []Config, use func(st *suite.Stage, f *Funcs, cfg Config)) *suite.Hang {
	_, hang := o.c.trial(o.s.Play, of, func(st *suite.Stage, f *Funcs, cfg Config) {
		_ = suite.Catch(func() { use(st, f, cfg) })
	})
	return hang
}

// inIntervals is an instant or a duration in a schedule of a plan: {1.5} are one and a half
// intervals between two tokens.
var inIntervals = regexp.MustCompile(`\{[0-9.]+\}`)

func (p plan) after(n float64) time.Duration {
	return time.Duration(n * float64(p.cfg.Rate.Interval()))
}

func (p plan) see(text string) *conformance.Trace { return p.o.see(p.text(text)) }

// drained is see with an empty bucket.
func (p plan) drained(text string) *conformance.Trace {
	return p.see(strings.Repeat(string(p.op)+" 1 @0 | ", p.full) + text)
}

func (p plan) text(steps string) string {
	steps = inIntervals.ReplaceAllStringFunc(steps, func(s string) string {
		n, _ := strconv.ParseFloat(strings.Trim(s, "{}"), 64)
		return p.after(n).String()
	})
	return fmt.Sprintf("rate=%s burst=%d | %s", p.cfg.Rate, p.cfg.Burst, steps)
}

// see runs one schedule and returns its trace, an empty one if the run was left out on the way.
func (o observer) see(text string) *conformance.Trace {
	for _, rec := range o.s.Try(suite.MustParse(text), inside.OrderSettled, 1) {
		if rec.LeftOut == "" || rec.Refused != "" {
			return &rec.Trace
		}
	}
	return &conformance.Trace{}
}

// grantedFrom counts the tokens that were granted by requests and waits which began, and
// returned, at that instant or later.
func grantedFrom(tr *conformance.Trace, from time.Duration) (all int) {
	for _, d := range tr.Done {
		if ok := d.OK && d.Ended.Seq != 0 && d.Answer.Err == nil; ok && d.At >= from && (d.Op == verb.Allow ||
			d.Op == verb.Wait) {
			all += d.N
		}
	}
	return all
}

func (o observer) initial() int {
	p := o.plan()
	p.cfg = o.c.usual
	extra := o.credit()
	ask := string(p.op) + " 1 "
	tr := p.see(strings.Repeat(ask+"@0 | ", p.cfg.Burst+extra+1) + ask + "@{100}")
	atOnce := 0
	for _, d := range tr.Done {
		if d.OK && d.Ended.Seq != 0 && d.At == 0 && d.Ended.At-d.Began.At <= o.c.trip {
			atOnce++
		}
	}
	switch atOnce -= extra; {
	case grantedFrom(tr, p.after(100)) == 0:
		return 0
	case atOnce == p.cfg.Burst:
		return int(InitialFull)
	case atOnce == 0:
		return int(InitialEmpty)
	case atOnce == 1:
		return int(InitialOne)
	}
	return 0
}

func (o observer) oversize() int {
	p := o.plan()
	more := strconv.Itoa(p.cfg.Burst+1) + " "
	if o.s.Accepts(opRequest) {
		if grantedFrom(p.see("allow 1 @0 | allow "+more+"@{100}"), p.after(100)) > 0 {
			return int(OversizePrepaid)
		}
	}
	switch {
	case o.s.Accepts(verb.Reserve):
		tr := p.see("reserve " + more + "@{100}")
		if len(tr.Done) != 1 {
			return 0
		}
		if tr.Done[0].OK {
			return int(OversizeWaits)
		}
	case o.s.Accepts(opContext) && o.s.Accepts(verb.Wait):
		if grantedFrom(p.see("wait "+more+"{1000} @{100}"), 0) > 0 {
			return int(OversizeWaits)
		}
	}
	return int(OversizeRejected)
}

// single reports whether a request for two tokens panics, or a wait where there are only waits.
func (o observer) single() bool {
	if o.c.single || o.s.Accepts(opRequest) || !o.s.Accepts(verb.Wait) {
		return o.c.single
	}
	panics := func(text string) bool {
		tr := o.see(text)
		return len(tr.Done) > 0 && tr.Done[0].Panic != ""
	}
	if panics("rate=10/1s burst=3 | wait 2 @0") && !panics("rate=10/1s burst=3 | wait 1 @0") {
		return true
	}
	if !o.s.Accepts(opContext) {
		return false
	}
	tr := o.see("rate=10/1s burst=3 | wait 3 @0 | wait 3 @0 | wait 3 @0 | wait 3 @0")
	atOnce := func(d conformance.Done) bool { return d.OK && d.Ended.Seq != 0 && d.Ended.At == 0 }
	o.c.alone = len(tr.Done) == 4 && !slices.ContainsFunc(tr.Done[:3], func(d conformance.Done) bool {
		return !atOnce(d)
	}) && !atOnce(tr.Done[3])
	return o.c.alone
}

func (o observer) zero() int {
	if !o.s.Accepts(opSeveral) {
		return 0
	}
	switch tr := o.plan().see("allow 1 @0 | allow 0 @{100}"); {
	case len(tr.Done) < 2:
		return 0
	case tr.Done[1].OK:
		return int(ZeroGranted)
	}
	return int(ZeroDenied)
}

func (o observer) waitErrors() int {
	if !o.s.Accepts(opContext) || !o.s.Accepts(verb.Wait) {
		return 0
	}
	p := o.plan()
	kept, seen := int(WaitErrorsDeadline), false
	cancelled := fmt.Sprintf("wait 1 @0 | cancel %d @{0.5}", p.first)
	for _, text := range []string{cancelled, "wait 1 {0.5} @0", "wait 1 -1ns @0"} {
		tr := p.drained(text)
		for i := range tr.Done {
			want, early := expectedError(tr, i)
			if want == nil {
				continue
			}
			seen = true
			switch right := errors.Is(tr.Done[i].Err, want); {
			case right:
			case early:
				kept = int(WaitErrorsContext)
			default:
				return int(WaitErrorsOwn)
			}
		}
	}
	if !seen {
		return 0
	}
	return kept
}

// backTime asks long before the newest instant, or sets the clock back by an hour, while there are tokens, and asks at
// the newest again.
func (o observer) backTime() int {
	p := o.plan()
	if p.cfg.Burst == 1 || !o.s.Accepts(opRequest) {
		return 0
	}
	if o.s.Time == Injected {
		if o.c.trip > 0 {
			return 0
		}
		return o.setBack()
	}
	again := p.see(strings.Repeat("allow 1 @{100} | ", p.full-1) + "allow 1 @0 | allow 1 @{100} | allow 1 @{100}")
	if grantedFrom(again, 0) > p.full {
		return int(BackRewind)
	}
	switch tr := p.see("allow 1 @0 | allow 1 @{100} | allow 1 @0"); {
	case len(tr.Done) < 3 || !tr.Done[1].OK:
		return 0
	case tr.Done[2].OK:
		return int(BackClamp)
	}
	return int(BackReject)
}

// setBack asks when the clock is set back, and if nothing is granted then, when it has passed all that it had shown.
func (o observer) setBack() (seen int) {
	o.trial(o.c.candidates(1, 3), func(st *suite.Stage, f *Funcs, cfg Config) {
		clock := st.Fake()
		if !f.allows(clock.Now(), 0) {
			return
		}
		const back = time.Hour
		clock.SetWall(clock.Now().Add(-back))
		if seen = int(BackClamp); f.allows(clock.Now(), 0) {
			return
		}
		clock.Advance(back + time.Duration(cfg.Burst+1)*cfg.Rate.Interval())
		if !f.allows(clock.Now(), 0) {
			seen = int(BackReject)
		}
	})
	return seen
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
	text, all := "rate=inf burst=1 | allow 1 @0 | allow 1 @0 | allow 1 @0", 3
	if o.s.Accepts(opSeveral) { // a bucket that merely fills at once never holds two
		text, all = text+" | allow 2 @0", 5
	}
	if grantedFrom(o.see(text), 0) < all {
		return int(InfAbsent)
	}
	// What takes it for a very high rate asks whether the burst is large enough.
	none := o.see("rate=inf burst=0 | allow 1 @0")
	if none.Refused == "" && grantedFrom(none, 0) == 0 {
		return int(InfAbsent)
	}
	return int(InfGrants)
}

// last is the last wait or reservation of a trace, and when it was served or will be.
func last(tr *conformance.Trace) (d conformance.Done, at time.Duration) {
	for _, o := range tr.Done {
		switch {
		case o.Op == verb.Reserve && o.OK:
			d, at = o, o.At+o.Delay
		case o.Op == verb.Wait && o.Ended.Seq != 0:
			d, at = o, o.Ended.At
		}
	}
	return d, at
}

// asleep reports whether two who wait hang because one holds a lock, for which the other waits,
// while it sleeps. From then on no schedule is observed in which that happens.
func (o observer) asleep() bool {
	if !o.s.Accepts(verb.Wait) || o.s.Inexact != "" {
		return false
	}
	if o.c.locked == nil {
		yes := strings.Contains(o.s.Ended(), "holds a lock while it waits")
		if p := o.plan(); !yes {
			two := strings.Repeat(string(p.op)+" 1 @0 | ", p.full) + "wait 1 @0 | wait 1 @0"
			job := suite.Job{Schedule: suite.MustParse(p.text(two))}
			hang := o.s.Run([]suite.Job{job}, func(suite.Job, *suite.Recording) {})
			yes = hang != nil && hang.WaitsForLock() != "" && o.s.WaitsForEver(hang) == ""
		}
		o.c.locked = &yes
	}
	return *o.c.locked
}

// fair looks for one who is served before another who came earlier.
func (o observer) fair() int {
	p := o.plan()
	several, allows := o.s.Accepts(opSeveral) && p.cfg.Burst > 1, o.s.Accepts(opRequest)
	if several {
		tr := p.drained("wait 2 @0 | wait 1 @0")
		if overtaken(tr) || grantedFrom(p.drained("wait 2 @0 | allow 1 @{1.5}"), p.after(1)) > 0 {
			return int(FairNone)
		}
	}
	tr := p.drained("wait 1 @0 | wait 1 @0")
	if _, at := last(tr); at == 0 {
		return 0
	}
	if allows {
		_, at := last(p.drained("wait 1 @0 | wait 1 @0 | allow 1 @{1} | allow 1 @{2}"))
		if at > p.after(2)+1+3*o.c.trip {
			return int(FairNone)
		}
	}
	many := ""
	for i := range 8 {
		many += fmt.Sprintf("wait 1 @{0.%d} | ", i+1)
	}
	text := strings.Repeat(string(p.op)+" 1 @0 | ", p.full) + strings.TrimSuffix(many, " | ")
	for _, rec := range o.s.Try(suite.MustParse(p.text(text)), inside.OrderSettled, 10) {
		if overtaken(&rec.Trace) {
			return int(FairNone)
		}
	}
	return int(FairFIFO)
}

// overtaken reports whether a wait was served before an earlier one.
func overtaken(tr *conformance.Trace) bool {
	newest := time.Duration(0)
	for _, d := range tr.Done {
		if d.Op != verb.Wait || !d.OK || d.Ended.Seq == 0 {
			continue
		}
		if d.Ended.At+1 < newest {
			return true
		}
		newest = max(newest, d.Ended.At)
	}
	return false
}

func (o observer) deadline() int {
	p := o.plan()
	switch d, at := last(p.drained("wait 1 {0.5} @0")); {
	case d.Op == "" || d.OK:
		return 0
	case at >= p.after(0.49):
		return int(DeadlineSleeps)
	}
	return int(DeadlineFailFast)
}

// refund gives up the first of two reservations or waits, and sees when a third is due.
func (o observer) refund() int {
	p, claim := o.plan(), "reserve 1 @0"
	if !o.s.Accepts(opGiveUp) {
		claim = "wait 1 @0"
	}
	cancel := fmt.Sprintf(" | cancel %d @0 | ", p.first)
	_, alone := last(p.drained(claim + cancel + claim))
	_, other := last(p.drained(claim + " | " + claim + cancel + claim))
	switch {
	case alone == 0 || other == 0:
		return 0
	case alone > p.after(1.5):
		return int(RefundNone)
	case other > p.after(2.5):
		return int(RefundConservative)
	}
	return int(RefundFull)
}

func (o observer) lateCancel() int {
	p := o.plan()
	switch d, at := last(p.drained(fmt.Sprintf("reserve 1 @0 | cancel %d @{1.5} | reserve 1 @{1.5}", p.first))); {
	case d.At == 0:
		return 0
	case at < p.after(1.6):
		return int(LateRefunds)
	}
	return int(LateIgnored)
}

func (o observer) onChange() int {
	p, text, early := o.plan(), "", 1.01
	switch {
	case o.s.Accepts(verb.SetLimit):
		text, early = "wait 1 @0 | setlimit 1000/1s @0", 0.5
	case o.s.Accepts(opContext):
		text = fmt.Sprintf("wait 1 @0 | wait 1 @0 | cancel %d @0", p.first)
	case o.s.Accepts(opGiveUp):
		text = fmt.Sprintf("reserve 1 @0 | wait 1 @0 | cancel %d @0", p.first)
	default: // the burst alone moves nobody whose tokens it holds
		return int(OnChangeKeeps)
	}
	switch d, at := last(p.drained(text)); {
	case d.Op == "":
		return 0
	case at <= p.after(early)+3*o.c.trip:
		return int(OnChangeServes)
	}
	return int(OnChangeKeeps)
}

func (o observer) raise() int {
	p := o.plan()
	if p.op != verb.Allow {
		return 0
	}
	ask := strings.TrimSuffix(strings.Repeat("allow 1 @{100} | ", 2*p.cfg.Burst), " | ")
	switch n := grantedFrom(p.see(fmt.Sprintf("allow 1 @0 | setburst %d @{100} | ", 2*p.cfg.Burst)+ask),
		p.after(100)); {
	case n == 0:
		return 0
	case n > p.full:
		return int(RaiseBringsTokens)
	}
	return int(RaiseBringsNothing)
}
