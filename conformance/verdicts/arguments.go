package main

import (
	"fmt"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// arguments are those of a constructor, and whether all could be told.
func (a *adapter) arguments(sig *types.Signature) (list string, given bool) {
	g := a.giver(sig)
	var out []string
	given = true
	for i := range sig.Params().Len() {
		v := sig.Params().At(i)
		if sig.Variadic() && i == sig.Params().Len()-1 {
			more := a.clockOption()
			if elem := v.Type().(*types.Slice).Elem(); more == "" && kindOf(elem) == work {
				more = a.callback(elem)
			}
			if more != "" {
				out = append(out, more)
			}
			break
		}
		expr := g.simple(v.Name(), v.Type())
		if expr == "" {
			expr = a.special(v.Type())
		}
		if expr == "" {
			given, expr = false, missing(v)+" /* "+types.TypeString(v.Type(), a.short)+" */"
		}
		out = append(out, expr)
	}
	return strings.Join(out, ", "), given
}

// missing is a name that is not declared, so that what could not be told is Go and does not compile.
func missing(v *types.Var) string {
	if v.Name() == "" || v.Name() == "_" || reserved[v.Name()] != "" {
		return "missing"
	}
	return v.Name()
}

// fraction is a whole number as a float.
func (a *adapter) fraction(t types.Type, expr string) string {
	if types.Identical(t, types.Typ[types.Float64]) { // which a whole number is not
		return "float64(" + expr + ")"
	}
	return a.converted(t, expr)
}

// giver hands out what a configuration has.
type giver struct {
	a                        *adapter
	durations, counts, rates []string
}

// Names of parameters.
var (
	bursts    = regexp.MustCompile(`(?i)burst|capacity|bucket`)
	intervals = regexp.MustCompile(`(?i)interval|every|fill`)
)

// giver knows what a rate is to a constructor: by seconds, so many in a period, or one in each
// interval.
func (a *adapter) giver(sig *types.Signature) *giver {
	g := &giver{a, a.c.durations, a.c.counts, a.c.rates}
	if a.c.pkg != "limitertest" || slices.Contains(kindsOf(sig.Params()), perSec) {
		return g
	}
	var numbers, spans []string
	for v := range sig.Params().Variables() {
		switch kindOf(v.Type()) {
		case count:
			numbers = append(numbers, v.Name())
		case duration:
			spans = append(spans, v.Name())
		}
	}
	single := len(numbers) == 1 && len(spans) > 0
	switch {
	case single && (bursts.MatchString(numbers[0]) || intervals.MatchString(spans[0])):
		g.durations = []string{"cfg.Rate.Interval()"} // one token in each interval
	default:
		g.counts = append([]string{"cfg.Rate.Events"}, g.counts...)
	}
	return g
}

// next takes the first of a list.
func next(list *[]string, fallback string) string {
	if len(*list) == 0 {
		return fallback
	}
	first := (*list)[0]
	*list = (*list)[1:]
	return first
}

// simple is the argument for a parameter of a usual kind, "" if it is none.
func (g *giver) simple(name string, t types.Type) string {
	switch kindOf(t) {
	case duration:
		return g.a.converted(t, next(&g.durations, "0"))
	case count:
		expr := next(&g.counts, "1")
		if unsigned(t) && strings.HasPrefix(expr, "cfg.") {
			g.a.lines = append(g.a.lines, "if "+expr+" < 0 {\npanic(\"unsigned\")\n}")
		}
		return g.a.converted(t, expr)
	case perSec:
		if bursts.MatchString(name) {
			return g.a.fraction(t, next(&g.counts, "1"))
		}
		return g.a.converted(t, next(&g.rates, "1"))
	case context:
		return g.a.use("context", "context") + ".Background()"
	case ident:
		return `"key"`
	case instant:
		g.a.use("time", "time")
		return "time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)"
	}
	return ""
}

// special is the argument for a parameter of another kind, "" if it cannot be told.
func (a *adapter) special(t types.Type) string {
	if expr := a.callback(t); expr != "" {
		return expr
	}
	switch name := types.TypeString(t, nil); {
	case name == "testing.TB" || name == "*testing.T":
		return "t"
	case isAny(t):
		return "0"
	}
	if i, ok := t.Underlying().(*types.Interface); ok && hasMethod(i, "Helper") { // of a test
		return "t"
	}
	if expr := a.clock(t); expr != "" {
		return expr
	}
	if expr := a.made(t); expr != "" {
		return expr
	}
	return a.options(t)
}

// made is what a function of the package makes that fits an interface, or does what a parameter is
// to do; "" if there is none.
func (a *adapter) made(t types.Type) string {
	want := types.NewTuple(types.NewVar(token.NoPos, nil, "", t))
	sig, isFunc := t.Underlying().(*types.Signature)
	if isFunc && sig.Params().Len() == 0 {
		want = sig.Results()
	} else if !types.IsInterface(t) {
		return ""
	}
	scope := a.pkg.types.Scope()
	for _, name := range scope.Names() {
		f, ok := scope.Lookup(name).(*types.Func)
		if !ok || f == a.maker || !f.Exported() || !strings.HasPrefix(name, "New") || want.Len() == 0 {
			continue
		}
		makes := f.Type().(*types.Signature)
		if makes.Params().Len() > 0 || makes.TypeParams().Len() > 0 || !assignable(makes.Results(), want) {
			continue
		}
		call := a.use(a.pkg.ImportPath, a.pkg.Name) + "." + name + "()"
		a.assume("%s is the %s to have", name, types.TypeString(t, a.short))
		if !isFunc {
			return call
		}
		return "func() " + types.TypeString(want, a.qualifier) + " { return " + call + " }"
	}
	return ""
}

// assignable reports whether results can be returned as others.
func assignable(from, to *types.Tuple) bool {
	if from.Len() != to.Len() {
		return false
	}
	for i := range from.Len() {
		if !types.AssignableTo(from.At(i).Type(), to.At(i).Type()) {
			return false
		}
	}
	return true
}

// unsigned reports whether a type has no negative numbers.
func unsigned(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsUnsigned != 0
}

// options is a literal of a struct of options, with the fields whose names are known; nil for
// one in which no name is, if it is a pointer.
func (a *adapter) options(t types.Type) string {
	elem, ref := t, ""
	if p, ok := t.(*types.Pointer); ok {
		elem, ref = p.Elem(), "&"
	}
	s, ok := elem.Underlying().(*types.Struct)
	if !ok || named(elem) == nil {
		return ""
	}
	var parts []string
	for _, x := range a.fitting(s) {
		parts = append(parts, x.name+": "+x.expr)
	}
	name := types.TypeString(elem, a.short)
	switch {
	case len(parts) > 0:
		a.assume("%s has no other field that matters than those that are set", name)
		return ref + types.TypeString(elem, a.qualifier) + "{" + strings.Join(parts, ", ") + "}"
	case ref != "":
		a.assume("nil stands for the defaults of %s", name)
		return "nil"
	}
	return ""
}

// setting is something that can be set, and to what.
type setting struct{ name, expr string }

// usual are the names of what a configuration has.
var usual = map[kind]*regexp.Regexp{
	duration: regexp.MustCompile(`(?i)^(interval|window|period|per|wait|delay|delaythreshold|timeout|duration)$`),
	count:    regexp.MustCompile(`(?i)^(limit|max|tokens|burst|maxburst|events|requests|capacity|size|backlog)$`),
	perSec:   regexp.MustCompile(`(?i)^(rate|limit|max|rps|qps|persecond)$`),
}

// fitting are the fields of a struct that a configuration can fill.
func (a *adapter) fitting(s *types.Struct) []setting {
	g := a.giver(types.NewSignatureType(nil, nil, nil, nil, nil, false))
	if len(g.rates) > 0 { // a struct has its rate in fields
		g.counts = a.c.counts
	}
	var out []setting
	for f := range s.Fields() {
		k := kindOf(f.Type())
		if re := usual[k]; re == nil || !f.Exported() || !re.MatchString(f.Name()) {
			continue
		}
		if list := map[kind][]string{duration: g.durations, count: g.counts, perSec: g.rates}[k]; len(list) > 0 {
			out = append(out, setting{f.Name(), g.simple(f.Name(), f.Type())})
		}
	}
	return out
}

// settings are the fields and the methods of the subject that set what its constructor was not
// given.
func (a *adapter) settings(sig *types.Signature) []setting {
	var has []kind
	if sig != nil {
		has = kindsOf(sig.Params())
	}
	t := a.subject
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	var out []setting
	if s, ok := t.Underlying().(*types.Struct); ok && !slices.Contains(has, duration) {
		for _, x := range a.fitting(s) {
			out = append(out, setting{x.name + " = ", x.expr})
		}
	}
	if slices.Contains(has, count) || slices.Contains(has, perSec) {
		return out
	}
	for name, exprs := range map[string][]string{"SetMax": a.c.rates, "SetRate": a.c.rates, "SetBurst": a.c.counts} {
		m := a.signature(name)
		if m == nil || len(exprs) == 0 || m.Params().Len() != 1 {
			continue
		}
		if k := kindOf(m.Params().At(0).Type()); k == count || k == perSec {
			out = append(out, setting{name, a.converted(m.Params().At(0).Type(), exprs[len(exprs)-1])})
		}
	}
	slices.SortFunc(out, func(x, y setting) int { return strings.Compare(y.name, x.name) })
	return out
}

// setFurther sets what the constructor was not given.
func (a *adapter) setFurther() {
	for _, x := range a.spare {
		line := instance + "." + x.name + "(" + x.expr + ")"
		if strings.HasSuffix(x.name, " = ") {
			line = instance + "." + x.name + x.expr
		}
		a.lines = append(a.lines, line)
	}
}

// runs starts the loop of a thing that has one, and gets its callback there.
func (a *adapter) runs() {
	sig := a.signature("Run")
	if sig == nil || a.c.made == "" || sig.Variadic() ||
		plain(sig) != "context.Context,func(ctx context.Context) error -> error" {
		return
	}
	a.use("context", "context")
	a.lines = append(a.lines, "go func() {\n_ = "+instance+".Run(context.Background(), func(context.Context) error {\n"+
		a.c.made+"(0)\nreturn nil\n})\n}()")
	a.assume("Run is its loop, and runs the callback, without a payload: declare Payload: NoPayload")
	a.looped = true
}

// clock is the clock of the suite, if a parameter is one.
func (a *adapter) clock(t types.Type) string {
	if i, ok := t.Underlying().(*types.Interface); !ok || !hasMethod(i, "Now") {
		return ""
	}
	a.time = "Injected"
	if n := named(t); n == nil || n.Pkg() == nil || n.Pkg().Path() != "github.com/jonboulle/clockwork" {
		a.assume("env.Clock, which is clockwork's, fits %s: if not, adapt it", types.TypeString(t, a.short))
	}
	return "env.Clock"
}

func hasMethod(i *types.Interface, name string) bool {
	for k := range i.NumMethods() {
		if i.Method(k).Name() == name {
			return true
		}
	}
	return false
}

// clockOption is the option that sets the clock, if the package has one.
func (a *adapter) clockOption() string {
	f, ok := a.pkg.types.Scope().Lookup("WithClock").(*types.Func)
	if !ok {
		return ""
	}
	sig := f.Type().(*types.Signature)
	if sig.Params().Len() != 1 || a.clock(sig.Params().At(0).Type()) == "" {
		return ""
	}
	a.assume("WithClock sets the clock")
	return a.use(a.pkg.ImportPath, a.pkg.Name) + ".WithClock(env.Clock)"
}

// callback is what the constructor is to call, if a parameter is a function.
func (a *adapter) callback(t types.Type) string {
	sig, ok := t.Underlying().(*types.Signature)
	if !ok || a.c.made == "" || sig.Params().Len() > 1 {
		return ""
	}
	body := a.c.made + "(0)"
	param := ""
	if sig.Params().Len() == 1 {
		switch p := sig.Params().At(0).Type(); {
		case types.Identical(p, types.Typ[types.Int]):
			param, body = "v int", a.c.made+"(v)"
		case isAny(p) && batches.MatchString(a.pkg.ImportPath):
			param, body = "v any", "all := v.([]int); "+a.c.made+"(all[len(all)-1])"
		case isAny(p):
			param, body = "v any", a.c.made+"(v.(int))"
		case isSlice(p) != nil && isAny(isSlice(p)):
			param, body = "all []any", a.c.made+"(all[len(all)-1].(int))"
		case isSlice(p) != nil && types.Identical(isSlice(p), types.Typ[types.Int]):
			param, body = "all []int", a.c.made+"(all[len(all)-1])"
		default:
			param = "_ " + types.TypeString(p, a.qualifier)
			a.note("the callback gets a %s: say which event it stands for", types.TypeString(p, a.short))
		}
	} else {
		a.assume("its callback takes no payload: declare Payload: NoPayload")
	}
	switch {
	case sig.Results().Len() == 0:
		return fmt.Sprintf("func(%s) { %s }", param, body)
	case sig.Results().Len() == 1 && kindOf(sig.Results().At(0).Type()) == failure:
		return fmt.Sprintf("func(%s) error { %s; return nil }", param, body)
	}
	return ""
}

// batches are names of what gathers events; its newest stands for them.
var batches = regexp.MustCompile(`(?i)batch|bundl`)

// isSlice is the type of the elements of a slice, nil if it is none.
func isSlice(t types.Type) types.Type {
	if s, ok := t.Underlying().(*types.Slice); ok {
		return s.Elem()
	}
	return nil
}

func isAny(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && i.Empty()
}

// converted is an expression as a type.
func (a *adapter) converted(t types.Type, expr string) string {
	plainly := map[kind]string{duration: "time.Duration", count: "int", perSec: "float64"}[kindOf(t)]
	if name := types.TypeString(t, a.short); name != plainly {
		return types.TypeString(t, a.qualifier) + "(" + expr + ")"
	}
	return expr
}

// kindsOf are the kinds of parameters or results.
func kindsOf(t *types.Tuple) []kind {
	var out []kind
	for i := range t.Len() {
		out = append(out, kindOf(t.At(i).Type()))
	}
	return out
}

// kindOf says what a type is to an adapter.
func kindOf(t types.Type) kind {
	switch types.TypeString(t, nil) {
	case "time.Duration":
		return duration
	case "time.Time":
		return instant
	case "context.Context":
		return context
	case "error":
		return failure
	}
	if b, ok := t.Underlying().(*types.Basic); ok {
		switch {
		case b.Info()&types.IsInteger != 0:
			return count
		case b.Info()&types.IsFloat != 0:
			return perSec
		case b.Info()&types.IsBoolean != 0:
			return boolean
		case b.Info()&types.IsString != 0:
			return ident
		}
	}
	if sig, ok := t.Underlying().(*types.Signature); ok && sig.Params().Len() == 0 && sig.Results().Len() == 0 {
		return work
	}
	return none
}
