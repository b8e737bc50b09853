package main

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// returns are the results of operations.
var returns = map[kind]string{
	boolean: " bool", failure: " error", perSec: " float64", release: " (func(), error)",
	attempt: " (func(), bool)", booking: " limitertest.Reservation", grant: " quotatest.Answer",
}

// conversions are the bodies that make what an operation returns of what a method does, where that is not among its
// results. Those without a field are of any.
var conversions = []struct {
	field string
	want  kind
	have  []kind
	body  string
}{
	{"Take", boolean, nil, "%s\nreturn true"}, // which waits for its turn
	{"Take", boolean, []kind{instant}, "%s\nreturn true"},
	{"Do", failure, nil, "%s\nreturn nil"},
	{"Put", boolean, nil, "%s\nreturn true"},
	{"Put", boolean, []kind{none, failure}, "_, err := %s\nreturn err == nil"},
	{"Allow", boolean, []kind{count}, "return %s == 1"}, // of several it may take some
	{"", boolean, []kind{failure}, "return %s == nil"},
	{"", perSec, []kind{count}, "return float64(%s)"},
}

// result is the body of an adapter: the call, and what becomes of its results. Same says
// that they are those of the operation.
func (a *adapter) result(o operation, sig *types.Signature, fn, call string) (body string, same bool) {
	kinds := kindsOf(sig.Results())
	at, not := slices.Index(kinds, o.result), ""
	if at >= 0 && o.result == boolean {
		denied, told := a.denies(strings.TrimPrefix(fn, instance+"."), sig.Results().At(at).Name())
		if !told {
			return "", false
		}
		not = map[bool]string{true: "!"}[denied]
	}
	switch {
	case a.c.pkg == "limitertest" && fn == instance+".Take" && !a.isPatient(sig, o.field == "Wait"):
		return "", false
	case o.result == none && o.field == "Resize" && len(kinds) == 0:
		return "if n == 0 {\npanic(\"it may mean something else\")\n}\n" + call, false
	case a.keyed() && strings.HasPrefix(o.field, "Set"): // of new keys only, perhaps
		return "", false
	case slices.Contains(kinds, count) && (o.field == "Lock" || o.field == "Wait"): // how many it got
		return "", false
	case o.result == none:
		return call, len(kinds) == 0
	case o.result == release:
		return a.released(sig, call), false
	case o.result == attempt:
		return attempted.Replace(a.released(sig, call)), false
	case o.result == grant:
		return a.granting(o, sig, strings.TrimPrefix(fn, instance+"."), call), false
	case o.result == booking:
		return a.booked(o, sig, call), false
	case at < 0:
		return a.conversion(o, sig, fn, call), false
	case len(kinds) > 1:
		vars := slices.Repeat([]string{"_"}, len(kinds))
		vars[at] = "r"
		return fmt.Sprintf("%s := %s; return %sr", strings.Join(vars, ", "), call, not), false
	case o.result == perSec && types.TypeString(sig.Results().At(0).Type(), nil) != "float64":
		return "return float64(" + call + ")", false
	case not != "":
		return "return !" + call, false
	}
	return "return " + call, true
}

// conversion is the body where a method does not return what an operation does, "" if there is none.
func (a *adapter) conversion(o operation, sig *types.Signature, fn, call string) string {
	kinds := kindsOf(sig.Results())
	if part := granted(sig); o.result == boolean && part != "" {
		if len(kinds) == 1 {
			return "return " + call + part
		}
		others := strings.Repeat(", _", len(kinds)-2)
		return "r" + others + ", err := " + call + "\nreturn err == nil && r" + part
	}
	for _, c := range conversions {
		if (c.field == o.field || c.field == "") && c.want == o.result && slices.Equal(c.have, kinds) {
			if c.want == boolean && slices.Equal(c.have, []kind{count}) && !a.set["AllowN"] {
				a.asked.add("set AllowN if %s takes all or nothing", fn)
			}
			return fmt.Sprintf(c.body, call)
		}
	}
	if o.result != failure || !slices.Equal(kinds, []kind{boolean}) {
		return ""
	}
	refused := map[bool]string{false: "!"}[refuses.MatchString(sig.Results().At(0).Name())]
	return "if " + refused + call + " { return errors.New(\"rejected\") }\nreturn nil"
}

