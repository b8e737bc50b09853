package conformance

import (
	"fmt"
	"slices"
)

// concurrencyRules are the rules of RunConcurrency. Those of the model say which law
// the first difference breaks.
var concurrencyRules = []rule{
	conRule("CT-LIMIT", Core, "The requests that run MUST NOT take more slots than the limit.", nil),
	conRule("CT-WORK", Core, "A request that comes while its slots are free and nobody waits MUST get them at once, and one that waits MUST get them as soon as they are free and it is its turn.", nil),
	conRule("CT-REJECT", Core, "A request MUST be rejected at once if and only if it cannot run and as many wait as the backlog has places, none included.", conBounded),
	conRule("CT-SEAT", Extended, "A request that runs MUST NOT hold a place in the backlog, unless that is declared.", conSeat),
	conRule("CT-TIME", Core, "A request that waits MUST be rejected at exactly its arrival plus the timeout, and its place MUST be free then.", conTimeout),
	conRule("CT-TIME0", Core, "With a timeout of 0 a request that finds its slots free MUST get them, and another MUST be rejected at once.", conTimeout),
	conRule("CT-CTX", Core, "When the context of a request that waits is done, it MUST be rejected at once and its place be free; when it is done later nothing MUST come of it.", conContext),
	conRule("CT-CTXPRE", Core, "A request whose context is already done MUST be rejected, always, and MUST NOT take a slot; if that is declared, only one that would have to wait.", conContext),
	conRule("CT-TIE", Core, "When a slot comes free at the instant at which the wait ends, the request MUST either get it or be rejected, never both and never neither, and the slot MUST NOT be lost.", conLeaves),
	conRule("CT-NOGHOST", Core, "A slot MUST NOT go to a request that has given up.", conLeaves),
	conRule("CT-RELEASE", Core, "What a request took MUST be free when it is done, all of it, exactly once.", nil),
	{Rule: Rule{"CT-OVERREL", "A release of what nobody holds MUST be detected or ignored, as declared; it MUST NOT block, nor raise the limit.", lawsLink + "ct-overrel", Core},
		trace: func(x *exam) *violation { return x.conOverRelease() }, skip: conOverReleases},
	conRule("CT-HEAD", Core, "When the request that is first in the backlog gives up, or can never run, those behind it that fit MUST get the free slots at once.", conHead),
	conRule("CT-FIFO", Extended, "Slots MUST go to those who wait in the order in which they came, and a request that comes later MUST NOT overtake.", conFIFO),
	{Rule: Rule{"CT-NOLOST", "However many requests come and go at once, none MUST wait while its slots are free.", lawsLink + "ct-nolost", Core},
		probe: (*contract).concurrencyLost, skip: conWaits},
	conRule("CT-OVER", Core, "A request for more than the limit MUST be rejected at once, if it is not declared to wait; it MUST NOT run.", conOver),
	conRule("CT-RESIZE", Core, "After the limit was lowered nothing MUST be admitted before enough has been released; after it was raised those who wait MUST get the new slots at once.", conResize),
	{Rule: Rule{"CT-HOOK", "The hook MUST be called exactly once for each request that is rejected.", lawsLink + "ct-hook", Extended},
		trace: func(x *exam) *violation { return x.conHook() }, skip: conHooked},
	conRule("CT-CONV", Core, "Each request MUST be answered exactly once: it runs or it is rejected; and when all have ended every slot and every place MUST be free.", nil),
	{Rule: Rule{"X-CALLS", "Every operation of a legal schedule MUST return and MUST NOT panic.", lawsLink + "x-calls", Core},
		trace: func(x *exam) *violation { return x.conCalls() }},
	conRule("X-PANIC", Core, "A handler that panics or leaves by runtime.Goexit MUST give back its slot.", conHandler),
	{Rule: Rule{"X-REENT", "Every operation MUST be callable from the hook: it MUST NOT be called under a lock.", lawsLink + "x-reent", Extended},
		probe: (*contract).concurrencyReentry, skip: conHooked},
	{Rule: Rule{"X-LEAK", "When all is quiet, and after Stop, no goroutine and no armed timer MUST remain.", lawsLink + "x-leak", Core},
		trace: func(x *exam) *violation { return x.conLeft() }},
	{Rule: Rule{"X-CONC", "Of requests that many goroutines bring at one instant exactly as many MUST run and wait as some order of the same calls allows.", lawsLink + "x-conc", Core},
		probe: (*contract).concurrencyConcurrent},
	{Rule: Rule{"X-RACE", "Concurrent use of all operations MUST be free of data races.", lawsLink + "x-race", Core},
		probe: (*contract).concurrencyRace, skip: withoutRaceDetector, live: true},
}

