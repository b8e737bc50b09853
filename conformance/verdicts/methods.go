package main

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// fill sets the fields of Funcs from the methods of the subject.
func (a *adapter) fill() {
	if sig, ok := a.subject.Underlying().(*types.Signature); ok {
		if wrap := a.middleware(); wrap != "" && a.c.pkg == "concurrencytest" {
			a.serve(wrap)
			return
		}
		a.function(sig)
		return
	}
	used := map[string]bool{"Run": a.looped, "Init": a.maker == nil}
	if a.c.pkg == "concurrencytest" {
		a.fillGroup(used)
	}
	for _, o := range a.c.operations {
		for _, name := range o.methods {
			m := a.method(name)
			if m == nil || used[name] || a.set[o.field] {
				continue
			}
			if expr := a.call(o, m.Type().(*types.Signature), instance+"."+name); expr != "" {
				a.put(o.field, expr)
				used[name] = true
			}
		}
		if !a.set[o.field] {
			a.fields = append(a.fields, fmt.Sprintf("// %s: nothing fits.", o.field))
		}
	}
	for _, m := range a.left(used) {
		a.note("not used: %s", m)
	}
	if a.set["AllowAt"] && !a.set["Allow"] && !a.set["AllowN"] && !a.set["Wait"] && !a.set["WaitN"] {
		a.time = "Explicit"
	} else if a.set["AllowAt"] {
		a.note("AllowAt is what is judged with Time: Explicit")
	}
	if !slices.ContainsFunc(a.c.must, func(field string) bool { return a.set[field] }) {
		a.note("one of these must be set: %s", strings.Join(a.c.must, ", "))
	}
}

// left are the methods that stand for no operation.
func (a *adapter) left(used map[string]bool) []string {
	var out []string
	subject := a.subject
	if _, ok := subject.(*types.Pointer); !ok && !types.IsInterface(subject) {
		subject = types.NewPointer(subject)
	}
	set := types.NewMethodSet(subject)
	for i := range set.Len() {
		f := set.At(i).Obj()
		if f.Exported() && !used[f.Name()] {
			out = append(out, f.Name()+strings.TrimPrefix(types.TypeString(f.Type(), a.short), "func"))
		}
	}
	return out
}

// function is for constructors that return a function: it is the event.
func (a *adapter) function(sig *types.Signature) {
	for _, o := range a.c.operations {
		if o.field == "Call" || o.field == "Allow" && sig.Results().Len() == 1 {
			if expr := a.call(o, sig, instance); expr != "" {
				a.put(o.field, expr)
				return
			}
		}
	}
	a.note("what it returns could not be told: %s", types.TypeString(sig, a.short))
}

// names of the parameters of an operation, by kind.
var paramNames = map[kind]string{payload: "v", count: "n", context: "ctx", instant: "at"}

// goTypes are the types of the parameters of an operation, by kind.
var goTypes = map[kind]string{payload: "int", count: "int", context: "context.Context", instant: "time.Time"}

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

// call is an operation by means of a function, "" if it cannot be.
func (a *adapter) call(o operation, sig *types.Signature, fn string) string {
	var have, args []string
	left := needs(slices.Clone(o.params))
	for i := range sig.Params().Len() {
		if sig.Variadic() && i == sig.Params().Len()-1 {
			break
		}
		arg := a.argument(sig.Params().At(i).Type(), &left)
		if arg == "" {
			return ""
		}
		args = append(args, arg)
	}
	for _, k := range o.params {
		name := paramNames[k]
		if slices.Contains(left, k) { // the method knows nothing of it
			switch {
			case k == instant, k == context && o.field == "WaitN",
				k == count && (o.field == "AllowN" || o.field == "AllowAt"):
				return ""
			}
			name = "_"
		}
		have = append(have, name+" "+goTypes[k])
	}
	body, same := a.result(o, sig, fn, fn+"("+strings.Join(args, ", ")+")")
	switch {
	case body == "":
		return ""
	case same && fits(o, sig):
		return fn
	}
	return fmt.Sprintf("func(%s)%s { %s%s }", strings.Join(have, ", "), a.returns(o), a.guard(o, sig), body)
}

