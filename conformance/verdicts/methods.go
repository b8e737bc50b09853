package main

import (
	"fmt"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// fill sets the fields of Funcs from the methods of the subject.
func (a *adapter) fill() {
	if sig, ok := a.subject.Underlying().(*types.Signature); ok {
		a.function(sig)
		return
	}
	used := map[string]bool{"Run": a.looped, "Init": a.maker == nil}
	if a.c.pkg == "concurrencytest" {
		a.fillGroup(used)
	}
	requests, decision := a.requests(), a.decision()
	for _, o := range a.c.operations {
		for _, name := range a.candidates(o, requests, decision) {
			name, waits := strings.CutPrefix(name, "go ")
			name, open := strings.CutPrefix(name, "told ")
			m := a.method(name)
			again := a.set[o.field+"Key"] || a.set[strings.TrimSuffix(o.field, "Within")] // with something else
			if m == nil || used[name] && !again || a.done(o.field) || a.isTry(o, name) ||
				open && !blocking.MatchString(a.comment(name)) || name == "Wait" && a.set["Acquire"] { // for all
				continue
			}
			if a.put(o.field, a.call(o, m.Signature(), instance+"."+name, waits)) {
				used[name] = true
			}
		}
		if !a.done(o.field) && !strings.Contains(o.field, "Key") && !strings.HasSuffix(o.field, "At") {
			a.fields = append(a.fields, fmt.Sprintf("// %s: nothing fits.", o.field))
		}
	}
	if a.shared() {
		a.assumed.add("two keys may have the same of its buckets: one key is tried")
	}
	for _, name := range requests {
		a.assumed.add("%s is how it is asked, and it counts what it lets through", name)
	}
	a.left(used)
	a.filled()
}

// candidates are the names of the methods that may be an operation.
func (a *adapter) candidates(o operation, requests []string, decision *answer) []string {
	switch must := slices.Contains(a.c.must, o.field); {
	case must && o.result == boolean:
		return slices.Concat(o.methods, requests)
	case must && o.result == grant && decision != nil:
		return []string{decision.method}
	}
	return o.methods
}

// filled says what the fields that are set mean for the test, and which must be.
func (a *adapter) filled() {
	if a.c.pkg == "leakybuckettest" && strings.Contains(strings.Join(a.fields, "\n"), "context.Background())") {
		a.asked.add("its waits are never cancelled here: -contract limitertest tries that")
	}
	at := slices.ContainsFunc(a.c.must, func(f string) bool { return a.set[f] && strings.HasSuffix(f, "At") })
	if at && !slices.ContainsFunc(a.c.must, func(f string) bool { return a.set[f] && !strings.HasSuffix(f, "At") }) {
		a.time = "Explicit"
	} else if at {
		a.notes.add("what ends in At is judged with Time: Explicit")
	}
	set := strings.Join(a.fields, "\n")
	if strings.Contains(set, "(_ context.Context") && !handsOn.MatchString(set) {
		a.declare("Context", "concurrencytest.ContextIgnored")
	}
	if slices.ContainsFunc(a.c.must, func(field string) bool { return a.set[field] }) {
		text := a.making() + set
		if (a.set["Call"] || a.set["CallKey"] || a.c.pkg == "batchtest") && !strings.Contains(text, a.c.made+"(") {
			a.lacking.add("say how it calls %s", a.c.made)
		}
		if (a.set["Acquire"] || a.set["Lock"]) && !a.set["Release"] && !a.set["Do"] {
			a.lacking.add("say in Release how a slot is given back")
		}
		return
	}
	if told := a.told(); told != "" {
		a.lacking.add("no contract covers a %s whose %s takes the time: drive it with a timer in New",
			strings.TrimSuffix(a.c.pkg, "test"), told)
	} else {
		a.lacking.add("one of these must be set: %s", strings.Join(a.c.must, ", "))
	}
}

// handsOn matches a field that has a context and does not drop it.
var handsOn = regexp.MustCompile(`\bctx\b|(Take|Do|Acquire): x\.`)

// methods are the exported ones of the subject.
func (a *adapter) methods() []*types.Func {
	return slices.DeleteFunc(methodsOf(a.subject), func(f *types.Func) bool { return a.method(f.Name()) == nil })
}

// told is a method that could be one of those needed, if the contract had one that is told the time; "" if none is.
func (a *adapter) told() string {
	for _, o := range a.c.operations {
		for _, name := range o.methods {
			sig := a.signature(name)
			if slices.Contains(a.c.must, o.field) && sig != nil && a.c.made != "" && a.c.pkg != "throttletest" &&
				slices.Contains(kindsOf(sig.Params()), instant) {
				return name
			}
		}
	}
	return ""
}

// isTry reports whether a method that takes a slot at once or not at all would stand for one that waits, where another
// method is there for that; or whether one that fails makes a slot in the background.
func (a *adapter) isTry(o operation, name string) bool {
	sig := a.signature(name)
	tries := strings.HasPrefix(o.field, "Try")
	if a.c.pkg != "concurrencytest" || tries || !strings.HasPrefix(name, "Try") || sig == nil {
		return tries && strings.Contains(a.comment(name), "background")
	}
	waits := slices.ContainsFunc(slices.Concat(takes, begins), func(other string) bool {
		return !strings.HasPrefix(other, "Try") && a.method(other) != nil
	})
	return waits && slices.Equal(kindsOf(sig.Results()), []kind{boolean}) &&
		!slices.Contains(kindsOf(sig.Params()), duration)
}

// done reports whether a field, or what makes it needless, is set.
func (a *adapter) done(field string) bool {
	return a.set[field] || slices.ContainsFunc(instead[field], func(other string) bool { return a.set[other] })
}

// keyed reports whether requests or events have keys.
func (a *adapter) keyed() bool {
	return a.set["CallKey"] || a.set["AllowKey"] || a.set["AllowKeyAt"] || a.set["TakeKey"] || a.set["TakeKeyAt"]
}

// function is for constructors that return a function: it is the event.
func (a *adapter) function(sig *types.Signature) {
	for _, o := range a.c.operations {
		isEvent := o.field == "Call" || o.field == "Allow" && sig.Results().Len() == 1
		if isEvent && a.put(o.field, a.call(o, sig, instance, false)) {
			return
		}
	}
	a.lacking.add("its results are unclear: %s", types.TypeString(sig, a.short))
}

// parameters are those of an operation, by kind.
var parameters = map[kind]string{
	payload: "v int", count: "n int", context: "ctx context.Context", instant: "at time.Time", key: "key int",
	running: "run func()", duration: "most time.Duration", pace: "r limitertest.Rate",
}

// needs are the parameters of an operation that no argument has taken yet.
type needs []kind

// take takes one of a kind, if there is one left.
func (n *needs) take(k kind) bool {
	i := slices.Index(*n, k)
	if i >= 0 {
		*n = slices.Delete(*n, i, i+1)
	}
	return i >= 0
}

// call is an operation by means of a function, "" if it cannot be. One that waits for what comes of it is called on a
// goroutine.
func (a *adapter) call(o operation, sig *types.Signature, fn string, waits bool) string {
	var have, want []string
	left := needs(slices.Clone(o.params))
	// With keys, other operations of events act on all keys or do nothing.
	a.anyKey = map[bool]string{true: "1"}[o.field == "Call" || o.result == grant || a.c.pkg == "limitertest"]
	a.numbers = countOf(count, sig.Params())
	a.text = a.textOf(sig)
	args := a.passed(sig, &left)
	if slices.Contains(args, "") {
		return ""
	}
	single := slices.Contains(left, count) && (o.result == grant || a.c.pkg == "limitertest")
	for _, k := range o.params {
		name, of, _ := strings.Cut(parameters[k], " ")
		if slices.Contains(left, k) { // the method knows nothing of it
			if o.needs(k) {
				return ""
			}
			name = map[bool]string{true: "n", false: "_"}[single && k == count]
		}
		have, want = append(have, name+" "+of), append(want, of)
	}
	body, same := a.result(o, sig, fn, fn+"("+strings.Join(args, ", ")+")")
	if body == "" {
		return ""
	}
	if waits {
		body, same = "go "+body, false
	}
	if slices.Contains(left, payload) && a.carried != nil {
		a.asked.add("say in %s how %s gets the number of an event; until then payloads are not judged", o.field, fn)
	}
	if slices.Contains(left, count) && a.c.pkg == "concurrencytest" && slices.Contains(a.c.must, o.field) {
		a.declare("OneAtATime", "true")
	}
	switch {
	case single:
		a.declare("OneAtATime", "true")
		body = "if n != 1 {\npanic(\"one at a time\")\n}\n" + body
	case same && !sig.Variadic() && strings.HasPrefix(plain(sig), strings.Join(want, ",")+" -> "):
		return fn
	case strings.Contains(body, "close(done)"): // it may return before the function has
		body = a.awaited(body, fn)
	}
	return fmt.Sprintf("func(%s)%s { %s%s }", strings.Join(have, ", "), returns[o.result], a.guard(o, sig, fn), body)
}

// passed are the arguments of a call, "" for one that cannot be told.
func (a *adapter) passed(sig *types.Signature, left *needs) (args []string) {
	for i := range sig.Params().Len() {
		switch v := sig.Params().At(i); {
		case !variadic(sig, i):
			args = append(args, a.argument(v, left))
		case eventOf(sig) == i && left.take(payload):
			args = append(args, a.payload(isSlice(v.Type())))
		}
	}
	return args
}

// needs reports whether what knows nothing of a parameter is no such operation.
func (o operation) needs(k kind) bool {
	switch k {
	case context:
		return o.field == "WaitN"
	case payload:
		return slices.Contains(o.params, key) || o.field == "Cancel"
	case count:
		return o.field == "AllowN" || o.field == "AllowAt"
	}
	return true
}

// awaited waits for the end of a function that a call runs. A panic that would end the process is one of the caller.
func (a *adapter) awaited(body, fn string) string {
	body = "done := make(chan struct{})\nerr := func() error { " + body + " }()\n" +
		"if err == nil {\n<-done\n}\nreturn err"
	if apart.MatchString(a.comment(strings.TrimPrefix(fn, instance+"."))) {
		return onCaller.Replace(body)
	}
	return body
}

// apart are words of comments on what runs a function on another goroutine.
var (
	apart    = regexp.MustCompile(`(?i)\bgo ?routine|background|asynchron|\bspawn|\bqueue`)
	onCaller = strings.NewReplacer("defer close(done); ", "defer func() { thrown = recover(); close(done) }(); ",
		"done := ", "var thrown any\ndone := ", "<-done\n}", "<-done\n}\nif thrown != nil {\npanic(thrown)\n}")
)

// textOf is the parameter that carries the number of an event as a text, nil if there is none: the last that is no key.
func (a *adapter) textOf(sig *types.Signature) (text *types.Var) {
	for v := range sig.Params().Variables() {
		if a.carried != nil && kindOf(a.carried) == ident && kindOf(v.Type()) == ident && !keys.MatchString(v.Name()) {
			text = v
		}
	}
	return text
}

// misfit is the condition under which a number is none of a type, "" if it always is one.
func (a *adapter) misfit(t types.Type, expr string) string {
	switch parts := narrow.FindStringSubmatch(t.Underlying().String()); {
	case parts == nil:
		return ""
	case parts[2] == "":
		return map[string]string{"uint": expr + " < 0"}[parts[1]]
	case parts[1] == "uint":
		return expr + " < 0 || " + expr + " > math.MaxUint" + parts[2]
	default:
		return expr + " < math.MinInt" + parts[2] + " || " + expr + " > math.MaxInt" + parts[2]
	}
}

var narrow = regexp.MustCompile(`^(u?int)(8|16|32)?(?:64)?$`)

// guard refuses numbers that a function's type cannot say. As no more are ever granted, such a request is denied.
func (a *adapter) guard(o operation, sig *types.Signature, fn string) string {
	for v := range sig.Params().Variables() {
		condition := a.misfit(v.Type(), "n")
		if condition != "" && slices.Contains(o.params, count) && !a.isNumbered(v) && quantity(v) {
			returned := map[kind]string{
				boolean: "return false", failure: `return errors.New("range")`, attempt: "return nil, false",
				release: `return nil, errors.New("range")`, none: `panic("out of range")`,
				booking: "return limitertest.Reservation{OK: func() bool { return false }}",
				grant:   "return quotatest.Answer{}",
			}[o.result]
			if o.result == grant && a.answer(o, sig, strings.TrimPrefix(fn, instance+".")).more() {
				returned = `panic("out of range")` // as what is answered with more would be judged
			}
			return "if " + condition + " { " + returned + " }\n"
		}
	}
	return ""
}

// taken are the arguments for what an operation has, by the kind of the parameter.
var taken = []struct {
	have, need kind
	expr       string
}{
	{context, context, "ctx"}, {ending, context, "ctx.Done()"}, {instant, instant, "at"}, {duration, duration, "most"},
}

// defaults are the arguments for what no operation has.
var defaults = map[kind]string{failure: "nil", ending: "nil", context: "context.Background()"}

// argument is what a parameter gets, "" if that cannot be told.
func (a *adapter) argument(v *types.Var, left *needs) string {
	t, k := v.Type(), kindNamed(v.Name(), v.Type())
	for _, x := range taken {
		if x.have == kindOf(t) && left.take(x.need) {
			return x.expr
		}
	}
	switch {
	case k == count || k == perSec:
		return a.number(v, left)
	case (isAny(t) || isRef(t) || v == a.text) && left.take(payload):
		return a.payload(t)
	case k == duration:
		return a.patience(v)
	case k == ident && a.keyed() && a.anyKey == "" && !slices.Contains(*left, key): // of all keys
		return ""
	case k == ident:
		return a.keyText(v, left)
	case isWork(t) && left.take(running):
		return work0(t, "defer close(done); run()")
	case isWork(t) && a.c.made != "" && a.builder == "" && left.take(payload):
		return work0(t, a.c.made+"(v)")
	}
	return defaults[k]
}

// number is the argument for a number: a key, how many, or the payload.
func (a *adapter) number(v *types.Var, left *needs) string {
	t := v.Type()
	k := kindOf(t)
	forKey := slices.Contains(*left, key) || a.of != "" || a.keyed() || a.anyKey != "" && a.numbers > 1
	switch {
	case k == count && a.isNumbered(v) && forKey:
		return map[bool]string{true: "key", false: a.anyKey}[left.take(key)]
	case k == count && !quantity(v):
		return types.TypeString(t, a.qualifier) + "(0)"
	case k == perSec && left.take(pace):
		return a.converted(t, "r.PerSecond()")
	case k == perSec && left.take(count): // tokens may be fractions
		a.several = true
		return a.fraction(t, "n")
	case k == perSec:
		return ""
	case left.take(count):
		a.several = true
		return a.converted(t, "n")
	case left.take(payload):
		return a.payload(t)
	case limits.MatchString(v.Name()): // which is part of the configuration
		return ""
	}
	return a.converted(t, "1")
}

var limits = regexp.MustCompile(`(?i)rate|limit|burst|capacity|^max`)

// patience is for how long a method may wait.
func (a *adapter) patience(v *types.Var) string {
	most := a.c.durations[0]
	if a.c.pkg == "limitertest" { // what is granted is granted now
		most = "0"
	}
	return a.inUnits(v.Name(), v.Type(), most)
}

// work0 is a function that does something, and returns nil if it returns an error.
func work0(t types.Type, body string) string {
	if kindOf(t) == work {
		return "func() { " + body + " }"
	}
	return "func() error { " + body + "; return nil }"
}

// keys are the names of parameters that say for whom something is asked.
var keys = regexp.MustCompile(`(?i)^(key|k|id)$`)

// isNumbered reports whether a parameter that is a number is a key: by its name, or as any type could be there where
// there are no events.
func (a *adapter) isNumbered(v *types.Var) bool {
	_, generic := v.Origin().Type().(*types.TypeParam)
	return keys.MatchString(v.Name()) || generic && (a.c == nil || a.c.made == "")
}

// labels are the names of parameters that are a text which says why something is asked, and not for whom.
var labels = regexp.MustCompile(`(?i)reason|label|mess|msg|text|descr|comment`)

// keyText is the argument for a parameter that is a text: the number of a key, or one key.
func (a *adapter) keyText(v *types.Var, left *needs) string {
	if a.shared() || labels.MatchString(v.Name()) || !left.take(key) {
		return a.converted(v.Type(), `"1"`)
	}
	if v.Name() == "" {
		a.assumed.add("its text without a name is a key: if it is ignored, use no field for keys")
	}
	return a.converted(v.Type(), "strconv.Itoa(key)")
}

// shared reports whether keys have a fixed number of buckets, so that two may have the same: then one key is tried.
func (a *adapter) shared() bool { return a.isGiven(hashed) }

var hashed = regexp.MustCompile(`(?i)^num_?buckets$`)

// quantity reports whether a whole number says how many, and is no duration, level, mode or the like.
func quantity(v *types.Var) bool {
	_, basic := types.Unalias(v.Type()).(*types.Basic)
	return (basic || quantities.MatchString(v.Name())) && unitOf(v.Name()) == ""
}

var quantities = regexp.MustCompile(`(?i)^(n|num|count|tokens?|cost|amount|quantity|weight|size|permits?|units|hits)$`)

// payload is the number of an event as a type.
func (a *adapter) payload(t types.Type) string {
	switch {
	case isAny(t) || types.Identical(t, types.Typ[types.Int]):
		return "v"
	case isRef(t):
		return "&v"
	case kindOf(t) == ident:
		return a.converted(t, "strconv.Itoa(v)")
	}
	return types.TypeString(t, a.qualifier) + "(v)"
}

// control sets the operations that the second result of the constructor has, as methods or as fields that are
// functions, and returns the name of that result, "" if it has none.
func (a *adapter) control(t types.Type) string {
	before, used := len(a.set), map[string]bool{}
	for _, o := range a.c.operations {
		for _, member := range o.methods {
			sig := a.signatureOf(t, member)
			if sig == nil || used[member] || slices.Contains(a.c.must, o.field) || a.done(o.field) {
				continue
			}
			if a.put(o.field, a.call(o, sig, "control."+member, false)) {
				used[member] = true
			}
		}
	}
	if len(a.set) == before {
		return ""
	}
	for _, m := range members(t) {
		if !used[m.name] {
			a.notes.add("not used: %s of the second result", m.name)
		}
	}
	return "control"
}
