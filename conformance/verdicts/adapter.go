package main

import (
	"bytes"
	"fmt"
	"go/format"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// adapter is the test that init writes, as far as it is known.
type adapter struct {
	pkg     *loaded
	c       *contract
	subject types.Type // what the constructor returns
	maker   *types.Func
	name    string   // of what was asked for
	time    string   // the constant
	lines   []string // how an instance is made
	fields  []string // the Funcs
	notes   []string // what could not be told
	assumed []string
	imports []string
	set     map[string]bool // the fields that are there
}

const root = "github.com/escapement-go/escapement/"

// newAdapter looks at what is called name.
func newAdapter(pkg *loaded, name, kind string) (*adapter, error) {
	a := &adapter{pkg: pkg, name: name, time: "PackageTime", set: map[string]bool{}}
	switch obj := pkg.types.Scope().Lookup(name).(type) {
	case *types.TypeName:
		a.subject, a.maker = obj.Type(), constructor(pkg.types, obj)
		if a.maker == nil {
			a.assume("its zero value works, as no function returns a %s", name)
		} else {
			a.assume("%s makes it", a.maker.Name())
		}
	case *types.Func:
		a.maker = obj
		results := obj.Type().(*types.Signature).Results()
		if results.Len() == 0 {
			return nil, fmt.Errorf("%s.%s returns nothing", pkg.ImportPath, name)
		}
		a.subject = results.At(0).Type()
	default:
		return nil, fmt.Errorf("%s has no exported type or function %s", pkg.ImportPath, name)
	}
	switch a.c = a.choose(kind); {
	case a.c == nil && kind != "":
		return nil, fmt.Errorf("init writes no test for %s", kind)
	case a.c == nil:
		return nil, fmt.Errorf("what contract %s.%s keeps cannot be told from its names: say -contract",
			pkg.ImportPath, name)
	}
	a.assume("it keeps the contract of %s", a.c.pkg)
	a.make()
	if a.c.pkg != "clocktest" {
		a.fill()
	} else {
		a.assume("it has the methods of clockwork's fake clock, and Advance: if not, fill clocktest.Funcs")
	}
	return a, nil
}

func (a *adapter) assume(text string, args ...any) {
	a.assumed = append(a.assumed, fmt.Sprintf(text, args...))
}

// constructor is the function of a package that returns a type, or a pointer to it: the
// shortest name that begins with New.
func constructor(pkg *types.Package, obj *types.TypeName) *types.Func {
	var best *types.Func
	for _, name := range pkg.Scope().Names() {
		f, ok := pkg.Scope().Lookup(name).(*types.Func)
		if !ok || !f.Exported() || !strings.HasPrefix(name, "New") {
			continue
		}
		results := f.Type().(*types.Signature).Results()
		if results.Len() == 0 || named(results.At(0).Type()) != obj {
			continue
		}
		if best == nil || len(name) < len(best.Name()) {
			best = f
		}
	}
	return best
}

// named is the name of a type or of what it points to, nil if it has none.
func named(t types.Type) *types.TypeName {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return n.Obj()
	}
	return nil
}

// choose chooses the contract: the one named, or the first whose names are those of the
// thing, then of its package.
func (a *adapter) choose(kind string) *contract {
	names := []string{a.name, a.pkg.Name}
	if n := named(a.subject); n != nil {
		names = slices.Insert(names, 1, n.Name())
	}
	for _, name := range append(names, a.pkg.ImportPath) {
		for _, c := range known {
			if c.pkg == kind || kind == "" && c.names.MatchString(name) {
				return c
			}
		}
	}
	if kind != "" || a.method("Go") != nil { // what waits for what it started is a group
		return nil
	}
	for _, c := range known { // by what it can do
		for _, o := range c.operations {
			if slices.Contains(c.must, o.field) && a.method(o.methods[0]) != nil {
				return c
			}
		}
	}
	return nil
}

// method is a method of the subject, nil if there is none.
func (a *adapter) method(name string) *types.Func {
	obj, _, _ := types.LookupFieldOrMethod(a.subject, true, a.pkg.types, name)
	f, _ := obj.(*types.Func)
	return f
}