// guard refuses negative numbers for a function that has none.
func (a *adapter) guard(o operation, sig *types.Signature) string {
	for v := range sig.Params().Variables() {
		if slices.Contains(o.params, count) && unsigned(v.Type()) {
			returned := map[kind]string{boolean: " false", failure: ` errors.New("negative")`}[o.result]
			if o.result == failure {
				a.use("errors", "errors")
			}
			return "if n < 0 { return" + returned + " }\n"
		}
	}
	return ""
}

// argument is what a parameter gets, "" if that cannot be told.
func (a *adapter) argument(t types.Type, left *needs) string {
	k := kindOf(t)
	switch {
	case k == perSec && left.take(count): // tokens may be fractions
		return a.fraction(t, "n")
	case k == context && left.take(context):
		return "ctx"
	case k == instant && left.take(instant):
		return "at"
	case k == context:
		return a.use("context", "context") + ".Background()"
	case k == count && left.take(count):
		return a.converted(t, "n")
	case (k == count || isAny(t)) && left.take(payload):
		return a.payload(t)
	case k == count:
		return a.converted(t, "1")
	case k == ident:
		return `"key"`
	case k == duration && len(a.c.durations) > 0:
		return a.c.durations[0]
	case k == work && a.c.made != "" && left.take(payload):
		return "func() { " + a.c.made + "(v) }"
	}
	return ""
}

// fits reports whether a function has the parameters of an operation.
func fits(o operation, sig *types.Signature) bool {
	var got, want []string
	for i := range sig.Params().Len() {
		got = append(got, types.TypeString(sig.Params().At(i).Type(), nil))
	}
	for _, k := range o.params {
		want = append(want, goTypes[k])
	}
	return !sig.Variadic() && slices.Equal(got, want)
}

// payload is the number of an event as a type.
func (a *adapter) payload(t types.Type) string {
	if isAny(t) || types.Identical(t, types.Typ[types.Int]) {
		return "v"
	}
	return types.TypeString(t, a.qualifier) + "(v)"
}

// returns is the result of an operation.
func (a *adapter) returns(o operation) string {
	if slices.Contains(o.params, context) {
		a.use("context", "context")
	}
	if slices.Contains(o.params, instant) {
		a.use("time", "time")
	}
	return map[kind]string{boolean: " bool", failure: " error", perSec: " float64"}[o.result]
}

// result is the body of an adapter: the call, and what becomes of its results. Same says
// that they are those of the operation.
func (a *adapter) result(o operation, sig *types.Signature, fn, call string) (body string, same bool) {
	kinds := kindsOf(sig.Results())
	at := slices.Index(kinds, o.result)
	blanks := slices.Repeat([]string{"_"}, len(kinds))
	switch {
	case o.result == none:
		return call, len(kinds) == 0
	case at < 0 && o.result == boolean && slices.Equal(kinds, []kind{failure}):
		return "return " + call + " == nil", false
	case at < 0 && o.result == boolean && slices.Equal(kinds, []kind{count}) && o.field == "AllowN":
		return "return int(" + call + ") == n", false
	case at < 0 && o.result == failure && slices.Equal(kinds, []kind{boolean}):
		a.use("errors", "errors")
		return "if !" + call + " { return errors.New(\"rejected\") }\nreturn nil", false
	case at < 0 && o.result == perSec && slices.Equal(kinds, []kind{count}):
		return "return float64(" + call + ")", false
	case at < 0:
		return "", false
	case len(kinds) == 1 && o.result == perSec && types.TypeString(sig.Results().At(0).Type(), nil) != "float64":
		return "return float64(" + call + ")", false
	case len(kinds) == 1 && o.result == boolean && refuses.MatchString(fn):
		return "return !" + call, false
	case len(kinds) == 1:
		return "return " + call, true
	}
	blanks[at] = "r"
	return fmt.Sprintf("%s := %s; return r", strings.Join(blanks, ", "), call), false
}