func conRule(id string, level Level, text string, skip func(c *contract) string) rule {
	return rule{Rule: Rule{id, text, lawsLink + anchor(id), level}, skip: skip, trace: conTrace(id)}
}

// conTrace finds runs whose first difference breaks the rule.
func conTrace(id string) func(x *exam) *violation {
	return func(x *exam) *violation {
		if x.Refused != "" || x.Stuck {
			return nil // for X-CALLS
		}
		if id == "CT-CONV" {
			if v := x.conAnswers(); v != nil {
				return v
			}
		}
		if v := x.conView(); !v.differs || x.conBroken(v) != id {
			return nil
		}
		return x.conDifference()
	}
}

// noSuchThing is why rules about something that an implementation declares not to
// have are skipped. They do not count as core then.
const noSuchThing = "the implementation is declared to have no such thing"

// The skip functions say why a rule does not apply.
func conWaits(c *contract) string {
	if c.con.Traits.Backlog == BacklogNone {
		return noSuchThing
	}
	return ""
}

func conBounded(c *contract) string {
	return declares(c, "Backlog", c.con.Traits.Backlog == BacklogUnbounded)
}

func conTimeout(c *contract) string {
	if why := conWaits(c); why != "" {
		return why
	}
	return declares(c, "Timeout", c.con.Traits.Timeout == TimeoutNone)
}

func conContext(c *contract) string {
	if c.con.Traits.Context == ContextIgnored {
		return noSuchThing
	}
	return declares(c, "Context", false)
}

func conSeat(c *contract) string {
	if why := conBounded(c); why != "" {
		return why
	}
	if why := conWaits(c); why != "" {
		return why
	}
	return declares(c, "SeatHeld", c.con.Traits.SeatHeld == SeatKept)
}

func conLeaves(c *contract) string {
	if why := conWaits(c); why != "" {
		return why
	}
	if why := conContext(c); why != "" {
		return conTimeout(c)
	}
	return ""
}

func conOver(c *contract) string {
	if c.con.Traits.Single {
		return noSuchThing
	}
	if why := conLeaves(c); why != "" && c.con.Traits.Oversize == OversizeBlocks {
		return "declared to wait, and nothing ends the wait"
	}
	return declares(c, "Oversize", false)
}

func conHead(c *contract) string {
	if c.con.Traits.Single {
		return noSuchThing
	}
	return conLeaves(c)
}

func conFIFO(c *contract) string {
	if why := conWaits(c); why != "" {
		return why
	}
	return declares(c, "Fair", c.con.Traits.Fair == FairNone)
}

func conResize(c *contract) string { return conHas(c, OpResize) }

func conHandler(c *contract) string {
	if !c.accepts(OpDo) {
		return noSuchThing
	}
	return ""
}

func conHas(c *contract, op Op) string {
	if !c.accepts(op) {
		return "the implementation has no " + string(op)
	}
	return ""
}

func conOverReleases(c *contract) string {
	if !c.accepts(OpRelease) {
		return noSuchThing
	}
	return declares(c, "OverRelease", c.con.Traits.OverRelease == OverReleaseUndefined)
}

func conHooked(c *contract) string { return declares(c, "Hook", c.con.Traits.Hook == HookNone) }

func declares(c *contract, trait string, without bool) string {
	switch {
	case !c.declared(trait):
		return "trait " + trait + " is undeclared"
	case without:
		return noSuchThing
	}
	return ""
}

