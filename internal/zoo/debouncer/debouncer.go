// Package debouncer has the zoo's debouncers.
package debouncer

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"

	db "github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/internal/verb"
	"github.com/escapement-go/escapement/internal/zoo"
)

// mistake is what is wrong with a mutant, and the rule that must catch it.
type mistake struct{ name, rule string }

// Mutants are mistakes, each with the rule that must catch it.
func Mutants() []zoo.Mutant {
	var all []zoo.Mutant
	add := func(prefix string, of func(mutant string, source db.TimeSource) db.Spec, mistakes []mistake) {
		for _, m := range mistakes {
			all = append(all, mutant(prefix+m.name, m.rule, of(m.name, db.Injected)))
		}
	}
	add("", trailingSpec, trailingMutants)
	add("", edgesSpec, edgeMutants)
	add("", serialSpec, serialMutants)
	add("a bound on call: ", onCallSpec, onCallMutants)
	add("", batchSpec, batchMutants)
	add("a table of keys: ", tableSpec, tableMutants)
	all = append(all, onPackageTime()...)
	one := func(name, rule string, spec db.Spec) { all = append(all, mutant(name, rule, spec)) }
	one("keys share a leading edge", "DB-KEY", leadsForAll())
	one(diesOfPanic, "X-PANIC", agendaSpec(diesOfPanic))
	one("who has received the timer's value does not look again", "DB-NOSTALE", contextsSpec(db.Injected, true))
	stale := plain(func(tr *db.Traits) { tr.StaleFire = db.StaleAllowed })
	one("a cancel overtakes the events in a queue", "X-ROW", made(db.Injected, stale,
		func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
			d := newLoop(clock, cfg.Wait, fire, 64, true)
			d.blind = true
			return db.Funcs{Call: d.call, Cancel: func() { d.ask(d.cancels) }, Stop: d.stop}
		}))
	fires := plain(func(tr *db.Traits) { tr.StaleFire, tr.CloseFlush = db.StaleAllowed, db.CloseFires })
	one("a close overtakes the events in a queue", "X-ROW", made(db.Injected, fires,
		func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
			d := newLoop(clock, cfg.Wait, fire, 64, true)
			d.blind, d.hurries = true, true
			return db.Funcs{Call: d.call, Close: d.stop}
		}))
	one("a call takes back what was cancelled", "DB-CANCEL", flagged())
	stops := trailingSpec(leavesDue, db.Injected)
	stops.Traits.StopPending = db.StopFlushes
	one("stop leaves what is due to a timer, and takes it from it", "DB-STOP", changed(stops, func(f *db.Funcs) {
		flush, stop := f.Flush, f.Stop
		*f = db.Funcs{Call: f.Call, Stop: func() { flush(); stop() }}
	}))
	choosing := func(mutant, rule string, ways ways, change func(tr *db.Traits)) {
		ways.mutant = mutant
		one(mutant, rule, choosySpec(db.Injected, plain(change), ways, verb.Flush))
	}
	choosing("a flush that comes while its receiver runs the callback is none", "DB-FLUSH",
		ways{timersApart: true, callsApart: true},
		func(tr *db.Traits) { tr.Overlap, tr.StaleFire = db.SerialReceiver, db.StaleAllowed })
	serial := plain(func(tr *db.Traits) {
		tr.Overlap, tr.Reentrancy, tr.StaleFire = db.SerialReceiver, db.ReentrancyForbidden, db.StaleAllowed
	})
	one("a loop starts callbacks that it is to run", "DB-OVERLAP", made(db.PackageTime, serial,
		func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
			d := newLoop(clock, cfg.Wait, fire, 0, true)
			return db.Funcs{Call: d.call, Stop: d.stop}
		}))
	ledOnce := edgesSpec("nothing leads after a fire of the bound", db.Injected)
	ledOnce.Traits.MaxWait = db.MaxWaitFromFire
	one("nothing leads after a fire of the bound", "DB-REARM", ledOnce)
	choosing("a bound that counts from the first event outlives its fire", "DB-MAXNE", ways{},
		func(tr *db.Traits) { tr.MaxWait = db.MaxWaitFromFire })
	choosing("a flush that fires leaves the burst open", "DB-FLUSH", ways{}, func(tr *db.Traits) {
		tr.Edges = []db.Edges{db.LeadingAndTrailing}
		tr.BothSingle, tr.AfterFlush = db.BothOnce, db.FlushEndsBurst
	})
	calling := func(mistake func(call func(int)) func(int)) db.Spec {
		return changed(trailingSpec("", db.Injected), func(f *db.Funcs) { f.Call = mistake(f.Call) })
	}
	one("an event with the payload of the one before is none", "X-RENAME", calling(zoo.Deduped))
	one("events are handed over on goroutines of their own", "X-ROW", calling(zoo.Overtaking))
	const races = "counts before it locks"
	one(races, "X-RACE", trailingSpec(races, db.Injected))
	one(races+", on package time", "X-RACE", trailingSpec(races, db.PackageTime))
	one(stopsUnlocked, "X-RACE", trailingSpec(stopsUnlocked, db.Injected))
	one(waitsItOut+", on package time", "DB-STOP", trailingSpec(waitsItOut, db.PackageTime))
	return all
}

