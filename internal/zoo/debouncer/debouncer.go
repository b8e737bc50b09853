// Package debouncer has the zoo's debouncers.
package debouncer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/escapement-go/escapement/conformance"
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
	all = append(all, mutant("keys share a leading edge", "DB-KEY", leadsForAll()),
		mutant(diesOfPanic, "X-PANIC", agendaSpec(diesOfPanic)))
	all = append(all, mutant("who has received the timer's value does not look again", "DB-NOSTALE", db.Spec{
		Name: "zoo contexts", Time: db.Injected, Traits: trailingTraits,
		New: func(env db.Env, cfg db.Config, fire func(int)) db.Funcs {
			d := &contexts{clock: env.Clock, wait: cfg.Wait, fire: fire, blind: true}
			return db.Funcs{Call: d.call, Cancel: d.drop}
		},
	}))
	behind := plain(func(tr *db.Traits) { tr.StaleFire = db.StaleAllowed })
	all = append(all, mutant("a cancel overtakes the events in a queue", "X-ROW", db.Spec{
		Name: "zoo loop", Time: db.Injected, Traits: behind,
		New: func(env db.Env, cfg db.Config, fire func(int)) db.Funcs {
			d := newLoop(env.Clock, cfg.Wait, fire, 64, true)
			d.blind = true
			return db.Funcs{Call: d.call, Cancel: func() { d.ask(d.cancels) }, Stop: d.stop}
		},
	}))
	all = append(all, mutant("a call takes back what was cancelled", "DB-CANCEL", flagged()))
	stops := trailingSpec(leavesDue, db.Injected)
	stops.Traits.StopPending = db.StopFlushes
	made := stops.New
	stops.New = func(env db.Env, cfg db.Config, fire func(int)) db.Funcs {
		d := made(env, cfg, fire)
		return db.Funcs{Call: d.Call, Stop: func() { d.Flush(); d.Stop() }}
	}
	all = append(all, mutant("stop leaves what is due to a timer, and takes it from it", "DB-STOP", stops))
	received := plain(func(tr *db.Traits) { tr.Overlap, tr.StaleFire = db.SerialReceiver, db.StaleAllowed })
	flushes := map[conformance.Op]bool{verb.Flush: true}
	all = append(all, mutant(flushesNothing, "DB-FLUSH", choosySpec(db.Injected, received,
		ways{timersApart: true, callsApart: true, mutant: flushesNothing}, flushes)))
	serial := plain(func(tr *db.Traits) {
		tr.Overlap, tr.Reentrancy, tr.StaleFire = db.SerialReceiver, db.ReentrancyForbidden, db.StaleAllowed
	})
	all = append(all, mutant("a loop starts callbacks that it is to run", "DB-OVERLAP", db.Spec{
		Name: "zoo loop", Time: db.PackageTime, Traits: serial,
		New: func(env db.Env, cfg db.Config, fire func(int)) db.Funcs {
			d := newLoop(env.Clock, cfg.Wait, fire, 0, true)
			return db.Funcs{Call: d.call, Stop: d.stop}
		},
	}))
	ends := plain(func(tr *db.Traits) {
		tr.Edges = []db.Edges{db.LeadingAndTrailing}
		tr.BothSingle, tr.AfterFlush = db.BothOnce, db.FlushEndsBurst
	})
	fromFire := plain(func(tr *db.Traits) { tr.MaxWait = db.MaxWaitFromFire })
	ledOnce := edgesSpec("nothing leads after a fire of the bound", db.Injected)
	ledOnce.Traits.MaxWait = db.MaxWaitFromFire
	all = append(all,
		mutant("nothing leads after a fire of the bound", "DB-REARM", ledOnce),
		mutant(boundOutlives, "DB-MAXNE", choosySpec(db.Injected, fromFire, ways{mutant: boundOutlives}, flushes)),
		mutant("a flush that fires leaves the burst open", "DB-FLUSH", choosySpec(db.Injected, ends, ways{}, flushes)),
		mutant("an event with the payload of the one before is none", "X-RENAME", calling(zoo.Deduped)),
		mutant("events are handed over on goroutines of their own", "X-ROW", calling(zoo.Overtaking)))
	const races = "counts before it locks"
	return append(all,
		mutant(races, "X-RACE", trailingSpec(races, db.Injected)),
		mutant(races+", on package time", "X-RACE", trailingSpec(races, db.PackageTime)),
		mutant(waitsItOut+", on package time", "DB-STOP", trailingSpec(waitsItOut, db.PackageTime)))
}