// concurrencyConcerns says what a schedule must have to be about a rule.
var concurrencyConcerns = map[string]func(c *contract, j job) bool{
	"CT-REJECT": func(c *contract, j job) bool { return j.schedule.Config.has("backlog") },
	"CT-SEAT":   func(c *contract, j job) bool { return j.schedule.Config.Backlog > 0 && len(j.schedule.Steps) > 2 },
	"CT-TIME":   func(c *contract, j job) bool { return j.schedule.Config.Timeout > 0 },
	"CT-TIME0": func(c *contract, j job) bool {
		return j.schedule.Config.has("timeout") && j.schedule.Config.Timeout == 0
	},
	"CT-CTX":     func(c *contract, j job) bool { return cancels(j.schedule) },
	"CT-CTXPRE":  func(c *contract, j job) bool { return preCancelled(j.schedule) },
	"CT-TIE":     func(c *contract, j job) bool { return j.schedule.racing() > 0 },
	"CT-NOGHOST": func(c *contract, j job) bool { return cancels(j.schedule) || j.schedule.Config.Timeout > 0 },
	"CT-RELEASE": func(c *contract, j job) bool { return hasOp(OpRelease)(c, j) },
	"CT-OVERREL": func(c *contract, j job) bool { return j.family == "over-release" || j.family == "replay" },
	"CT-HEAD":    func(c *contract, j job) bool { return weighs(j.schedule) },
	"CT-FIFO":    func(c *contract, j job) bool { return len(j.schedule.Steps) > 2 },
	"CT-OVER": func(c *contract, j job) bool {
		return slices.ContainsFunc(j.schedule.Steps, func(s Step) bool { return s.K > j.schedule.Config.Limit })
	},
	"CT-RESIZE": func(c *contract, j job) bool { return hasOp(OpResize)(c, j) },
	"CT-HOOK": func(c *contract, j job) bool {
		return j.schedule.Config.has("backlog") || j.schedule.Config.has("timeout")
	},
	"X-PANIC": func(c *contract, j job) bool { return hasOp(OpPanic)(c, j) || hasOp(OpExit)(c, j) },
	"X-LEAK":  func(_ *contract, j job) bool { return j.look },
}

func cancels(s Schedule) bool {
	return slices.ContainsFunc(s.Steps, func(st Step) bool { return st.Op == OpCancel || st.D > 0 && st.Op != OpIdle })
}

func weighs(s Schedule) bool {
	return slices.ContainsFunc(s.Steps, func(st Step) bool { return st.K > 1 })
}

// preCancelled reports whether a context is cancelled before its request comes.
func preCancelled(s Schedule) bool {
	for i, st := range s.Steps {
		if st.Op == OpCancel && slices.ContainsFunc(s.Steps[i:], func(o Step) bool { return o.N == st.N && (o.Op == OpAcquire || o.Op == OpDo) }) {
			return true
		}
	}
	return false
}

// conBroken is the rule that the first difference breaks: the first of those that it
// may be about which is in force here.
func (x *exam) conBroken(v *concurrencyView) string {
	if v.broken != "" {
		return v.broken
	}
	for _, id := range append(x.conSuspects(v), "CT-CONV") {
		i := slices.IndexFunc(x.c.rules, func(r rule) bool { return r.ID == id })
		if r := &x.c.rules[i]; (r.skip == nil || r.skip(x.c) == "") && x.c.concerned(id, x.job) {
			v.broken = id
			break
		}
	}
	return v.broken
}

