package conformance

import (
	"slices"
	"strings"
)

// concerned reports whether a rule judges a run. A clock's rules judge the family
// that bears their name.
func (c *contract) concerned(id string, j job) bool {
	if strings.HasPrefix(id, "CK-") {
		return j.family == id
	}
	if c.deb != nil && strings.HasPrefix(id, "DB-") {
		_, edge := edgeRules[id]
		if edge != (j.schedule.Config.has("edges") || j.schedule.Config.has("maxwait")) {
			return false
		}
	}
	about := concerns[id]
	return about == nil || about(c, j)
}

// concerns says, for rules that are about something in particular, whether a
// schedule has it. Only such schedules count as judged, so that a rule which saw
// none of them is skipped and not passed.
var concerns = map[string]func(c *contract, j job) bool{
	"DB-TIE":       racingOp(OpCall),
	"DB-NOSTALE":   racingOp(OpCall),
	"DB-CANCEL":    hasOp(OpCancel),
	"DB-CANCELBAR": hasOp(OpCancel),
	"DB-REUSE":     hasOp(OpCancel),
	"DB-FLUSH":     hasOp(OpFlush),
	"DB-FLUSH0":    hasOp(OpFlush),
	"DB-PEND":      hasOp(OpPending),
	"DB-STOP":      hasOp(OpStop),
	"DB-ZERO": func(_ *contract, j job) bool {
		return j.schedule.Config.has("wait") && j.schedule.Config.Wait == 0
	},
	"DB-OVERLAP": func(_ *contract, j job) bool { return j.schedule.Config.Busy > 0 },
	"X-REENT":    func(_ *contract, j job) bool { return j.schedule.Config.Inside != "" },
	"TH-RESET":   hasOp(OpReset),
	"TH-ZERO": func(_ *contract, j job) bool {
		return j.schedule.Config.has("interval") && j.schedule.Config.Interval == 0
	},
	"LB-CANCEL": hasOp(OpCancel),
	"LB-CLOSE":  hasOp(OpClose),
	"GC-RETRYNEG": func(c *contract, j job) bool {
		full := j.schedule.Config.Rate.Events
		if c.quo.Kind == GCRA {
			full = j.schedule.Config.Burst
		}
		return slices.ContainsFunc(j.schedule.Steps, func(s Step) bool { return s.N > full })
	},
	"GC-PEEKPURE": func(c *contract, j job) bool {
		return hasOp(OpTokens)(c, j) || asksFor(func(n, _ int) bool { return n == 0 })(c, j)
	},
	"GC-NEG":   asksFor(func(n, _ int) bool { return n < 0 }),
	"SC-ORDER": goesBack,
	"SC-N1":    func(_ *contract, j job) bool { return j.schedule.Config.Rate.Events == 1 },
	"X-LEAK":   func(_ *contract, j job) bool { return j.look },

	"RL-CAP":      func(c *contract, j job) bool { return hasOp(OpAllow)(c, j) || hasOp(OpTokens)(c, j) },
	"RL-DENYPURE": hasOp(OpAllow),
	"RL-FRAC":     func(_ *contract, j job) bool { return len(j.schedule.Steps) >= 10 },
	"RL-N0":       asksFor(func(n, _ int) bool { return n == 0 }),
	"RL-NEG":      asksFor(func(n, _ int) bool { return n < 0 }),
	"RL-NBIG":     asksFor(func(n, burst int) bool { return n > burst }),
	"RL-PAST":     goesBack,
	"RL-EPOCH":    func(_ *contract, j job) bool { return j.schedule.Config.has("epoch") },
}

func hasOp(op Op) func(*contract, job) bool {
	return func(_ *contract, j job) bool {
		return j.schedule.Config.Inside == op ||
			slices.ContainsFunc(j.schedule.Steps, func(s Step) bool { return s.Op == op })
	}
}

func racingOp(op Op) func(*contract, job) bool {
	return func(_ *contract, j job) bool {
		return slices.ContainsFunc(j.schedule.Steps, func(s Step) bool { return s.Op == op && s.Racing })
	}
}

func asksFor(which func(n, burst int) bool) func(*contract, job) bool {
	return func(_ *contract, j job) bool {
		return slices.ContainsFunc(j.schedule.Steps, func(s Step) bool {
			return s.Op == OpAllow && which(s.N, j.schedule.Config.Burst)
		})
	}
}

// goesBack reports whether an instant is before one that came earlier.
func goesBack(_ *contract, j job) bool {
	return !slices.IsSortedFunc(j.schedule.Steps, func(a, b Step) int { return int(min(1, max(-1, a.At-b.At))) })
}
