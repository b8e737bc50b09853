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
			out = append(out, g.further(v.Type().(*types.Slice).Elem())...)
			break
		}
		expr := g.simple(v.Name(), v.Type())
		if expr == "" {
			expr = a.clock(v.Name(), v.Type())
		}
		if expr == "" {
			expr = a.special(v.Type())
		}
		if expr == "" { // what it writes compiles all the same
			given, expr = false, "*new("+types.TypeString(v.Type(), a.qualifier)+")"
			a.lack("say which %s it is made with", types.TypeString(v.Type(), a.short))
		}
		out = append(out, expr)
	}
	return strings.Join(out, ", "), given
}

// fraction is a whole number as a float.
func (a *adapter) fraction(t types.Type, expr string) string {
	if types.Identical(t, types.Typ[types.Float64]) { // which a whole number is not
		return "float64(" + expr + ")"
	}
	return a.converted(t, expr)
}

// isBurst reports whether a parameter is for a burst, which not every capacity is.
func isBurst(name string) bool { return strings.Contains(strings.ToLower(name), "burst") }

// giver hands out what a configuration has.
type giver struct {
	a                        *adapter
	durations, counts, rates []string
	timeless                 bool // no period is among the parameters
}

// Names of parameters.
var (
	bursts    = regexp.MustCompile(`(?i)burst|capacity|bucket`)
	intervals = regexp.MustCompile(`(?i)every|fill|^interval`)
	perSecond = regexp.MustCompile(`(?i)^(rate|limit|ratelimit|ratepersec(ond)?|persecond|[rqt]ps)$`)
)

// wellKnown is an argument whose name says what it is.
type wellKnown struct {
	kind  kind
	names *regexp.Regexp
	expr  string
}

// wellNamed are arguments that the names of parameters tell, whatever is left of the configuration.
var wellNamed = []wellKnown{
	{duration, regexp.MustCompile(`(?i)ttl|expir|idle|clean|sweep|purge`), "time.Hour"},
	{count, regexp.MustCompile(`(?i)bytes|memory`), "1 << 30"},
	{count, regexp.MustCompile(`(?i)^(room|shards|max_?keys)$`), "1024"},
	{ident, regexp.MustCompile(``), `"key"`},
}

// giver knows what a rate is to a constructor: by seconds, so many in a period, or one in each
// interval.
func (a *adapter) giver(sig *types.Signature) *giver {
	g := &giver{a: a, durations: a.c.durations, counts: a.c.counts, rates: a.c.rates}
	var numbers, spans []string
	for v := range sig.Params().Variables() {
		switch kindOf(v.Type()) {
		case count:
			numbers = append(numbers, v.Name())
		case duration:
			spans = append(spans, v.Name())
		}
	}
	g.timeless = len(spans) == 0 && !a.hasPeriod(sig)
	rated := slices.Contains(kindsOf(sig.Params()), perSec)
	single := len(numbers)-len(g.keyed(sig)) == 1 && len(spans) > 0
	if a.kind == "GCRA" {
		g.counts = append(slices.Clone(g.counts), "cfg.Burst")
	}
	switch {
	case a.kind == "GCRA" && single:
		g.durations = []string{"cfg.Window / time.Duration(max(1, cfg.Limit))"}
		g.take("cfg.Limit")
		a.use("time", "time")
	case a.kind == "GCRA" && rated:
		g.take("cfg.Limit")
	case a.c.pkg != "limitertest" || rated:
	case single && (slices.ContainsFunc(numbers, bursts.MatchString) || intervals.MatchString(spans[0])):
		g.durations = []string{"cfg.Rate.Interval()"} // one token in each interval
		a.useTime("time.Microsecond")
		a.refuse("!cfg.Rate.Exact() && cfg.Rate.Interval() < time.Microsecond", "its interval is rounded too much")
	case single: // that many at once, and again when the period is over
		g.durations = []string{"period"}
		a.lines = append(a.lines, "period, ok := cfg.Rate.Period(cfg.Burst)\nif !ok {\npanic(\"no such period\")\n}")
	default:
		g.counts = append([]string{"cfg.Rate.Events"}, g.counts...)
	}
	return g
}

