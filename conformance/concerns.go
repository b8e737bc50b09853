package conformance

import (
	"slices"
	"strings"
	"time"
)

// concerned reports whether a rule judges a run.
func (c *contract) concerned(id string, j job) bool {
	about := c.concern(id)
	return about == nil || about(c, j)
}

// concern returns what reports whether a rule judges a run; nil if it judges all.
func (c *contract) concern(id string) func(*contract, job) bool {
	switch {
	case strings.HasPrefix(id, "CK-"): // a clock's rules judge the family that bears their name
		return func(_ *contract, j job) bool { return j.family == id }
	case c.deb != nil:
		return debouncerConcern(id)
	case c.thr != nil:
		return throttleConcern(id)
	case c.con != nil:
		return concurrencyConcerns[id]
	}
	return concerns[id]
}

// debouncerConcern is the concern of a debouncer's rule.
func debouncerConcern(id string) func(*contract, job) bool {
	about, family := concerns[id], debFamily[id]
	if family != nil {
		return func(_ *contract, j job) bool { return family(j) }
	}
	if !strings.HasPrefix(id, "DB-") {
		return about
	}
	_, edge := edgeRules[id]
	both := onAnyEdge[id]
	return func(c *contract, j job) bool {
		configured := j.schedule.Config.has("edges") || j.schedule.Config.has("maxwait")
		switch {
		case edge != configured && !both, !configured && c.deb.edges() != Trailing:
			return false
		case about != nil && !about(c, j), apartForDebouncers(j):
			return false
		}
		// With a renewed burst a loop may take the two events in either order.
		return id == "DB-QUIET" || id == "DB-MAXNE" || j.schedule.renewed() == nil
	}
}

// throttleConcern is the concern of a throttle's rule.
func throttleConcern(id string) func(*contract, job) bool {
	about, family := concerns[id], thrFamily[id]
	switch {
	case family != nil:
		return func(_ *contract, j job) bool { return family(j) }
	case id == "X-CALLS" || id == "X-LEAK" || id == "X-REENT":
		return about
	}
	return func(c *contract, j job) bool {
		if apartForThrottles(j) && (id != "TH-RESET" || j.schedule.Config.Inside != "") {
			return false
		}
		return about == nil || about(c, j)
	}
}

// onAnyEdge are the rules of a debouncer that judge every edge, within a bound too.
var onAnyEdge = map[string]bool{"DB-STOP": true, "DB-PEND": true, "DB-OVERLAP": true, "DB-ALL": true, "DB-CLOSE": true}

// apartForDebouncers reports whether a run of a debouncer is one that only rules made
// for it judge.
func apartForDebouncers(j job) bool {
	return slices.ContainsFunc(j.schedule.Steps, func(s Step) bool { return s.Op == OpClose || s.Op == OpWall || s.K != 0 })
}

// debFamily says which runs the rules judge that are made for something particular.
var debFamily = map[string]func(j job) bool{
	"DB-NONE":  func(j job) bool { return j.schedule.Config.Edges == NoEdges },
	"DB-CLOSE": stepped(OpClose),
	"DB-KEY":   func(j job) bool { return j.family == keys },
	"X-ISO":    func(j job) bool { return j.family == instances },
	"X-BACK":   stepped(OpWall),
}

// apartForThrottles reports whether a run of a throttle is one that only rules made for
// it judge.
func apartForThrottles(j job) bool {
	cfg := j.schedule.Config
	return cfg.Busy > 0 || cfg.Inside != "" || cfg.K > 1 || cfg.Edges == NoEdges ||
		slices.ContainsFunc(j.schedule.Steps, func(s Step) bool { return s.Op != OpCall && s.Op != OpReset && s.Op != OpIdle || s.K != 0 })
}

// thrFamily says which runs the rules judge that are made for something particular.
var thrFamily = map[string]func(j job) bool{
	"TH-STOP":      stepped(OpStop),
	"TH-BUSY":      func(j job) bool { return j.schedule.Config.Busy > 0 },
	"TH-RATE":      func(j job) bool { return j.schedule.Config.K > 1 && !stepped(OpWall)(j) },
	"TH-MAXIMAL":   func(j job) bool { return j.schedule.Config.K > 1 && !stepped(OpWall)(j) },
	"TH-NONE":      func(j job) bool { return j.schedule.Config.Edges == NoEdges },
	"TH-ERR":       stepped(OpFault),
	"TH-ERRNEUT":   stepped(OpFault),
	"TH-CTX":       stepped(OpCancel),
	"TH-CLOSE":     stepped(OpClose),
	"TH-CLOCKBACK": stepped(OpWall),
	"X-BACK":       stepped(OpWall),
	"TH-KEY":       func(j job) bool { return j.family == keys },
	"X-ISO":        func(j job) bool { return j.family == instances },
}

