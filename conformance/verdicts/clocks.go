package main

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// Names that methods of clocks have, by worth.
var (
	moves = []string{
		"Advance", "Add", "Increment", "Step", "Run", "Forward", "FastForward", "AdvanceBy", "Move", "Elapse", "Tick",
		"AddTime",
	}
	sets     = []string{"SetTime", "Set", "AdvanceTo", "Update", "TravelTo"}
	counters = []string{
		"Armed", "NumTimers", "WatcherCount", "ActiveTimers", "Waiters", "Len", "PendingTimers", "TimerCount",
	}
	timed = []string{
		"Sleep", "After", "TickAfter", "NewTimer", "Timer", "AfterFunc", "NewTicker", "Ticker", "NewStoppedTimer",
	}
)

// isClock reports whether the subject says what time it is, can be moved, and has timers of some
// kind: then it is a fake clock, whatever its name.
func (a *adapter) isClock() bool {
	return a.nowBody() != "" && a.advanceBody() != "" && a.has(timed...)
}

// clockwork is where the timers of clocks come from.
const clockwork = "github.com/jonboulle/clockwork"

// signature is that of a method, nil if there is none.
func (a *adapter) signature(name string) *types.Signature {
	if m := a.method(name); m != nil {
		return m.Signature()
	}
	return nil
}

// signatureOf is that of a method of a type, or of a field that is a function; nil if there is none.
func (a *adapter) signatureOf(t types.Type, name string) *types.Signature {
	obj, _, _ := types.LookupFieldOrMethod(t, true, a.pkg.types, name)
	if obj == nil {
		return nil
	}
	sig, _ := obj.Type().Underlying().(*types.Signature)
	return sig
}

// plain is the text of a signature's parameters and results, by which those are known that fit
// as they are; "" for no signature. What may be left out is left out.
func plain(sig *types.Signature) string {
	if sig == nil {
		return ""
	}
	var in, out []string
	for v := range sig.Params().Variables() {
		in = append(in, types.TypeString(v.Type(), nil))
	}
	for v := range sig.Results().Variables() {
		out = append(out, types.TypeString(v.Type(), nil))
	}
	if sig.Variadic() {
		in = in[:len(in)-1]
	}
	return strings.Join(in, ",") + " -> " + strings.Join(out, ",")
}

// nowBody reads the clock, "" if that cannot be told.
func (a *adapter) nowBody() string {
	sig := a.signature("Now")
	switch {
	case sig == nil || sig.Params().Len() > 0 && !sig.Variadic() || sig.Results().Len() != 1:
		return ""
	case kindOf(sig.Results().At(0).Type()) == instant:
		return instance + ".Now()"
	case kindOf(sig.Results().At(0).Type()) == count: // nanoseconds since when it likes
		return "time.Unix(0, int64(" + instance + ".Now()))"
	}
	return ""
}

// advanceBody moves the clock by d, "" if that cannot be told.
func (a *adapter) advanceBody() string {
	for _, name := range moves {
		sig := a.signature(name)
		if sig == nil || !strings.HasPrefix(plain(sig), "time.Duration -> ") {
			continue
		}
		call := instance + "." + name + "(d)"
		if sig.Results().Len() == 1 { // what is still to be waited for
			for _, wait := range []string{"MustWait", "Wait"} {
				w := plain(a.signatureOf(sig.Results().At(0).Type(), wait))
				if strings.HasPrefix(w, "context.Context -> ") {
					return call + "." + wait + "(context.Background())"
				}
			}
		}
		if countOf(none, sig.Results()) == 0 { // no channel, and nothing else to work with
			return call
		}
	}
	for _, name := range sets {
		if strings.HasPrefix(plain(a.signature(name)), "time.Time -> ") && a.nowBody() == instance+".Now()" {
			return instance + "." + name + "(" + instance + ".Now().Add(d))"
		}
	}
	return ""
}

