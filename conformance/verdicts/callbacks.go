package main

import (
	"cmp"
	"fmt"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// callback is what the constructor is to call, if a parameter is a function.
func (a *adapter) callback(t types.Type) string {
	sig, ok := t.Underlying().(*types.Signature)
	if !ok || a.c.made == "" || !isCallback(sig) {
		return ""
	}
	at, body := eventOf(sig), a.c.made+"(0)"
	switch {
	case at < 0:
		a.noPayload()
		if sig.Params().Len() > 0 {
			a.asked.add("say in New which event the callback's %s stands for; until then payloads are not judged",
				types.TypeString(sig.Params(), a.short))
		}
	case variadic(sig, at): // the arguments of one call
		body = a.one(isSlice(sig.Params().At(at).Type()), "v[0]")
	default:
		body = a.handed(sig.Params().At(at).Type())
	}
	if sig.Results().Len() > 0 {
		body += "\nreturn"
	}
	return a.head(sig, at) + " { " + body + " }"
}

// head is that of a function of which the parameter at an index is v, and no other and no result has a name.
func (a *adapter) head(sig *types.Signature, at int) string {
	blank := func(t *types.Tuple, at int) *types.Tuple {
		var vars []*types.Var
		for i := range t.Len() {
			name := map[bool]string{true: "v", false: "_"}[i == at]
			vars = append(vars, types.NewParam(token.NoPos, nil, name, t.At(i).Type()))
		}
		return types.NewTuple(vars...)
	}
	named := types.NewSignatureType(nil, nil, nil, blank(sig.Params(), at), blank(sig.Results(), -1), sig.Variadic())
	return types.TypeString(named, a.qualifier)
}

// batchCallback is what an option is to call with each batch, where nothing else is; "" if it is no function for that.
func (a *adapter) batchCallback(t types.Type) string {
	sig, ok := t.Underlying().(*types.Signature)
	if ok && a.c.pkg == "batchtest" && a.carried == nil && eventOf(sig) >= 0 &&
		isSlice(sig.Params().At(eventOf(sig)).Type()) != nil {
		return a.callback(t)
	}
	return ""
}

// builds sets the callback by the only method that takes one and returns what it is called on, where some event needs
// no function.
func (a *adapter) builds() {
	event := func(name string) bool {
		sig := a.signature(name)
		return sig != nil && !slices.Contains(kindsOf(sig.Params()), work)
	}
	if strings.Contains(a.making(), a.c.made+"(") || !slices.ContainsFunc(events, event) {
		return
	}
	var found []*types.Func
	for _, m := range a.methods() {
		params, results := m.Signature().Params(), m.Signature().Results()
		if params.Len() != 1 || results.Len() != 1 || !types.Identical(results.At(0).Type(), a.subject) {
			continue
		}
		if sig, ok := params.At(0).Type().Underlying().(*types.Signature); ok && isCallback(sig) {
			found = append(found, m)
		}
	}
	if len(found) == 1 {
		a.builder = found[0].Name()
		callback := a.callback(found[0].Signature().Params().At(0).Type())
		a.lines = append(a.lines, instance+" = "+instance+"."+a.builder+"("+callback+")")
	}
}

// noPayload says that a callback is not told what for.
func (a *adapter) noPayload() {
	if a.c.pkg == "debouncertest" || a.c.pkg == "throttletest" {
		a.declare("Payload", a.c.pkg+".NoPayload")
	} else {
		a.assumed.add("its callback takes no payload, so that what leaves is not told apart")
	}
}

// variadic reports whether a parameter stands for any number of arguments.
func variadic(sig *types.Signature, i int) bool { return sig.Variadic() && i == sig.Params().Len()-1 }

// isCallback reports whether a function may be one: it returns nothing, an error, or an answer for each item; or it
// may be any function, as it takes any number of arguments.
func isCallback(sig *types.Signature) bool {
	if sig.Variadic() && sig.Params().Len() == 1 && eventOf(sig) == 0 {
		return sig.Results().Len() <= 1
	}
	for v := range sig.Results().Variables() {
		if kindOf(v.Type()) != failure && isSlice(v.Type()) == nil {
			return false
		}
	}
	return true
}

// eventOf is the index of the parameter that says what a callback is called for: the last that can carry a number, or
// several of them; -1 if there is none.
func eventOf(sig *types.Signature) int {
	for i := sig.Params().Len() - 1; i >= 0; i-- {
		t := sig.Params().At(i).Type()
		t = cmp.Or(isSlice(t), t)
		if _, generic := t.(*types.TypeParam); generic || carries(t) {
			return i
		}
	}
	return -1
}

// carries reports whether a value of a type can carry the number of an event.
func carries(t types.Type) bool {
	k := kindOf(t)
	return isAny(t) || isRef(t) || k == ident || k == count && wide.MatchString(t.Underlying().String())
}

// isRef reports whether a type is that of pointers to numbers of events.
func isRef(t types.Type) bool { return types.TypeString(t, nil) == "*int" }

var wide = regexp.MustCompile(`^u?int(32|64)?$`)

// numeral is the number that a value carries, and what must be done before.
func (a *adapter) numeral(t types.Type, expr string) (before, number string) {
	a.carried = t
	switch {
	case isAny(t):
		return "", expr + ".(int)"
	case isRef(t):
		return "", "*" + expr
	case kindOf(t) == ident:
		if types.TypeString(t, nil) != "string" {
			expr = "string(" + expr + ")"
		}
		return "n, _ := strconv.Atoi(" + expr + ")\n", "n"
	case kindOf(t) == count && !types.Identical(t, types.Typ[types.Int]):
		return "", "int(" + expr + ")"
	}
	return "", expr
}

// one hands a value to the suite.
func (a *adapter) one(t types.Type, expr string) string {
	before, number := a.numeral(t, expr)
	return before + a.c.made + "(" + number + ")"
}

// handed hands what a callback gets to the suite.
func (a *adapter) handed(t types.Type) string {
	elem := isSlice(t)
	if elem == nil && !(isAny(t) && (a.c.pkg == "batchtest" || a.isNamed(batches))) {
		return a.one(t, "v")
	}
	all, before := "v.([]int)", ""
	if elem != nil {
		inner, number := a.numeral(elem, "item")
		if all = "v"; number != "item" {
			all, before = "all", "var all []int\nfor _, item := range v {\n"+inner+"all = append(all, "+number+")\n}\n"
		}
	}
	a.batched = a.c.pkg == "debouncertest"
	if a.c.pkg == "batchtest" || a.batched {
		return before + a.c.made + "(" + all + ")"
	}
	return before + "newest := " + all + "; " + a.c.made + "(newest[len(newest)-1])"
}

// batches are names of what gathers events; its newest stands for them.
var batches = regexp.MustCompile(`(?i)batch|bundl|bulk`)

// isSlice is the type of the elements of a slice, nil if it is none.
func isSlice(t types.Type) types.Type {
	if s, ok := t.Underlying().(*types.Slice); ok {
		return s.Elem()
	}
	return nil
}

// pulls are methods that return a batch.
var pulls = []string{"Get", "Next", "Batch", "NextBatch", "Receive"}

// pull is a method that waits for a batch and returns it.
func (a *adapter) pull() (sig *types.Signature, name string) {
	for _, name := range pulls {
		sig := a.signature(name)
		if sig == nil || sig.Params().Len() > 0 || sig.Results().Len() == 0 {
			continue
		}
		if elem := isSlice(sig.Results().At(0).Type()); elem != nil && carries(elem) {
			return sig, name
		}
	}
	return nil, ""
}

// pulled hands over what a channel brings or a method returns, in a loop.
func (a *adapter) pulled() {
	if a.streams {
		a.lines = append(a.lines, "go func() {\nfor v := range "+instance+" {\n"+
			a.handed(a.subject.Underlying().(*types.Chan).Elem())+"\n}\n}()")
	}
	sig, name := a.pull()
	if sig == nil || a.c.pkg != "batchtest" {
		return
	}
	vars, over := "v", "v == nil"
	if sig.Results().Len() == 2 && kindOf(sig.Results().At(1).Type()) == failure {
		vars, over = "v, err", "err != nil"
	}
	a.lines = append(a.lines, fmt.Sprintf("go func() {\nfor {\n%s := %s.%s()\nif %s {\nreturn\n}\n%s\n}\n}()",
		vars, instance, name, over, a.handed(sig.Results().At(0).Type())))
	a.assumed.add("%s returns the batches, one after the other", name)
	a.looped = true
}

// isStream reports whether events come by one channel and leave by another.
func isStream(in, out types.Type) bool {
	from, ok := in.Underlying().(*types.Chan)
	to, also := out.Underlying().(*types.Chan)
	if !ok || !also || from.Dir() == types.SendOnly || to.Dir() == types.SendOnly {
		return false
	}
	left := cmp.Or(isSlice(to.Elem()), to.Elem())
	return types.Identical(from.Elem(), left) && carries(left)
}

// stream is the channel by which events come, if a parameter is one; "" if it is none.
func (a *adapter) stream(t types.Type) string {
	if a.streams || a.c.made == "" || a.c.pkg == "leakybuckettest" || !isStream(t, a.subject) {
		return ""
	}
	a.streams = true
	elem := t.Underlying().(*types.Chan).Elem()
	a.lines = append(a.lines, "in, turn := make(chan "+types.TypeString(elem, a.qualifier)+
		"), make(chan struct{}, 1) // in is not closed while somebody sends")
	a.put(a.c.must[0], "func(v int) {\nturn <- struct{}{}\ndefer func() { <-turn }()\nin <- "+a.payload(elem)+"\n}")
	a.put("Close", "func() {\nturn <- struct{}{}\nclose(in)\n<-turn\n}")
	return "in"
}

// idle is a function that does nothing and returns zero values, for a parameter that is a function; one that may return
// what it gets does so, as that may be a key.
func (a *adapter) idle(t types.Type) string {
	sig, ok := t.Underlying().(*types.Signature)
	if !ok {
		return ""
	}
	if from, to, _ := strings.Cut(plain(sig), " -> "); from == to && sig.Params().Len() == 1 && !sig.Variadic() {
		a.assumed.add("its %s may return what it gets", types.TypeString(t, a.short))
		of := types.TypeString(sig.Params().At(0).Type(), a.qualifier)
		return "func(v " + of + ") " + of + " { return v }"
	}
	a.assumed.add("its %s may do nothing", types.TypeString(t, a.short))
	return a.head(sig, -1) + " { return }"
}

// blocks reports whether it waits for something, so that a clock that is only read is not all its time.
func (a *adapter) blocks() bool {
	return a.c.made != "" && !a.has("Allow", "AllowAt") && len(a.requests()) == 0 ||
		a.c.pkg == "concurrencytest" || a.has("Wait", "WaitN")
}

// group is how what a limiter of goroutines runs is handed to it: Go with a function, and a
// context perhaps. "" if it is none.
func (a *adapter) group() string {
	sig := a.signature("Go")
	if sig == nil || sig.Variadic() {
		return ""
	}
	var args []string
	for v := range sig.Params().Variables() {
		switch t := v.Type(); {
		case kindOf(t) == context:
			args = append(args, "ctx")
		case isWork(t):
			args = append(args, work0(t, "<-done"))
		default:
			return ""
		}
	}
	return instance + ".Go(" + strings.Join(args, ", ") + ")"
}

// fillGroup sets what a limiter of goroutines can do: a slot is taken by a function that runs
// until it is given back.
func (a *adapter) fillGroup(used map[string]bool) {
	call := a.group()
	if call == "" {
		return
	}
	body := call
	if results := kindsOf(a.signature("Go").Results()); len(results) == 1 && results[0] == boolean {
		body = fmt.Sprintf("if !%s {\nreturn nil, errors.New(\"not started\")\n}", call)
	}
	ctx := map[bool]string{true: "ctx", false: "_"}[strings.Contains(call, "(ctx")]
	a.put("Take", fmt.Sprintf("func(%s context.Context, _ int) (func(), error) {\ndone := make(chan struct{})\n%s\n"+
		"return func() { close(done) }, nil\n}", ctx, body))
	a.declare("OneAtATime", "true")
	used["Go"], used["Wait"] = true, true // which waits for all
}

// serve sets Do to what a middleware does with a handler.
func (a *adapter) serve(wrap string) {
	a.put("Do", `func(ctx context.Context, run func()) error {
served := false
next := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served = true; run() })
`+wrap+`.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil).WithContext(ctx))
if !served {
return errors.New("rejected")
}
return nil
}`)
	a.declare("OneAtATime", "true")
	a.declare("ContextError", "concurrencytest.ErrorOfOwn") // which is that of Do
}