// use returns the name by which a package is imported.
func (a *adapter) use(path, name string) string {
	if !slices.Contains(a.imports, path) {
		a.imports = append(a.imports, path)
	}
	return name
}

// qualifier names packages in types.
func (a *adapter) qualifier(p *types.Package) string { return a.use(p.Path(), p.Name()) }

// instance is the variable that holds what is judged.
const instance = "x"

// make writes how an instance is made.
func (a *adapter) make() {
	if a.maker == nil {
		a.lines = append(a.lines, fmt.Sprintf("%s := new(%s)", instance, types.TypeString(a.subject, a.qualifier)))
		if s, ok := a.subject.Underlying().(*types.Struct); ok {
			for i := range s.NumFields() {
				if f := s.Field(i); f.Exported() {
					a.note("it has a field %s %s", f.Name(), types.TypeString(f.Type(), a.short))
				}
			}
		}
		return
	}
	sig := a.maker.Type().(*types.Signature)
	name := a.use(a.pkg.ImportPath, a.pkg.Name) + "." + a.maker.Name()
	if n := sig.TypeParams().Len(); n > 0 {
		ints := slices.Repeat([]types.Type{types.Typ[types.Int]}, n)
		if t, err := types.Instantiate(nil, sig, ints, true); err == nil {
			sig = t.(*types.Signature)
			a.subject = sig.Results().At(0).Type()
			name += "[" + strings.TrimSuffix(strings.Repeat("int, ", n), ", ") + "]"
		}
	}
	args, given := a.arguments(sig)
	if !given {
		a.note("not all arguments of %s could be told: %s", a.maker.Name(), types.TypeString(sig, a.short))
	}
	vars := []string{instance}
	for i := 1; i < sig.Results().Len(); i++ {
		vars = append(vars, a.further(sig.Results().At(i).Type(), i))
	}
	a.lines = append(a.lines, fmt.Sprintf("%s := %s(%s)", strings.Join(vars, ", "), name, args))
	if slices.Contains(vars, "err") {
		a.lines = append(a.lines, "if err != nil {\npanic(err) // it refuses cfg\n}")
	}
}

// further names a result of the constructor behind the first.
func (a *adapter) further(t types.Type, i int) string {
	if kindOf(t) == failure {
		return "err"
	}
	if sig, ok := t.Underlying().(*types.Signature); ok && i == 1 && sig.Params().Len() == 0 {
		field := map[string]string{"debouncertest": "Cancel", "throttletest": "Reset"}[a.c.pkg]
		if field != "" {
			a.assume("the second result of %s is its %s", a.maker.Name(), field)
			a.put(field, strings.ToLower(field))
			return strings.ToLower(field)
		}
	}
	return "_"
}

// short names types in comments, without importing anything.
func (a *adapter) short(p *types.Package) string { return p.Name() }

// note says what could not be told.
func (a *adapter) note(text string, args ...any) {
	a.notes = append(a.notes, fmt.Sprintf(text, args...))
}

// put sets a field.
func (a *adapter) put(field, expr string) {
	if !a.set[field] {
		a.set[field] = true
		a.fields = append(a.fields, field+": "+expr+",")
	}
}