// serialMutants are mistakes of a choosy debouncer, which show behind a callback.
var serialMutants = []mistake{
	{"a pause that ends while a callback runs begins anew", "DB-BOTHN"},
	{"a bound that passes while a callback runs is none", "DB-MAX"},
}

// serialSpec is a choosy debouncer with every edge and a bound, and one of these.
func serialSpec(mutant string, source db.TimeSource) db.Spec {
	tr := Plain()
	tr.Edges, tr.ClockBack, tr.CloseFlush = append(tr.Edges, db.NoEdges), db.BackStands, 0
	return choosySpec(source, tr, ways{queues: true, mutant: mutant}, verb.Cancel, verb.Flush, verb.Pending, verb.Stop)
}

// leadsForAll is a debouncer of the leading edge alone that has keys and makes no difference of them.
func leadsForAll() db.Spec {
	return changed(edgeSpec(db.Leading), func(f *db.Funcs) {
		call := f.Call
		f.CallKey = func(_, v int) { call(v) }
	})
}

// flagged is a mistake: Cancel leaves the timer armed and sets a flag, which the next call takes back.
func flagged() db.Spec {
	traits := plain(func(tr *db.Traits) { tr.StaleFire, tr.Payload = db.StaleAllowed, db.NoPayload })
	return made(db.Injected, traits, func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
		var cancelled atomic.Bool
		timer := clock.AfterFunc(time.Hour, func() {
			if !cancelled.Load() {
				fire(0)
			}
		})
		timer.Stop()
		return db.Funcs{
			Call:   func(int) { cancelled.Store(false); timer.Reset(cfg.Wait) },
			Cancel: func() { cancelled.Store(true) },
		}
	})
}

// changed is a debouncer with other operations.
func changed(spec db.Spec, change func(f *db.Funcs)) db.Spec {
	inner := spec.New
	spec.New = func(env db.Env, cfg db.Config, fire func(int)) db.Funcs {
		f := inner(env, cfg, fire)
		change(&f)
		return f
	}
	return spec
}

// longest are the steps of the schedules that show a mistake, where those of the smallest that
// are shown for it are fewer.
var longest = map[string]int{
	"a burst holds 63 events": 300, "lost when two wait their turn": 12,
	"keys share sixteen waits": 120, "forgets all keys for a ninth": 120,
	"a table of keys: a key too many drops what is pending of another, of 1024": 1030,
}

func steps(name string) int {
	if n := longest[name]; n > 0 || !strings.HasPrefix(name, "a table of keys") {
		return n
	}
	return 400
}

func mutant(name, rule string, spec db.Spec) zoo.Mutant {
	return zoo.Mutant{
		Steps: steps(name),
		Name:  name, Rule: rule, Spec: spec,
		Hangs: rule == "X-REENT" || strings.Contains(name, "keeps a lock"), Chance: rule == "X-CONC" || rule == "X-ROW",
	}
}