// conSuspects lists the rules that a difference may be about. Where a simple mistake
// in the model explains the whole run, that is it; otherwise it is what happened
// at that instant, or what had happened before it.
func (x *exam) conSuspects(v *concurrencyView) []string {
	r, want, got := v.first()
	q := v.model.requests[r]
	came := slices.ContainsFunc(v.steps, func(s Step) bool { return s.N == r && s.Op != OpResize && s.Op != OpRelease && s.Op != OpCancel })
	at := func(op Op) bool { return slices.ContainsFunc(v.steps, func(s Step) bool { return s.Op == op }) }
	switch {
	case at(OpPanic) || at(OpExit):
		return []string{"X-PANIC"}
	case q.gone:
		return []string{"CT-CTXPRE"}
	case want == fateTooBig || q.weight > v.wanted.limit:
		return []string{"CT-OVER"}
	case want == fateGone:
		return []string{"CT-CTX"}
	case want == fateLate && v.model.timeout == 0, v.model.timeout == 0 && got == fateFull && want == fateRuns:
		return []string{"CT-TIME0"}
	case want == fateLate:
		return []string{"CT-TIME"}
	case !came && got == fateFull && (want == fateWaits || want == fateRuns):
		// It gave up by itself.
		return append(x.conCauses(v), "CT-TIME", "CT-WORK")
	case x.conReleasedNothing() && !x.c.breaks("CT-LIMIT", "CT-WORK", "CT-RELEASE"):
		return []string{"CT-OVERREL"}
	}
	for _, guess := range []struct {
		rule  string
		bias  int
		alter func(m *concurrencyModel)
	}{
		{"CT-LIMIT", 1, nil},
		{"CT-WORK", -1, nil},
		{"CT-REJECT", 0, func(m *concurrencyModel) { m.backlog++ }},
		{"CT-REJECT", 0, func(m *concurrencyModel) { m.backlog = max(m.backlog, 0) - 1 }},
		{"CT-REJECT", 0, func(m *concurrencyModel) { m.backlog = -1 }},
		{"CT-SEAT", 0, func(m *concurrencyModel) { m.seatKept = true }},
	} {
		if guess.rule == "CT-REJECT" && v.model.backlog < 0 || v.model.states[0].limit+guess.bias < 1 {
			continue
		}
		if !newConcurrencyView(x.Trace, x.c.con, guess.bias, guess.alter).differs {
			return []string{guess.rule, "CT-WORK"}
		}
	}
	causes := x.conCauses(v)
	switch {
	case got == fateRuns && v.used() > v.wanted.limit:
		if at(OpResize) {
			return []string{"CT-RESIZE"}
		}
		return append(causes, "CT-RELEASE", "CT-LIMIT")
	case got == fateRuns && want == fateWaits:
		return append([]string{"CT-FIFO"}, append(causes, "CT-WORK")...)
	case want == fateRuns && len(v.wanted.fates) > 0 && !came && (v.events || at(OpCancel)):
		return append([]string{"CT-HEAD"}, causes...)
	case want == fateRuns && !came && at(OpResize):
		return []string{"CT-RESIZE"}
	case want == fateRuns && !came:
		return append([]string{"CT-WORK"}, causes...)
	case want == fateRuns:
		return append(causes, "CT-RELEASE", "CT-WORK")
	case want == fateWaits && came:
		// A place in the backlog is missing: who did not give it back?
		var places []string
		for o, f := range v.wanted.fates {
			switch {
			case f == fateGone && !v.model.requests[o].gone:
				places = append(places, "CT-CTX")
			case f == fateLate:
				places = append(places, "CT-TIME")
			case v.waited(o):
				places = append(places, "CT-SEAT")
			}
		}
		return append(places, append(causes, "CT-REJECT")...)
	}
	return append(causes, "CT-REJECT", "CT-WORK")
}

// conCauses lists rules that what happened before may have broken unseen.
func (x *exam) conCauses(v *concurrencyView) []string {
	var out []string
	has := func(op Op) bool { return hasOp(op)(x.c, x.job) }
	left := func(f fate) bool { return slices.Contains(v.wanted.fates, f) }
	if has(OpRelease) && x.conReleasedNothing() {
		out = append(out, "CT-OVERREL")
	}
	if has(OpPanic) || has(OpExit) {
		out = append(out, "X-PANIC")
	}
	if slices.ContainsFunc(v.model.requests, func(q modelRequest) bool { return q.gone }) {
		out = append(out, "CT-CTXPRE")
	}
	if x.Schedule.racing() > 0 && (cancels(x.Schedule) || v.model.timeout == wait) {
		out = append(out, "CT-TIE")
	}
	if has(OpResize) {
		out = append(out, "CT-RESIZE")
	}
	if slices.ContainsFunc(v.model.requests, func(q modelRequest) bool { return q.weight > v.wanted.limit }) {
		out = append(out, "CT-HEAD", "CT-OVER")
	}
	if left(fateGone) || left(fateLate) && v.model.timeout > 0 {
		out = append(out, "CT-NOGHOST")
	}
	return out
}

