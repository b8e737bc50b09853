package main

import (
	"cmp"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// options is a literal of a struct of options, with the fields whose names are known; nil for
// one in which no name is, if it is a pointer.
func (a *adapter) options(t types.Type) string {
	elem := pointed(t)
	ref := map[bool]string{true: "&"}[elem != t]
	if _, ok := elem.Underlying().(*types.Struct); !ok || named(elem) == nil {
		return ""
	}
	parts := a.fitting(t, ": ")
	for _, f := range fieldsOf(t) { // which it may call without asking whether it is there
		sig, ok := f.Type().Underlying().(*types.Signature)
		if ok && len(parts) > 0 && clockMethods[f.Name()] == "" &&
			(sig.Results().Len() == 0 || sig.Results().Len() == 2 && countOf(failure, sig.Results()) == 1) {
			parts = append(parts, f.Name()+": "+cmp.Or(a.batchCallback(f.Type()), a.idle(f.Type())))
		}
	}
	name := types.TypeString(elem, a.short)
	switch {
	case len(parts) > 0:
		a.assumed.add("%s has no other relevant fields", name)
		return ref + types.TypeString(elem, a.qualifier) + "{" + strings.Join(parts, ", ") + "}"
	case ref != "" && strings.HasSuffix(name, "Counter"):
		return "new(" + types.TypeString(elem, a.qualifier) + ")"
	case ref != "" && optionTypes.MatchString(name):
		a.assumed.add("nil stands for the defaults of %s", name)
		return "nil"
	}
	return ""
}

// optionTypes are the names of types of which nil may stand for the defaults.
var optionTypes = regexp.MustCompile(`(?i)opt|conf|setting|param|log(g|$)|metric|trace|stats|hook`)

// usual are the names of what a configuration has.
var usual = map[kind]*regexp.Regexp{
	duration: regexp.MustCompile(more + `(interval|window|period|per|rate|wait|delay|threshold|timeout|duration|` +
		`linger|age|latency|time)$`),
	count: regexp.MustCompile(more + `(limit|max|count|tokens|burst|events|requests|capacity|size|backlog|` +
		`threshold|tasks|items?|slack)$`),
	perSec: regexp.MustCompile(more + `(rate|limit|max|rps|qps|persecond)$`),
}

// more are words that such names may begin with.
const more = `(?i)^(with)?(max|bundle|batch|bulk|flush|item|count|delay)*`

// usually reports whether something of a kind with a name is usual.
func usually(k kind, name string) bool {
	re := usual[k]
	return re != nil && re.MatchString(unitless(name)) && !strings.Contains(strings.ToLower(name), "byte")
}

// fitting are the fields of a struct that a configuration can fill, and with what, behind what is between them.
func (a *adapter) fitting(t types.Type, between string) (out []string) {
	var fields []*types.Var
	var others []string
	for _, f := range fieldsOf(t) {
		k := kindNamed(f.Name(), f.Type())
		given := (k == duration || k == count) && slices.Contains(kindsOf(a.sig.Params()), k)
		switch {
		case a.known(k, f.Name()) != nil || usually(k, f.Name()) && !given && !a.isBound(f.Name()):
			fields = append(fields, f)
		case k != none && k != work:
			others = append(others, f.Name())
		}
	}
	if len(fields) == 0 {
		return nil
	}
	if len(others) > 0 {
		a.notes.add("left as they are in the zero value: %s", strings.Join(others, ", "))
	}
	g := a.giver(types.NewSignatureType(nil, nil, nil, types.NewTuple(fields...), nil, false))
	for _, f := range fields {
		k, given := kindNamed(f.Name(), f.Type()), g.args[f.Name()]
		if given != "0" && given != "1" && (given != "" || len(g.left[k]) > 0 || a.known(k, f.Name()) != nil) {
			expr := g.simple(f.Name(), f.Type())
			field := configuration.FindString(expr)
			bound := slices.Contains(a.c.bounds, field) // which refuses its 0 itself
			if !strings.Contains(expr, "max(") && k != boolean && a.c.optional[field] == "" && !bound {
				a.refuse(expr+" == 0", "0 may stand for a default")
			}
			out = append(out, f.Name()+between+expr)
		}
	}
	return out
}

// configure sets the fields of the subject, and by its methods, what its constructor was not given.
func (a *adapter) configure() {
	has := kindsOf(a.sig.Params())
	var out []string
	if !slices.Contains(has, duration) {
		out = a.fitting(a.subject, " = ")
	}
	counted := slices.Contains(has, count) || slices.Contains(has, perSec)
	for name, exprs := range map[string][]string{"SetMax": a.c.rates, "SetRate": a.c.rates, "SetBurst": a.c.counts} {
		m := a.signature(name)
		if counted || m == nil || len(exprs) == 0 || m.Params().Len() != 1 {
			continue
		}
		if k := kindOf(m.Params().At(0).Type()); k == count || k == perSec {
			expr := a.converted(m.Params().At(0).Type(), exprs[len(exprs)-1])
			out = append(out, name+"("+expr+")")
		}
	}
	slices.Sort(out)
	for _, line := range slices.Backward(out) {
		a.lines = append(a.lines, instance+"."+line)
	}
}

// starts starts a thing that has to be started, as it can be stopped.
func (a *adapter) starts() {
	name := map[bool]string{true: "Run", false: "Start"}[strings.Contains(a.comment("Run"), "Run starts")]
	call, known := map[string]string{
		" -> ": "x.Start()", "context.Context -> ": "x.Start(context.Background())",
		" -> error":                "if err := x.Start(); err != nil {\npanic(err)\n}",
		"context.Context -> error": "if err := x.Start(context.Background()); err != nil {\npanic(err)\n}",
	}[plain(a.signature(name))]
	if known && a.c.pkg != "concurrencytest" && a.has(stops...) {
		a.lines = append(a.lines, strings.Replace(call, "Start", name, 1))
	}
}

// runs starts the loop of a thing that has one, and gets its callback there.
func (a *adapter) runs() {
	if a.c.made == "" || plain(a.signature("Run")) != "context.Context,func(ctx context.Context) error -> error" {
		return
	}
	a.lines = append(a.lines, "go func() {\n_ = "+instance+".Run(context.Background(), func(context.Context) error {\n"+
		a.c.made+"(0)\nreturn nil\n})\n}()")
	a.noPayload()
	a.assumed.add("Run is its loop, and runs the callback, without a payload")
	a.looped = true
}

// clock is the clock of the suite, if a parameter is one: an interface, a function, or a struct of them.
func (a *adapter) clock(name string, t types.Type) string {
	switch u := t.Underlying().(type) {
	case *types.Signature:
		return a.clockFunc(name, plain(u))
	case *types.Struct:
		before, parts := a.time, ""
		for f := range u.Fields() {
			expr := a.clock(f.Name(), f.Type())
			if parts += f.Name() + ": " + expr + ",\n"; expr == "" || !f.Exported() {
				a.time = before
				return ""
			}
		}
		return map[bool]string{true: types.TypeString(t, a.qualifier) + "{\n" + parts + "}"}[parts != ""]
	}
	elem := pointed(t)
	ref := map[bool]string{true: "&clock"}[elem != t] // it is a pointer to an interface
	i, ok := elem.Underlying().(*types.Interface)
	switch {
	case !ok || !hasMethod(i, "Now"), ref != "" && !fits(i, clockMethods):
		return ""
	case !fits(i, clockMethods):
		return a.ownClock(t, i)
	case ref != "":
		a.lines = append(a.lines, "var clock "+types.TypeString(elem, a.qualifier)+" = env.Clock")
	}
	a.time = "Injected"
	return cmp.Or(ref, "env.Clock")
}

// clockFunc is the function of env.Clock with a signature, and with a name where that does not tell; "" if there is
// none. Where the time is only read, and something waits all the same, package time has to be that clock.
func (a *adapter) clockFunc(name, signature string) string {
	for method, want := range clockMethods {
		if want == signature && (method == "Now" || method == "After" || strings.EqualFold(method, name)) {
			if method != "Now" || !a.blocks() {
				a.time = "Injected"
			}
			return "env.Clock." + method
		}
	}
	if signature != "time.Duration,func() -> func() bool" {
		return ""
	}
	a.time = "Injected"
	return "func(d time.Duration, f func()) func() bool { return env.Clock.AfterFunc(d, f).Stop }"
}

// clockMethods are the methods of env.Clock.
var clockMethods = map[string]string{
	"After": "time.Duration -> <-chan time.Time", "Sleep": "time.Duration -> ", "Now": " -> time.Time",
	"Since": "time.Time -> time.Duration", "Until": "time.Time -> time.Duration",
	"NewTicker": "time.Duration -> " + clockwork + ".Ticker", "NewTimer": "time.Duration -> " + clockwork + ".Timer",
	"AfterFunc": "time.Duration,func() -> " + clockwork + ".Timer",
}

// fits reports whether an interface has no other methods than some, which are given by name with their signatures.
func fits(i *types.Interface, methods map[string]string) bool {
	for m := range i.Methods() {
		if methods[m.Name()] != plain(m.Signature()) {
			return false
		}
	}
	return true
}

func hasMethod(i *types.Interface, name string) bool {
	return types.NewMethodSet(i).Lookup(nil, name) != nil
}

// optionFuncs are the functions of the package that make an option of a type from so many arguments.
func (a *adapter) optionFuncs(option types.Type, args int) []*types.Func {
	var out []*types.Func
	for _, f := range functions(a.pkg.types, "") {
		sig, of := ofInts(f.Signature())
		if sig.Params().Len() == args && !sig.Variadic() && sig.Results().Len() == 1 &&
			types.Identical(sig.Results().At(0).Type(), option) {
			out = append(out, types.NewFunc(f.Pos(), f.Pkg(), f.Name()+of, sig))
		}
	}
	return out
}

// further are the arguments behind those that must be there: a callback, or the options that set the clock and what is
// left of the configuration.
func (g *giver) further(elem types.Type) []string {
	if kindOf(elem) == work && len(g.a.optionFuncs(elem, 1)) == 0 {
		if expr := g.a.callback(elem); expr != "" {
			return []string{expr}
		}
	}
	for _, f := range g.a.optionFuncs(elem, 0) {
		if kindOf(elem) != work {
			g.a.asked.add("%s is not used: hand it on where cfg, such as cfg.Edges, asks for what it does", f.Name())
		}
	}
	var always, sometimes []string
	g.needed = false
	for _, f := range g.a.optionFuncs(elem, 1) {
		t, expr := f.Signature().Params().At(0).Type(), ""
		k := kindNamed(f.Name(), t)
		if g.a.known(k, f.Name()) != nil || usually(k, f.Name()) && len(g.left[k]) > 0 && !g.a.isBound(f.Name()) {
			expr = g.simple(f.Name(), t)
		}
		if expr == "" {
			expr = cmp.Or(g.a.clock(f.Name(), t), g.a.batchCallback(t))
		}
		if expr == "" {
			continue
		}
		g.a.assumed.add("%s sets %s", f.Name(), expr)
		option := g.a.use(g.a.pkg.ImportPath, g.a.pkg.Name) + "." + f.Name() + "(" + expr + ")"
		field := configuration.FindString(expr)
		if trait, is0 := g.a.c.optional[field]; is0 && (trait != "" || named(elem) == nil || named(elem).Exported()) {
			g.a.askFor(trait)
			least := map[bool]string{true: " >= 0", false: " > 0"}[trait == ""]
			sometimes = append(sometimes, "if "+field+least+" {\nopts = append(opts, "+option+")\n}")
		} else {
			always = append(always, option)
		}
	}
	if len(sometimes) == 0 {
		return always
	}
	list := types.TypeString(types.NewSlice(elem), g.a.qualifier)
	g.a.lines = append(g.a.lines, "opts := "+list+"{"+strings.Join(always, ", ")+"}")
	g.a.lines = append(g.a.lines, sometimes...)
	return []string{"opts..."}
}