// granted is the part of the first result that says that a request was granted, "" if there is none.
func granted(sig *types.Signature) string {
	n := sig.Results().Len()
	if n == 0 || n > 1 && kindOf(sig.Results().At(n-1).Type()) != failure {
		return ""
	}
	for _, m := range members(sig.Results().At(0).Type()) {
		if kindOf(m.of) == boolean && grants.MatchString(m.name) {
			return m.expr
		}
	}
	return ""
}

// giveBack is the call that gives back what is held by a value of a type, "" if there is none.
func (a *adapter) giveBack(t types.Type, value string) string {
	if sig, ok := t.Underlying().(*types.Signature); ok && sig.Params().Len() == 0 {
		return value + "()"
	}
	for _, name := range gives {
		if sig := a.signatureOf(t, name); sig != nil && sig.Params().Len() == 0 {
			return value + "." + name + "()"
		}
	}
	return ""
}

// attempted makes what takes a slot or returns an error answer whether it has one.
var attempted = strings.NewReplacer(
	"nil, errors.New(\"rejected\")", "nil, false", "return nil, err\n", "return nil, false\n", "}, nil", "}, true",
)

// released is the body of an adapter of what hands out how it is given back.
func (a *adapter) released(sig *types.Signature, call string) string {
	kinds := kindsOf(sig.Results())
	if len(kinds) == 0 || len(kinds) > 2 {
		return ""
	}
	back := a.giveBack(sig.Results().At(0).Type(), "r")
	if back == "" {
		return ""
	}
	give := "return func() { " + back + " }, nil"
	switch {
	case len(kinds) == 1:
		return "r := " + call + "\n" + give
	case kinds[1] == failure:
		return "r, err := " + call + "\nif err != nil {\nreturn nil, err\n}\n" + give
	case kinds[1] == boolean:
		return "r, ok := " + call + "\nif !ok {\nreturn nil, errors.New(\"rejected\")\n}\n" + give
	}
	return ""
}

// booked is the body of an adapter of what takes tokens in advance and returns the delay, or an object that has it; ""
// if it returns neither.
func (a *adapter) booked(o operation, sig *types.Signature, call string) string {
	const refused = " {\nreturn limitertest.Reservation{OK: func() bool { return false }}\n}\n"
	delay, param := "Delay: ", ""
	if o.field == "ReserveAt" {
		delay, param = "DelayFrom: ", "time.Time"
	}
	var vars []string
	fields, refuse := "", ""
	for v := range sig.Results().Variables() {
		name := "r"
		switch t := v.Type(); kindOf(t) {
		case failure:
			name, refuse = "err", "if err != nil"+refused
		case boolean:
			name, refuse = "ok", "if !ok"+refused
		case duration:
			fields = delay + "func(" + param + ") time.Duration { return r },\n"
		default:
			fields = a.bookedBy(t)
			if _, ref := t.Underlying().(*types.Pointer); ref && !strings.Contains(fields, "OK: ") {
				refuse = "if r == nil" + refused
			}
		}
		vars = append(vars, name)
	}
	single := !slices.Contains(kindsOf(sig.Params()), count)
	if !strings.Contains(fields, delay) || single && a.several {
		return ""
	}
	return strings.Join(vars, ", ") + " := " + call + "\n" + refuse + "return limitertest.Reservation{\n" + fields + "}"
}

// bookedBy are the fields of a reservation that an object r of a type fills.
func (a *adapter) bookedBy(t types.Type) (fields string) {
	for _, m := range members(t) {
		if kindOf(m.of) == boolean && grants.MatchString(m.name) && !strings.Contains(fields, "OK: ") {
			fields += "OK: func() bool { return r" + m.expr + " },\n"
		} else if kindOf(m.of) == duration && m.name == "Delay" {
			fields += "Delay: func() time.Duration { return r" + m.expr + " },\n"
		}
	}
	for _, want := range []string{"DelayFrom time.Time -> time.Duration", "Cancel  -> ", "CancelAt time.Time -> "} {
		name, signature, _ := strings.Cut(want, " ")
		switch sig := a.signatureOf(t, name); {
		case plain(sig) == signature:
			fields += name + ": r." + name + ",\n"
		case name == "Cancel" && strings.HasPrefix(plain(sig), signature):
			fields += "Cancel: func() { r.Cancel() },\n"
		}
	}
	return fields
}