func (a *adapter) fillClock() {
	if a.isClockwork() {
		a.whole = "clocktest.Of(" + instance + ")"
		return
	}
	now, advance := a.nowBody(), a.advanceBody()
	if now == "" || advance == "" {
		a.lacking.add("Now and Advance must be set")
		a.fields = append(a.fields, "// Now: nothing fits.", "// Advance: nothing fits.")
	} else {
		a.likeTime("Now", clockMethods["Now"])
		a.put("Now", "func() time.Time { return "+now+" }")
		a.likeTime("Advance", clockMethods["Sleep"])
		a.put("Advance", "func(d time.Duration) { "+advance+" }")
	}
	for _, field := range []string{"Since", "Until", "Sleep"} {
		a.likeTime(field, clockMethods[field])
	}
	a.likeTime("After", clockMethods["After"], "TickAfter")
	a.likeTime("Tick", clockMethods["After"])
	a.likeTime("Armed", " -> int", counters...)
	for field, second := range map[string]string{"WithTimeout": "time.Duration", "WithDeadline": "time.Time"} {
		a.likeTime(field, "context.Context,"+second+" -> context.Context,context.CancelFunc", "Context"+field)
	}
	a.timer("NewTimer", "Timer")
	a.timer("NewTicker", "Ticker")
	a.timer("AfterFunc")
	if strings.HasPrefix(plain(a.signature("SleepFor")), "context.Context,time.Duration -> ") {
		a.put("Sleep", "func(d time.Duration) { x.SleepFor(context.Background(), d) }")
	}
	slices.Sort(a.fields)
	a.left(map[string]bool{})
	a.assumed.add("it moves by %s", advance)
}

// likeTime sets a field to a method of its name, or else of another, that is like the function of package time.
func (a *adapter) likeTime(field, want string, others ...string) {
	for _, name := range append([]string{field}, others...) {
		sig := a.signature(name)
		if sig == nil || plain(sig) != want || demanding.MatchString(a.comment(name)) {
			continue
		}
		from, to, _ := strings.Cut(want, " -> ")
		result := map[bool]string{true: "return "}[to != ""]
		switch {
		case !sig.Variadic():
			a.put(field, instance+"."+name)
		case from != "" && !strings.Contains(from, ","):
			a.put(field, fmt.Sprintf("func(v %s) %s { %s%s.%s(v) }", from, to, result, instance, name))
		}
	}
}

// isClockwork reports whether the clock has clockwork's methods and types.
func (a *adapter) isClockwork() bool {
	for name, want := range clockMethods {
		if sig := a.signature(name); sig == nil || sig.Variadic() || plain(sig) != want {
			return false
		}
	}
	return a.method("Advance") != nil
}

// timer sets the field of a timer, a ticker or a function's timer, with one of the methods.
func (a *adapter) timer(field string, others ...string) {
	params, _, _ := strings.Cut(clockMethods[field], " -> ")
	for _, name := range append([]string{field}, others...) {
		sig := a.signature(name)
		if sig != nil && strings.HasPrefix(plain(sig), params+" -> ") && sig.Results().Len() > 0 &&
			a.put(field, a.handle(field, name, sig.Results())) {
			return
		}
	}
}

// handle is a function that makes a timer of the type that the suite has, "" if there is no way.
func (a *adapter) handle(field, name string, results *types.Tuple) string {
	of, channel, vars := results.At(0).Type(), "", "h"
	if results.Len() == 2 && types.TypeString(of, nil) == "<-chan time.Time" {
		of, channel, vars = results.At(1).Type(), "c", "c, h"
	} else if results.Len() != 1 {
		return ""
	}
	stop, reset := plain(a.signatureOf(of, "Stop")), plain(a.signatureOf(of, "Reset"))
	for _, m := range members(of) {
		switch types.TypeString(m.of, nil) {
		case "<-chan time.Time":
			channel = "h" + m.expr
		case "*<-chan time.Time":
			channel = "*h" + m.expr
		}
	}
	role := map[bool]string{true: "Ticker", false: "Timer"}[field == "NewTicker"]
	call, params := fmt.Sprintf("%s := %s.%s(d)", vars, instance, name), "d time.Duration"
	if field == "AfterFunc" {
		params, channel, call = params+", f func()", "nil", strings.TrimSuffix(call, ")")+", f)"
		if vars != "h" {
			return ""
		}
	}
	if channel == "" || !strings.HasPrefix(stop, " -> ") {
		return ""
	}
	stopper := "func() bool { return h.Stop() }"
	if stop != " -> bool" {
		stopper = "func() bool { h.Stop(); return true }"
	}
	if role == "Timer" && (stop != " -> bool" || reset == "time.Duration -> ") {
		a.put("NoTimerAnswers", "true")
	}
	resetter := "func(d time.Duration) bool { return h.Reset(d) }"
	switch {
	case reset == "time.Duration -> ":
		resetter = "func(d time.Duration) bool { h.Reset(d); return true }"
	case reset != "time.Duration -> bool":
		resetter = "nil"
		a.put("No"+role+"Reset", "true")
	}
	literal := fmt.Sprintf("handle{%s, %s, %s}", channel, stopper, resetter)
	if role == "Ticker" {
		literal = "ticker{" + literal + "}"
	}
	return fmt.Sprintf("func(%s) clockwork.%s {\n%s\nreturn %s\n}", params, role, call, literal)
}