// hasPeriod reports whether an option sets a duration.
func (a *adapter) hasPeriod(sig *types.Signature) bool {
	if !sig.Variadic() {
		return false
	}
	options := sig.Params().At(sig.Params().Len() - 1).Type().(*types.Slice).Elem()
	return slices.ContainsFunc(a.optionFuncs(options), func(f *types.Func) bool {
		return kindOf(f.Type().(*types.Signature).Params().At(0).Type()) == duration && usually(duration, f.Name())
	})
}

// keyed are the parameters that say for how many keys there is room.
func (g *giver) keyed(sig *types.Signature) []string {
	var out []string
	for v := range sig.Params().Variables() {
		for _, w := range wellNamed {
			if w.kind == count && kindOf(v.Type()) == count && w.names.MatchString(v.Name()) {
				out = append(out, v.Name())
			}
		}
	}
	return out
}

// left is what there is of a kind.
func (g *giver) left(k kind) []string {
	return map[kind][]string{duration: g.durations, count: g.counts, perSec: g.rates}[k]
}

// take takes a number, wherever it stands, and reports whether it was left.
func (g *giver) take(expr string) bool {
	i := slices.Index(g.counts, expr)
	if i >= 0 {
		g.counts = slices.Concat(g.counts[:i], g.counts[i+1:])
	}
	return i >= 0
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
	k := kindOf(t)
	for _, w := range slices.Concat(g.a.c.named, wellNamed) {
		if w.kind == k && w.names.MatchString(name) {
			g.a.useTime(w.expr)
			if k == boolean {
				g.a.refuse(strings.Replace(w.expr, "Leading != 0", "Trailing == 0", 1), "it has this edge in any case")
			}
			return g.a.converted(t, w.expr)
		}
	}
	switch k {
	case duration:
		return g.a.converted(t, next(&g.durations, "0"))
	case count:
		if r := g.a.c.perSecond; r.expr != "" && g.timeless && perSecond.MatchString(name) {
			g.a.refuse(r.unless, "it is made with a rate per second")
			g.a.useTime(r.unless)
			g.take(r.expr)
			return g.a.converted(t, r.expr)
		}
		expr := "cfg.Burst"
		if !isBurst(name) || !g.take(expr) {
			expr = next(&g.counts, "1")
		}
		if unsigned(t) && strings.HasPrefix(expr, "cfg.") {
			g.a.refuse(expr+" < 0", "unsigned")
		}
		return g.a.converted(t, expr)
	case perSec:
		if bursts.MatchString(name) {
			return g.a.fraction(t, next(&g.counts, "1"))
		}
		return g.a.converted(t, next(&g.rates, "1"))
	case context:
		return g.a.use("context", "context") + ".Background()"
	case instant:
		g.a.use("time", "time")
		return "time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)"
	}
	return ""
}

// useTime imports package time if an expression needs it.
func (a *adapter) useTime(expr string) {
	if strings.Contains(expr, "time.") {
		a.use("time", "time")
	}
}

// refuse panics in New, which then refuses the configuration, under a condition.
func (a *adapter) refuse(condition, why string) {
	a.lines = append(a.lines, fmt.Sprintf("if %s {\npanic(%q)\n}", condition, why))
}

// special is the argument for a parameter of another kind, "" if it cannot be told.
func (a *adapter) special(t types.Type) string {
	if expr := a.callback(t); expr != "" {
		return expr
	}
	switch name := types.TypeString(t, nil); {
	case name == "testing.TB" || name == "*testing.T":
		return "t"
	case name == "reflect.Type":
		return a.use("reflect", "reflect") + ".TypeFor[int]()"
	case isAny(t):
		return "0"
	}
	if i, ok := t.Underlying().(*types.Interface); ok && hasMethod(i, "Helper") { // of a test
		return "t"
	}
	if expr := a.made(t); expr != "" {
		return expr
	}
	if expr := a.options(t); expr != "" {
		return expr
	}
	return a.idle(t)
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

func isAny(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && i.Empty()
}

// converted is an expression as a type.
func (a *adapter) converted(t types.Type, expr string) string {
	plainly := map[kind]string{duration: "time.Duration", count: "int", perSec: "float64", boolean: "bool"}[kindOf(t)]
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
	if name := types.TypeString(t, nil); name == "<-chan struct{}" {
		return ending
	}
	return none
}

// isWork reports whether a type is that of functions that do something, and may return an error.
func isWork(t types.Type) bool {
	sig, ok := t.Underlying().(*types.Signature)
	return ok && (plain(sig) == " -> " || plain(sig) == " -> error")
}
