package main

import (
	"go/types"
	"slices"
	"strings"
)

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
	a.useTime(fields)
	return strings.Join(vars, ", ") + " := " + call + "\n" + refuse + "return limitertest.Reservation{\n" + fields + "}"
}

// bookedBy are the fields of a reservation that an object r of a type fills.
func (a *adapter) bookedBy(t types.Type) (fields string) {
	for _, m := range members(t) {
		if m.kind == boolean && grants.MatchString(m.name) && !strings.Contains(fields, "OK: ") {
			fields += "OK: func() bool { return r" + m.expr + " },\n"
		} else if m.kind == duration && m.name == "Delay" {
			fields += "Delay: func() time.Duration { return r" + m.expr + " },\n"
		}
	}
	for _, want := range []string{"DelayFrom time.Time -> time.Duration", "Cancel  -> ", "CancelAt time.Time -> "} {
		name, signature, _ := strings.Cut(want, " ")
		obj, _, _ := types.LookupFieldOrMethod(t, true, a.pkg.types, name)
		if f, ok := obj.(*types.Func); ok && plain(f.Type().(*types.Signature)) == signature {
			fields += name + ": r." + name + ",\n"
		} else if ok && name == "Cancel" && strings.HasPrefix(plain(f.Type().(*types.Signature)), signature) {
			fields += "Cancel: func() { r.Cancel() },\n"
		}
	}
	return fields
}