func (x *exam) conReleasedNothing() bool {
	return slices.ContainsFunc(x.Trace.conc.groups, func(g *concurrencyGroup) bool {
		return slices.ContainsFunc(g.steps, func(s *concurrencyStep) bool { return s.Op == OpRelease && s.request < 0 })
	})
}

// conDifference tells the first difference.
func (x *exam) conDifference() *violation {
	v := x.conView()
	r, want, got := v.first()
	q := v.tr.requests[r]
	words := map[fate]string{fateWaits: "waits", fateRuns: "runs", fateFull: "is rejected"}
	wants := map[fate]string{fateWaits: "it to wait", fateRuns: "it to run", fateFull: "it to be rejected"}
	out := &violation{
		Headline: fmt.Sprintf("request %d %s at %s, want %s", q.id, words[got], duration(v.at), wants[want.outside()]),
		At:       v.at, Lanes: v.lanes(),
	}
	waiting := len(v.wanted.queue)
	switch {
	case v.model.requests[r].gone:
		out.Because = "its context was done before it came"
		if x.c.con.Traits.Context == ContextHonoured {
			out.Because += "; where that may be, if it need not wait, declare ContextEndsWait"
		}
	case want == fateGone:
		out.Because = "its context is done"
	case want == fateLate:
		out.Because = fmt.Sprintf("it came at %s and the timeout is %s", duration(q.arrived.At), duration(v.model.timeout))
	case want == fateTooBig:
		out.Because = fmt.Sprintf("it asks for %d slots of %d", q.weight, v.wanted.limit)
	case want == fateFull:
		out.Because = fmt.Sprintf("%d of %d slots are taken and %d of %d places in the backlog", v.wanted.used, v.wanted.limit, waiting, v.model.backlog)
	case want == fateRuns:
		out.Because = fmt.Sprintf("it is its turn, and with it no more than %d of %d slots are taken", v.wanted.used, v.wanted.limit)
	case got == fateRuns && v.used() > v.wanted.limit:
		out.Because = fmt.Sprintf("with it %d slots are taken, and there are %d", v.used(), v.wanted.limit)
	case got == fateFull && v.model.backlog >= 0:
		out.Because = fmt.Sprintf("with it no more than %d of %d places in the backlog are taken", waiting, v.model.backlog)
	default:
		out.Because = fmt.Sprintf("%d of %d slots are taken, and it is not its turn", v.wanted.used, v.wanted.limit)
	}
	if name := x.conDeclared(v); name != "" {
		out.Because += "; " + name + " is declared"
	}
	if q.id >= epilogueID {
		out.Because += fmt.Sprintf("; requests from %d on come when all others have ended", epilogueID)
	}
	return out
}

// conDeclared is the declared choice that makes the first difference one, "" if none does.
func (x *exam) conDeclared(v *concurrencyView) string {
	r, want, got := v.first()
	name, rule := "", x.conBroken(v)
	switch q := v.model.requests[r]; {
	case rule == "CT-FIFO":
		name = "Fair"
	case rule == "CT-SEAT", want == fateFull && v.model.seatKept:
		name = "SeatHeld"
	case q.gone: // which has told so
	case want == fateGone:
		name = "Context"
	case want == fateLate:
		name = "Timeout"
	case q.weight > v.wanted.limit:
		name = "Oversize"
	case want == fateFull, got == fateFull && v.model.backlog < 0:
		name = "Backlog"
	}
	for _, t := range x.c.traits {
		if t.name == name && t.declared > 0 {
			return t.values[t.declared-1]
		}
	}
	return ""
}

