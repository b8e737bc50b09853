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

// arguments are those of a constructor, and whether all could be told.
func (a *adapter) arguments(sig *types.Signature) (list string, given bool) {
	g := a.giver(sig)
	var out []string
	g.needed, given = true, true
	for i := range sig.Params().Len() {
		v := sig.Params().At(i)
		if variadic(sig, i) {
			out = append(out, g.further(v.Type().(*types.Slice).Elem())...)
			break
		}
		expr := g.simple(v.Name(), v.Type())
		if expr == "" {
			expr = a.special(v.Name(), v.Type())
		}
		if expr == "" { // what it writes compiles all the same
			given, expr = false, "*new("+types.TypeString(v.Type(), a.qualifier)+")"
			what := types.TypeString(v.Type(), a.short)
			if v.Name() != "" {
				what = v.Name() + " (" + what + ")"
			}
			a.lacking.add("say which %s it is made with", what)
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

// giver hands out what a configuration has.
type giver struct {
	a        *adapter
	left     map[kind][]string // of what the configuration has
	timeless bool              // no period is among the parameters
	needed   bool              // they are no fields or options, which may be left out
	args     map[string]string // what parameters get, by name
}

// Names of parameters.
var (
	bursts = regexp.MustCompile(`(?i)burst|capacity|bucket|balance`)
	burst  = regexp.MustCompile(`(?i)burst`)
	paces  = regexp.MustCompile(`(?i)rate|per_?(s(ec(ond)?)?|period|interval)?$|fill|events|requests|[rqt]ps$|^limit$`)

	lasts = regexp.MustCompile(`(?i)max_?(wait|delay)|time_?out|patience`)

	// Words of comments: one token comes in each interval, or all of them in a period.
	singles   = regexp.MustCompile(`(?i)\b(new|each|single|per|one|1|next) (tokens?|permit|ticket)\b`)
	periods   = regexp.MustCompile(`(?i)\b(window|period)\b`)
	intervals = regexp.MustCompile(`(?i)every|fill|^interval|per_?token|^l(imit)?$`)
	ticks     = regexp.MustCompile(`(?i)freq|tick|granular|resolution|precision`) // no part of a configuration
	tokenwise = regexp.MustCompile(`(?i)every|fill|per_?token`)                   // of intervals
	refills   = regexp.MustCompile(`(?i)\b(up to|at most|no more than|all) (\w+ ){1,3}` +
		`(during|within|in|per|every|each)( \w+){0,2} (interval|duration)\b`)
	wholes    = regexp.MustCompile(`(?i)window|period|^per$|duration|size|frame|span`)
	units     = regexp.MustCompile(`(?i)^(per|period|window)$|unit$`) // of a rate
	perSecond = regexp.MustCompile(`(?i)^(rate|limit|ratelimit|[rqt]ps)$|per_?(sec|minute|hour)`)
	longer    = regexp.MustCompile(`(?i)minute|hour`) // than a second
)

// wellKnown is an argument whose name says what it is.
type wellKnown struct {
	kind  kind
	names *regexp.Regexp
	expr  string
}

// wellNamed are arguments that the names of parameters tell, whatever is left of the configuration.
var wellNamed = []wellKnown{
	{duration, regexp.MustCompile(`(?i)ttl|expir|idle|clean|sweep|purge|check|refresh|evict`), "100_000*time.Hour"},
	{count, regexp.MustCompile(`(?i)priorit|retries|attempts|level|mode`), "1"},
	{count, regexp.MustCompile(`(?i)bytes|memory`), "1 << 30"},
	{count, regexp.MustCompile(`(?i)^(room|shards|max_?keys|num_?buckets)$`), "1024"},
	{ident, regexp.MustCompile(``), `"key"`},
}

// giver knows what a rate is to a constructor: by seconds, so many in a period, or one in each
// interval.
func (a *adapter) giver(sig *types.Signature) *giver {
	g := &giver{a: a, args: map[string]string{}}
	g.left = map[kind][]string{duration: a.c.durations, count: a.c.counts, perSec: a.c.rates}
	spans := g.untold(duration, sig)
	g.timeless = len(spans) == 0 && !a.hasPeriod(sig)
	numbers := g.untold(count, sig)
	rated := slices.Contains(kindsOf(sig.Params()), perSec)
	single := len(numbers) == 1 && len(spans) > 0
	if a.kind == "GCRA" {
		g.left[count] = append(slices.Clone(a.c.counts), "cfg.Burst")
	}
	switch {
	case a.kind == "GCRA" && single:
		g.left[duration] = []string{"cfg.Window / time.Duration(max(1, cfg.Limit))"}
		g.take("cfg.Limit")
	case a.kind == "GCRA" && rated:
		g.take("cfg.Limit")
	case a.c.pkg == "limitertest" && rated && slices.ContainsFunc(spans, units.MatchString): // so many in each
		g.left[perSec] = []string{"float64(cfg.Rate.Events)"}
	case a.c.pkg != "limitertest" || rated:
	case sig == a.sig && len(spans) == 1 && !a.given(count), // and no burst
		single && a.oneEach(numbers, spans[0]):
		g.left[duration] = []string{"cfg.Rate.Interval()"}              // one token in each interval
		a.refuse("cfg.Rate.Events == 0", "a rate of 0 has no interval") // that of an infinite rate is 0
		a.refuse("cfg.Rate.Events > 0 && !cfg.Rate.Exact() && cfg.Rate.Interval() < time.Microsecond",
			"its interval is rounded too much")
	case single: // that many at once, and again when the period is over
		g.left[duration] = []string{"period"}
		said := a.comments()
		if !wholes.MatchString(spans[0]) && !periods.MatchString(said) && !refills.MatchString(said) {
			a.lines = append(a.lines, fmt.Sprintf("// ASSUMED: all tokens of the burst come again in each %s. "+
				"If one does, New is\n// period := cfg.Rate.Interval()", spans[0]))
			a.assumed.add("all tokens of its burst come again in each %s: if one does, see the comment in New",
				spans[0])
		}
		a.lines = append(a.lines, "period, ok := cfg.Rate.Period(cfg.Burst)\nif cfg.Burst == 0 {\n"+
			"period, ok = time.Second, true // 0 come in any period\n}\n"+
			"if !ok {\npanic(\"no such period\")\n}")
	default:
		g.left[count] = append([]string{"cfg.Rate.Events"}, g.left[count]...)
	}
	if g.timeless && slices.ContainsFunc(namesOf(count, sig.Params()), perSecond.MatchString) {
		g.take(a.c.perSecond.expr)
	}
	g.assign(spans, numbers, namesOf(perSec, sig.Params()))
	return g
}

// assign says what parameters get: names decide. What names do not tell goes by place where only one can be meant.
func (g *giver) assign(spans, numbers, rates []string) {
	named := func(names *[]string, re *regexp.Regexp, expr string) {
		if i := slices.IndexFunc(*names, re.MatchString); i >= 0 && g.take(expr) {
			g.args[(*names)[i]] = expr
			*names = slices.Delete(*names, i, i+1)
		}
	}
	named(&rates, bursts, "cfg.Burst")
	named(&numbers, bursts, "cfg.Burst")
	named(&numbers, paces, "cfg.Rate.Events")
	if len(rates) == 2 && paces.MatchString(rates[0]) != paces.MatchString(rates[1]) {
		other := slices.IndexFunc(rates, func(name string) bool { return !paces.MatchString(name) })
		g.args[rates[other]] = cmp.Or(g.next(count), "1")
	}
	g.place(duration, spans)
	g.place(count, numbers)
}

// constants are for parameters for which nothing of their kind is left.
var constants = map[kind]string{duration: "0", count: "1"}

// place gives parameters of a kind what is left of it, or else a constant.
func (g *giver) place(k kind, names []string) {
	left := g.left[k]
	for _, name := range names {
		g.args[name] = constants[k]
	}
	fit := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !usually(k, name) && (g.a.c.pkg != "concurrencytest" || !slots.MatchString(name))
	})
	if len(fit) == len(left) {
		names = fit
	}
	if len(names) > 1 && len(left) > 0 {
		g.a.lacking.add("say which of %s is %s: here they go by place", enumerated(names), enumerated(left))
	}
	for i, name := range names[:min(len(names), len(left))] {
		g.args[name] = left[i]
		g.take(left[i])
	}
}

// oneEach reports whether one token comes in each span of time, and not the whole burst. Where neither a name nor a
// comment says so, that is asked for.
func (a *adapter) oneEach(numbers []string, span string) bool {
	said := a.comments()
	told := tokenwise.MatchString(span) || singles.MatchString(said)
	switch {
	case !told && refills.MatchString(said):
		a.asked.add("declare RefillSize, such as 100, if the whole burst comes at once at the end of each %s", span)
		return false
	case !slices.ContainsFunc(numbers, bursts.MatchString) && !intervals.MatchString(span) &&
		(wholes.MatchString(span) || !singles.MatchString(said) || periods.MatchString(said)):
		return false
	case !told:
		a.asked.add("say whether one token comes in each %s, as is assumed, or the whole burst: then New takes "+
			"cfg.Rate.Period(cfg.Burst) for cfg.Rate.Interval()", span)
	}
	return true
}

// hasPeriod reports whether an option sets a duration.
func (a *adapter) hasPeriod(sig *types.Signature) bool {
	return sig.Variadic() && slices.ContainsFunc(
		a.optionFuncs(isSlice(sig.Params().At(sig.Params().Len()-1).Type()), 1), func(f *types.Func) bool {
			return kindOf(f.Signature().Params().At(0).Type()) == duration && usually(duration, f.Name())
		})
}

// untold are the parameters of a kind whose names do not tell what they are, whatever else there is.
func (g *giver) untold(k kind, sig *types.Signature) []string {
	return slices.DeleteFunc(namesOf(k, sig.Params()), func(name string) bool {
		return g.a.known(k, name, wellNamed...) != nil ||
			k == duration && (ticks.MatchString(name) || g.a.isBound(name)) || g.isPerSecond(k, name)
	})
}

// isPerSecond reports whether something of a kind is how many come in a second, or in a longer unit that its name says.
func (g *giver) isPerSecond(k kind, name string) bool {
	return k == count && g.a.c.perSecond.expr != "" && g.timeless && perSecond.MatchString(name)
}

// known is the argument of the contract, or of some others, that a name tells; nil if it tells none.
func (a *adapter) known(k kind, name string, others ...wellKnown) *wellKnown {
	for _, w := range slices.Concat(a.c.named, others) {
		if w.kind == k && w.names.MatchString(unitless(name)) {
			return &w
		}
	}
	return nil
}

// wellNamed is an argument that its name tells. Who may choose one edge has the other in any case.
func (g *giver) wellNamed(w wellKnown, name string, t types.Type) string {
	if strings.HasSuffix(w.expr, "time.Hour") && g.a.noBound(name) {
		w.expr = "0"
	}
	g.take(w.expr)
	g.assumed(name, w.expr)
	if a := g.a; w.kind == boolean && a.edge != "" {
		a.lines = slices.DeleteFunc(a.lines, func(line string) bool { return line == a.edge })
		a.asked.add("declare in Edges those that it is made with; until then only the usual one is tried")
	} else if w.kind == boolean {
		other := strings.NewReplacer("Leading != 0", "Trailing == 0", "Trailing != 0", "Leading == 0").Replace(w.expr)
		a.refuse(other, "it has this edge in any case")
		a.edge = a.lines[len(a.lines)-1]
	}
	return g.a.inUnits(name, t, g.ifAny(name, w.expr))
}

// ifAny is an argument that must be there although its trait may not be declared. Unless a comment says that 0 is no
// bound, it then gets a longer one than any that matters, which can still be added to instants.
func (g *giver) ifAny(name, expr string) string {
	trait := g.a.c.optional[expr]
	g.a.askFor(trait)
	if trait == "" || !g.needed || g.a.noBound(name) {
		return expr
	}
	return "cmp.Or(" + expr + ", max(" + g.a.c.durations[0] + ", 1_000_000*time.Hour))"
}

// isBound reports whether a duration is for how long something may last at the most, and not what a contract is about.
func (a *adapter) isBound(name string) bool {
	return lasts.MatchString(name) && strings.Contains("throttletest limitertest quotatest leakybuckettest", a.c.pkg)
}

// take takes a number, wherever it stands, and reports whether it was left.
func (g *giver) take(expr string) bool {
	for k, list := range g.left {
		if i := slices.Index(list, expr); i >= 0 {
			g.left[k] = slices.Concat(list[:i], list[i+1:])
			return true
		}
	}
	return false
}

// next takes the first of a kind, "" if there is none left.
func (g *giver) next(k kind) (first string) {
	if len(g.left[k]) > 0 {
		first, g.left[k] = g.left[k][0], g.left[k][1:]
	}
	return first
}

// simple is the argument for a parameter of a usual kind, "" if it is none.
func (g *giver) simple(name string, t types.Type) string {
	k := kindNamed(name, t)
	if w := g.a.known(k, name, wellNamed...); w != nil {
		return g.wellNamed(*w, name, t)
	}
	expr := g.args[name]
	switch {
	case k == duration && ticks.MatchString(name) && g.a.c.pkg == "limitertest":
		return ""
	case k == duration && g.a.isBound(name):
		g.a.notes.add("%s is 0: say what it bounds", name)
		return g.a.inUnits(name, t, "0")
	case g.isPerSecond(k, name):
		r := g.a.c.perSecond
		per := strings.TrimPrefix(cmp.Or(unitOf(longer.FindString(name)+"s"), "time.Second"), "time.")
		g.a.refuse(strings.ReplaceAll(r.unless, "Second", per), "it is made with a rate per "+strings.ToLower(per))
		g.take(r.expr)
		return g.a.converted(t, strings.ReplaceAll(r.expr, "Second", per))
	case k == duration || k == count:
		if expr == "" {
			expr = cmp.Or(g.next(k), constants[k])
		}
		g.assumed(name, expr)
		if k == duration {
			return g.a.inUnits(name, t, g.ifAny(name, expr))
		}
		if condition := g.a.misfit(t, expr); condition != "" && strings.HasPrefix(expr, "cfg.") {
			g.a.refuse(condition, "out of range")
		}
		return g.a.converted(t, expr)
	case k == perSec && expr != "":
		g.assumed(name, expr)
		return g.a.fraction(t, expr)
	case k == perSec && len(g.left[k]) > 0:
		return g.a.converted(t, g.next(k))
	case k == context:
		return "context.Background()"
	case k == ending && strings.Contains("debouncertest throttletest limitertest", g.a.c.pkg):
		g.a.lines = append(g.a.lines, "stop := make(chan struct{})")
		g.a.put("Stop", "func() { close(stop) }")
		return "stop"
	case k == instant:
		return "time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)"
	}
	return ""
}

// assumed says so if a parameter gets a constant.
func (g *giver) assumed(name, expr string) {
	if !strings.Contains(expr, "cfg.") && expr != "period" {
		g.a.assumed.add("%s may be %s", name, expr)
	}
}

// refuse panics in New, which then refuses the configuration, under a condition.
func (a *adapter) refuse(condition, why string) {
	a.lines = append(a.lines, fmt.Sprintf("if %s {\npanic(%q)\n}", condition, why))
}

// special is the argument for a parameter of another kind, "" if it cannot be told.
func (a *adapter) special(name string, t types.Type) string {
	expr := a.clock(name, t)
	for _, find := range []func(types.Type) string{
		a.stream, a.callback, a.usualArgument, a.made, a.options, a.idle,
	} {
		if expr == "" {
			expr = find(t)
		}
	}
	return expr
}

// usualArgument is the argument for a parameter that any package may have, "" if it is none.
func (a *adapter) usualArgument(t types.Type) string {
	i, _ := t.Underlying().(*types.Interface)
	switch name := types.TypeString(t, nil); {
	case name == "*testing.T", i != nil && hasMethod(i, "Helper"):
		return "t"
	case name == "reflect.Type":
		return "reflect.TypeFor[int]()"
	case isAny(t):
		return "0"
	}
	return ""
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
	for _, f := range functions(a.pkg.types, "New") {
		makes := f.Signature()
		if f == a.maker || want.Len() == 0 || makes.Params().Len() > 0 || makes.TypeParams().Len() > 0 ||
			!assignable(makes.Results(), want) {
			continue
		}
		call := a.use(a.pkg.ImportPath, a.pkg.Name) + "." + f.Name() + "()"
		a.assumed.add("%s is the %s to have", f.Name(), types.TypeString(t, a.short))
		if !isFunc {
			return call
		}
		return "func() " + types.TypeString(want, a.qualifier) + " { return " + call + " }"
	}
	return ""
}

// assignable reports whether results can be returned as others.
func assignable(from, to *types.Tuple) bool {
	return slices.EqualFunc(slices.Collect(from.Variables()), slices.Collect(to.Variables()),
		func(f, t *types.Var) bool { return types.AssignableTo(f.Type(), t.Type()) })
}

func isAny(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && i.Empty()
}

// converted is an expression as a type.
func (a *adapter) converted(t types.Type, expr string) string {
	plainly := map[kind]string{
		duration: "time.Duration", count: "int", perSec: "float64", boolean: "bool", ident: "string",
	}[kindOf(t)]
	if name := types.TypeString(t, a.short); name != plainly {
		return types.TypeString(t, a.qualifier) + "(" + expr + ")"
	}
	return expr
}

// inUnits is a duration as a type: a number has the unit that its name says, and what is no whole one is refused.
func (a *adapter) inUnits(name string, t types.Type, expr string) string {
	k, unit := kindOf(t), unitOf(name)
	if k != count && k != perSec || unit == "" {
		return a.converted(t, expr)
	}
	if strings.Contains(expr, " ") {
		expr = "(" + expr + ")"
	}
	if k == perSec {
		return a.fraction(t, expr) + " / " + a.fraction(t, unit)
	}
	if strings.Contains(expr, "cfg.") || expr == "period" {
		a.refuse(expr+"%"+unit+" != 0", "it has whole "+strings.ToLower(unit[len("time."):])+"s only")
		if condition := a.misfit(t, expr+" / "+unit); condition != "" {
			a.refuse(condition, "out of range")
		}
	}
	return types.TypeString(t, a.qualifier) + "(" + expr + " / " + unit + ")"
}