// ownClock is the clock of the suite as an interface whose timers are interfaces of its own, too; "" if a method of it
// is none of a clock's.
func (a *adapter) ownClock(t types.Type, i *types.Interface) string {
	clock := types.TypeString(t, a.qualifier)
	text := "\n// ownClock is the clock of the suite as " + clock + ".\ntype ownClock struct{ clockwork.Clock }\n\n"
	for m := range i.Methods() {
		sig, whole := m.Type().(*types.Signature), clockMethods[m.Name()]
		params, result, known := strings.Cut(whole, " -> ")
		role := strings.TrimPrefix(result, clockwork+".")
		switch {
		case !known:
			return ""
		case plain(sig) == whole:
			continue
		case role == result || !strings.HasPrefix(plain(sig), params+" -> ") || !isTimer(sig, role):
			return ""
		}
		takes, gives := "d time.Duration", "d"
		if m.Name() == "AfterFunc" {
			takes, gives = takes+", f func()", gives+", f"
		}
		timer := sig.Results().At(0).Type()
		made := "c.Clock." + m.Name() + "(" + gives + ")"
		if hasMethod(timer.Underlying().(*types.Interface), "C") {
			made = "own" + role + "{" + made + "}"
		}
		text += "func (c ownClock) " + m.Name() + "(" + takes + ") " + types.TypeString(timer, a.qualifier) +
			" { return " + made + " }\n"
	}
	a.time, a.own = "Injected", text
	return "ownClock{env.Clock}"
}

// isTimer reports whether a method returns an interface which a timer or a ticker has, once its Chan is called C.
func isTimer(sig *types.Signature, role string) bool {
	if sig.Results().Len() != 1 {
		return false
	}
	i, ok := sig.Results().At(0).Type().Underlying().(*types.Interface)
	answer := map[string]string{"Timer": "bool"}[role]
	return ok && fits(i, map[string]string{
		"Stop": " -> " + answer, "Reset": "time.Duration -> " + answer,
		"Chan": " -> <-chan time.Time", "C": " -> <-chan time.Time",
	})
}

// helpers are declarations that adapters need, by name.
var helpers = []struct{ name, text string }{
	{"handle", `
// handle is a timer in the form that the suite calls.
type handle struct {
	c     <-chan time.Time
	stop  func() bool
	reset func(d time.Duration) bool
}

func (h handle) Chan() <-chan time.Time     { return h.c }
func (h handle) Stop() bool                 { return h.stop() }
func (h handle) Reset(d time.Duration) bool { return h.reset(d) }
`},
	{"ticker", `
// ticker is one whose methods return nothing.
type ticker struct{ handle }

func (t ticker) Stop()                 { t.stop() }
func (t ticker) Reset(d time.Duration) { t.reset(d) }
`},
	{"ownTimer", fmt.Sprintf(own, "Timer")},
	{"ownTicker", fmt.Sprintf(own, "Ticker")},
}

const own = `
type own%[1]s struct{ clockwork.%[1]s }

func (t own%[1]s) C() <-chan time.Time { return t.Chan() }
`