// flushesNothing is a mistake of a choosy debouncer.
const flushesNothing = "a flush that comes while its receiver runs the callback is none"

// serialMutants are others, which show behind a callback.
var serialMutants = []mistake{{pauseAnew, "DB-BOTHN"}, {boundIsNone, "DB-MAX"}}

const (
	pauseAnew   = "a pause that ends while a callback runs begins anew"
	boundIsNone = "a bound that passes while a callback runs is none"
)

// serialSpec is a choosy debouncer with every edge and a bound, and one of these.
func serialSpec(mutant string, source db.TimeSource) db.Spec {
	tr := Plain()
	tr.Edges, tr.ClockBack, tr.CloseFlush = append(tr.Edges, db.NoEdges), db.BackStands, 0
	has := map[conformance.Op]bool{verb.Cancel: true, verb.Flush: true, verb.Pending: true, verb.Stop: true}
	return choosySpec(source, tr, ways{queues: true, mutant: mutant}, has)
}

// boundOutlives is another.
const boundOutlives = "a bound that counts from the first event outlives its fire"

// leadsForAll is a debouncer of the leading edge alone that has keys and makes no difference of them.
func leadsForAll() db.Spec {
	spec := edgeSpec(db.Leading)
	plain := spec.New
	spec.New = func(env db.Env, cfg db.Config, fire func(int)) db.Funcs {
		f := plain(env, cfg, fire)
		f.CallKey = func(_, v int) { f.Call(v) }
		return f
	}
	return spec
}

// calling is a correct debouncer whose events go through a mistake.
func calling(mistake func(call func(int)) func(int)) db.Spec {
	spec := trailingSpec("", db.Injected)
	plain := spec.New
	spec.New = func(env db.Env, cfg db.Config, fire func(int)) db.Funcs {
		f := plain(env, cfg, fire)
		f.Call = mistake(f.Call)
		return f
	}
	return spec
}

// longest are the steps of the schedules that show a mistake, where those of the smallest that
// are shown for it are fewer.
var longest = map[string]int{
	"a burst holds 63 events": 300, "lost when two wait their turn": 12,
	"keys share sixteen waits": 120, "forgets all keys for a ninth": 120,
}

func steps(name string) int {
	if strings.HasPrefix(name, "a table of keys") {
		if strings.HasSuffix(name, boundedHigh) {
			return 1030
		}
		return 400
	}
	return longest[name]
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
	return db.Traits{
		Edges: []db.Edges{db.Trailing, db.Leading, db.LeadingAndTrailing}, Payload: db.LastPayload, Tie: db.ResetFirst,
		StaleFire: db.StaleForbidden, CancelBarrier: db.NoBarrier, AfterCancel: db.CancelReusable,
		StopPending: db.StopDrops,
		ZeroWait:    db.ZeroNextTick, Overlap: db.Serial, BothSingle: db.BothOnce, MaxWait: db.MaxWaitFromFirst,
		CloseFlush: db.CloseFires,
	}
}

// Choosing is a correct debouncer on an injected clock that chooses so.
func Choosing(tr db.Traits) db.Spec {
	all := map[conformance.Op]bool{verb.Cancel: true, verb.Flush: true, verb.Pending: true,
		verb.Stop: true, verb.Close: true}
	return choosySpec(db.Injected, tr, ways{}, all)
}