// conAnswers finds requests that were not answered exactly once.
func (x *exam) conAnswers() *violation {
	for _, q := range x.Trace.conc.requests {
		switch {
		case q.panicked != "" || q.answered == 0:
			continue // for X-CALLS, or a matter of the model
		case q.answered > 1 && q.runs == 1:
			return &violation{Headline: fmt.Sprintf("request %d ran, and was rejected all the same: %v", q.id, q.err), At: q.decided.At}
		case q.answered > 1:
			return &violation{Headline: fmt.Sprintf("request %d ran %d times", q.id, q.runs), At: q.decided.At}
		case q.runs == 0 && q.err == nil:
			return &violation{Headline: fmt.Sprintf("request %d neither ran nor was it rejected", q.id), At: q.decided.At}
		}
	}
	return nil
}

// conOverRelease judges releases of what nobody holds.
func (x *exam) conOverRelease() *violation {
	if x.Refused != "" || x.Stuck {
		return nil
	}
	for _, g := range x.Trace.conc.groups {
		for _, s := range g.steps {
			if s.Op != OpRelease || s.request >= 0 {
				continue
			}
			what := fmt.Sprintf("a release at %s of what nobody holds", duration(g.at))
			if s.K > 1 {
				what = fmt.Sprintf("a release at %s of %d slots, one more than are held,", duration(g.at), s.K)
			}
			switch panics := x.c.con.Traits.OverRelease == OverReleasePanics; {
			case !s.ended:
				return &violation{Headline: what + " never returned", At: g.at}
			case panics && s.panicked == "":
				return &violation{Headline: what + " went unnoticed, want a panic", Because: "OverReleasePanics is declared", At: g.at}
			case !panics && s.panicked != "":
				return &violation{Headline: what + " panicked, want it ignored: " + s.panicked, Because: "OverReleaseIgnored is declared", At: g.at}
			}
		}
	}
	if v := x.conView(); v.differs && x.conBroken(v) == "CT-OVERREL" {
		return x.conDifference()
	}
	return nil
}

// conHook judges how often the hook was called.
func (x *exam) conHook() *violation {
	if x.Refused != "" || x.Stuck {
		return nil
	}
	v := x.conView()
	if v.hooks < 0 {
		return nil
	}
	return &violation{
		Headline: fmt.Sprintf("by %s the hook was called %d times, want %d", duration(v.hooks), v.hookCalls, v.hookLeast),
		Because:  fmt.Sprintf("%d requests had been rejected, and HookOnce is declared", v.hookLeast), At: v.hooks,
	}
}

// conCalls finds operations that panicked or did not return.
func (x *exam) conCalls() *violation {
	if cfg := x.Schedule.Config; x.Refused != "" {
		if cfg.has("backlog") && cfg.Backlog == 0 || cfg.has("timeout") && cfg.Timeout == 0 {
			return nil // it may refuse what it does not offer
		}
		return &violation{Headline: fmt.Sprintf("the constructor refused %s: %s", cfg, x.Refused)}
	}
	for _, g := range x.Trace.conc.groups {
		for _, s := range g.steps {
			over := s.Op == OpRelease && s.request < 0
			switch {
			case over && x.c.con.Traits.OverRelease != OverReleaseIgnored:
				return nil // what follows is not judged
			case over:
			case s.panicked != "":
				return &violation{Headline: fmt.Sprintf("%s panicked: %s", s.Step, s.panicked), At: g.at}
			case !s.ended && (s.Op == OpTry || x.Stuck):
				return &violation{Headline: fmt.Sprintf("%s never returned", s.Step), At: g.at}
			}
		}
	}
	return nil
}

// conLeft finds what a run has left behind. A request that cannot be made to give up
// is not that.
func (x *exam) conLeft() *violation {
	if x.Refused != "" || slices.ContainsFunc(x.Trace.conc.requests, func(q *request) bool { return q.decided.Seq == 0 }) {
		return nil
	}
	return x.xLeft()
}