// arguments are those of a constructor, and whether all could be told.
func (a *adapter) arguments(sig *types.Signature) (list string, given bool) {
	durations, counts, rates := a.c.durations, a.c.counts, a.c.rates
	if kinds := kindsOf(sig.Params()); len(rates) > 0 && !slices.Contains(kinds, perSec) {
		numbers := len(kinds) - len(slices.DeleteFunc(slices.Clone(kinds), func(k kind) bool { return k == count }))
		if slices.Contains(kinds, duration) && numbers == 1 {
			durations = []string{"cfg.Rate.Interval()"} // one token in each interval
		} else {
			counts = append([]string{"cfg.Rate.Events"}, counts...)
		}
	}
	next := func(list *[]string, fallback string) string {
		if len(*list) == 0 {
			return fallback
		}
		first := (*list)[0]
		*list = (*list)[1:]
		return first
	}
	var out []string
	given = true
	for i := range sig.Params().Len() {
		t := sig.Params().At(i).Type()
		if sig.Variadic() && i == sig.Params().Len()-1 {
			more := a.clockOption()
			if elem := t.(*types.Slice).Elem(); more == "" && kindOf(elem) == work {
				more = a.callback(elem)
			}
			if more != "" {
				out = append(out, more)
			}
			break
		}
		switch expr := ""; kindOf(t) {
		case duration:
			out = append(out, a.converted(t, next(&durations, "0")))
		case count:
			out = append(out, a.converted(t, next(&counts, "1")))
		case perSec:
			out = append(out, a.converted(t, next(&rates, "1")))
		case context:
			out = append(out, a.use("context", "context")+".Background()")
		case ident:
			out = append(out, `"key"`)
		default:
			if expr = a.callback(t); expr == "" {
				expr = a.clock(t)
			}
			if expr == "" {
				given, expr = false, "/* "+types.TypeString(t, a.short)+" */"
			}
			out = append(out, expr)
		}
	}
	return strings.Join(out, ", "), given
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
		case isAny(p):
			param, body = "v any", a.c.made+"(v.(int))"
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

func isAny(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && i.Empty()
}

// converted is an expression as a type.
func (a *adapter) converted(t types.Type, expr string) string {
	usual := map[kind]string{duration: "time.Duration", count: "int", perSec: "float64"}[kindOf(t)]
	if name := types.TypeString(t, a.short); name != usual {
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

// source is the text of the test.
func (a *adapter) source() []byte {
	var b bytes.Buffer
	test := "TestConformance"
	if token.IsExported(a.name) {
		test += "_" + a.name
	}
	name := "conformance_test"
	if a.pkg.folder() != "." || a.pkg.Module != nil && a.pkg.Module.Main {
		name = a.pkg.Name + "_test"
	}
	fmt.Fprintf(&b, "package %s\n\nimport (\n\"testing\"\n\n%q\n", name, root+"conformance/"+a.c.pkg)
	for _, path := range a.imports {
		fmt.Fprintf(&b, "%q\n", path)
	}
	params := fmt.Sprintf("env %s.Env, cfg %s.Config", a.c.pkg, a.c.pkg)
	if a.c.made != "" {
		params += ", " + a.c.made + " func(int)"
	}
	if a.c.pkg == "clocktest" {
		params = "env clocktest.Env"
	}
	fmt.Fprintf(&b, ")\n\nfunc %s(t *testing.T) {\n%s.Run(t, %s.Spec{\n", test, a.c.pkg, a.c.pkg)
	fmt.Fprintf(&b, "Name: %q,\n", a.pkg.ImportPath+" "+a.name)
	if a.c.pkg != "clocktest" { // which knows no other time than that of the clock
		fmt.Fprintf(&b, "Time: %s.%s, // or %s\n", a.c.pkg, a.time, a.otherTime())
	}
	fmt.Fprintf(&b, "New: func(%s) %s.Funcs {\n%s\n", params, a.c.pkg, strings.Join(a.lines, "\n"))
	for _, n := range a.notes {
		fmt.Fprintf(&b, "// %s\n", n)
	}
	if a.c.pkg == "clocktest" {
		fmt.Fprintf(&b, "return clocktest.Of(%s)\n},\n", instance)
	} else {
		fmt.Fprintf(&b, "return %s.Funcs{\n%s\n}\n},\n", a.c.pkg, strings.Join(a.fields, "\n"))
	}
	fmt.Fprintf(&b, "// Traits: left out at first; the subtest TRAITS prints the literal to paste.\n})\n}\n")
	text, err := format.Source(b.Bytes())
	if err != nil {
		return b.Bytes() // what could not be told is no Go
	}
	return text
}

// otherTime is the source of time that it could be instead.
func (a *adapter) otherTime() string {
	if a.time == "Injected" {
		return "PackageTime, if it calls package time too"
	}
	return "Injected, if it takes a clock: env.Clock"
}