// onPackageTime are mistakes that show on package time too, one for each rule.
func onPackageTime() []zoo.Mutant {
	late := map[string]string{
		"X-CALLS": "enumeration", "DB-NOSTALE": "racing", "DB-CANCELBAR": "racing", "DB-PEND": "inside pending",
		"DB-ZERO": "zero wait", "DB-NEG": "negative wait", "DB-OVERLAP": "busy 30ms", "DB-CLOSE": "close",
		"DB-KEY": "keys", "X-ISO": "instances", "DB-NONE": "edges none cut",
		"DB-LEAD": "edges leading", "DB-LEAD1": "edges leading", "DB-REARM": "edges leading",
		"DB-LEADONLY": "edges leading",
		"DB-BOTH1":    "edges both", "DB-BOTHN": "edges both",
		"DB-MAX": "bound 250ms", "DB-MAXNE": "bound 250ms", "DB-MAXTAIL": "bound 250ms", "DB-MAXPAY": "bound 250ms",
	}
	seen := map[string]bool{}
	var all []zoo.Mutant
	add := func(of func(mutant string, source db.TimeSource) db.Spec, mistakes []mistake) {
		for _, m := range mistakes {
			if !seen[m.rule] {
				seen[m.rule] = true
				made := mutant(m.name+", on package time", m.rule, of(m.name, db.PackageTime))
				made.Family = late[m.rule]
				all = append(all, made)
			}
		}
	}
	add(trailingSpec, slices.DeleteFunc(slices.Clone(trailingMutants), injectedOnly))
	add(edgesSpec, edgeMutants)
	return all
}

// injectedOnly reports whether a mistake of the trailing debouncer does not show on package
// time, or shows no better. Nobody can count package time's timers, order a tie there, set it
// back, or catch a panic on a timer's goroutine; the watchdog waits as on the injected clock;
// and two locks show in a tie.
func injectedOnly(m mistake) bool {
	return m.name == "stop leaves the timer armed" ||
		slices.Contains([]string{"DB-TIE", "X-REENT", "X-BACK", "X-CLOCK1", "X-PANIC", "X-CONC"}, m.rule)
}

// Designs are correct debouncers of many kinds, on both clocks.
func Designs() []zoo.Design {
	var all []zoo.Design
	add := func(spec db.Spec) {
		all = append(all, zoo.Design{Name: fmt.Sprintf("%s %s", spec.Name, spec.Time), Spec: spec})
	}
	for _, source := range []db.TimeSource{db.Injected, db.PackageTime} {
		for _, spec := range []db.Spec{
			trailingSpec("", source), edgesSpec("", source), onCallSpec("", source), batchSpec("", source),
			batchSpec(makesRoom, source), tableSpec("", source),
		} {
			add(spec)
		}
		for _, d := range designs(source) {
			d.spec.Name = "design: " + d.name
			add(d.spec)
		}
	}
	for _, only := range []db.Edges{db.Leading, db.LeadingAndTrailing} {
		add(edgeSpec(only))
	}
	for _, spec := range Queued() {
		add(spec)
	}
	return append(all, agendas()...)
}

// Chosen are n correct debouncers that choose all that may be chosen, drawn from a constant.
func Chosen(n int) []zoo.Design {
	return zoo.Named(chosen(n), func(s db.Spec) string { return s.Name })
}

// Plain are the choices of a debouncer that can do all that one can.
func Plain() db.Traits {
	return plain(func(tr *db.Traits) {
		tr.Edges, tr.Tie = []db.Edges{db.Trailing, db.Leading, db.LeadingAndTrailing}, db.ResetFirst
		tr.Overlap, tr.BothSingle = db.Serial, db.BothOnce
		tr.MaxWait, tr.CloseFlush = db.MaxWaitFromFirst, db.CloseFires
	})
}

// Choosing is a correct debouncer on an injected clock that chooses so.
func Choosing(tr db.Traits) db.Spec { return choosySpec(db.Injected, tr, ways{}, every()...) }