func stepped(op Op) func(job) bool {
	return func(j job) bool {
		return slices.ContainsFunc(j.schedule.Steps, func(s Step) bool { return s.Op == op })
	}
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
	"DB-NEG":     func(_ *contract, j job) bool { return j.schedule.Config.Wait < 0 },
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
	"RL-NBIG": func(c *contract, j job) bool {
		return asksFor(func(n, burst int) bool { return n > burst })(c, j) || hasOp(OpSetBurst)(c, j)
	},
	"RL-TOKENS": hasOp(OpTokens),
	"RL-PAST":   goesBack,
	"RL-LIM0": func(_ *contract, j job) bool {
		return j.schedule.Config.has("rate") && j.schedule.Config.Rate.Events == 0
	},
	"RL-TINY": func(_ *contract, j job) bool {
		return j.schedule.Config.Rate.extreme() && j.schedule.Config.Rate.Interval() > time.Hour
	},
	"RL-HUGE": func(_ *contract, j job) bool {
		return j.schedule.Config.Rate.extreme() && j.schedule.Config.Rate.Interval() < 2
	},
	"RL-INF":    atInfiniteRate,
	"RL-INFOUT": func(c *contract, j job) bool { return atInfiniteRate(c, j) && hasOp(OpSetLimit)(c, j) },
	"X-CFG": func(c *contract, j job) bool {
		if c.quo != nil {
			return c.oddQuota(j.schedule.Config)
		}
		return j.schedule.Config.has("burst") && (j.schedule.Config.Burst < 1 || j.schedule.Config.Burst >= 1<<30)
	},
	"RS-OK": hasOp(OpReserve), "RS-DELAY": hasOp(OpReserve), "RS-MONO": hasOp(OpReserve), "RS-DEBT": hasOp(OpReserve),
	"CN-UPPER": cancelsA(OpReserve), "CN-LOWER": cancelsA(OpReserve), "CN-LIFO": cancelsA(OpReserve),
	"CN-ANY": cancelsA(OpReserve), "CN-LATE": cancelsA(OpReserve), "CN-IDEM": cancelsA(OpReserve),
	"W-NOTEARLY": hasOp(OpWait), "W-EXACT": hasOp(OpWait), "W-EATS": hasOp(OpWait), "W-FIFO": hasOp(OpWait), "W-NOLOST": hasOp(OpWait),
	"W-DEAD": hasDeadline, "W-DEADEQ": func(c *contract, j job) bool { return hasDeadline(c, j) || cancelsA(OpWait)(c, j) },
	"W-PRE": func(c *contract, j job) bool { return cancelsA(OpWait)(c, j) || hasDeadline(c, j) }, "W-CANCEL": cancelsA(OpWait),
	"W-NOSTARVE": func(c *contract, j job) bool { return hasOp(OpWait)(c, j) && starving(j.schedule) },
	"W-WAKE": func(c *contract, j job) bool {
		return hasOp(OpWait)(c, j) && (hasOp(OpCancel)(c, j) || hasOp(OpSetLimit)(c, j) || hasOp(OpSetBurst)(c, j))
	},
	"SL-NORETRO": hasOp(OpSetLimit), "SL-KEEP": hasOp(OpSetLimit),
	"SB-CAP": hasOp(OpSetBurst), "SB-NOGIFT": hasOp(OpSetBurst), "SB-LIVE": hasOp(OpSetBurst),
	"RL-PASTQ": hasOp(OpTokens),

	"RL-EPOCH": func(_ *contract, j job) bool { return j.schedule.Config.has("epoch") },
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
			return (s.Op == OpAllow || s.Op == OpReserve || s.Op == OpWait) && which(s.N, j.schedule.Config.Burst)
		})
	}
}

// odd reports whether a schedule has the input out of the ordinary that a rule is about.
// What is known to break the rule may break any other once such input has come.
func (c *contract) odd(id string, s Schedule) bool {
	most := s.Config.Burst
	if c.quo != nil && c.quo.Kind != GCRA {
		most = s.Config.Rate.Events
	}
	asks := func(which func(n int) bool) bool {
		return slices.ContainsFunc(s.Steps, func(st Step) bool {
			return (st.Op == OpAllow || st.Op == OpReserve || st.Op == OpWait) && which(st.N)
		})
	}
	switch id {
	case "RL-NEG", "GC-NEG":
		return asks(func(n int) bool { return n < 0 })
	case "RL-NBIG":
		return asks(func(n int) bool { return n > most })
	case "RL-PAST":
		return goesBack(c, job{schedule: s})
	}
	return false
}

// cancelsA tells schedules in which a reservation, or a wait, is given up.
func cancelsA(op Op) func(*contract, job) bool {
	return func(_ *contract, j job) bool {
		return slices.ContainsFunc(j.schedule.Steps, func(s Step) bool { return s.Op == OpCancel && j.schedule.holder(s.N).Op == op })
	}
}

func hasDeadline(_ *contract, j job) bool {
	return slices.ContainsFunc(j.schedule.Steps, func(s Step) bool { return s.Op == OpWait && s.D != 0 })
}

func atInfiniteRate(_ *contract, j job) bool {
	return j.schedule.Config.Rate == Inf || slices.ContainsFunc(j.schedule.Steps, func(s Step) bool { return s.Rate == Inf })
}

// goesBack reports whether an instant is before one that came earlier.
func goesBack(_ *contract, j job) bool {
	return !slices.IsSortedFunc(j.schedule.Steps, func(a, b Step) int { return int(min(1, max(-1, a.At-b.At))) })
}
