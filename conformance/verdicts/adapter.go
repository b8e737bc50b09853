package main

import (
	"fmt"
	"go/types"
	"path"
	"regexp"
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
	imports map[string]string // names by path
	set     map[string]bool   // the fields that are there
	whole   string            // the Funcs, where they are no literal
	kind    string            // of a quota
	helpers map[string]bool   // declarations that are needed
	spare   []setting         // what the constructor was not given
	looped  bool              // Run is taken
}

const root = "github.com/escapement-go/escapement/"

// newAdapter looks at what is called name.
func newAdapter(pkg *loaded, name, kind string) (*adapter, error) {
	a := &adapter{
		pkg: pkg, name: name, time: "PackageTime",
		set: map[string]bool{}, imports: map[string]string{}, helpers: map[string]bool{},
	}
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
	switch a.c.pkg {
	case "clocktest":
		a.fillClock()
	case "quotatest":
		a.fillQuota()
	default:
		a.fill()
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

// choose chooses the contract: the one named; or that which signatures tell; or the first whose
// names are those of the thing, then of its package.
func (a *adapter) choose(kind string) *contract {
	if kind == "" {
		kind = a.bySignatures()
	}
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
	if a.given(duration) && slices.ContainsFunc(events, func(name string) bool { return a.method(name) != nil }) {
		return contractOf("throttletest")
	}
	return nil
}

// contractOf is the contract of a package.
func contractOf(pkg string) *contract {
	i := slices.IndexFunc(known, func(c *contract) bool { return c.pkg == pkg })
	return known[i]
}

// bySignatures is the package of the contract that methods and their results tell, whatever the
// names of types; "" if they do not.
func (a *adapter) bySignatures() string {
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return a.method(name) != nil })
	}
	switch {
	case a.isClock():
		return "clocktest"
	case a.middleware() != "" && a.given(duration):
		return "quotatest"
	case a.middleware() != "" && a.given(count):
		return "concurrencytest"
	case has(gives...) && has(takes...), a.given(count) && a.pairs():
		return "concurrencytest"
	case a.group() != "" && a.given(count):
		return "concurrencytest"
	case has("Wait", "WaitN", "Reserve"):
	case a.decision().more(), a.decision() != nil && a.byName() != "" && a.byName() != "GCRA":
		return "quotatest"
	}
	return ""
}

// given reports whether the constructor gets something of a kind.
func (a *adapter) given(k kind) bool {
	return a.maker != nil && slices.Contains(kindsOf(a.maker.Type().(*types.Signature).Params()), k)
}

// method is a method of the subject, nil if there is none.
func (a *adapter) method(name string) *types.Func {
	obj, _, _ := types.LookupFieldOrMethod(a.subject, true, a.pkg.types, name)
	f, _ := obj.(*types.Func)
	return f
}

// use returns the name by which a package is imported: its own, if nothing else has it.
func (a *adapter) use(importPath, name string) string {
	if a.imports[importPath] != "" {
		return a.imports[importPath]
	}
	taken := func(name string) bool {
		for p, other := range a.imports {
			if other == name && p != importPath {
				return true
			}
		}
		return reserved[name] != "" && reserved[name] != importPath
	}
	if taken(name) {
		name = lower.ReplaceAllString(strings.ToLower(path.Base(path.Dir(importPath))), "") + name
	}
	a.imports[importPath] = name
	return name
}

// lower is what names do not have.
var lower = regexp.MustCompile(`[^a-z]`)

// reserved are the names that the text of a test uses itself, and the packages that may have them.
var reserved = map[string]string{
	"testing": "testing", "time": "time", "context": "context", "http": "net/http", "httptest": "net/http/httptest",
	"strconv": "strconv", "errors": "errors", "clockwork": clockwork, "handle": "-", "ticker": "-",
	"x": "-", "t": "-",
}

// qualifier names packages in types.
func (a *adapter) qualifier(p *types.Package) string { return a.use(p.Path(), p.Name()) }

// instance is the variable that holds what is judged.
const instance = "x"

// make writes how an instance is made.
func (a *adapter) make() {
	if a.maker == nil {
		a.lines = append(a.lines, fmt.Sprintf("%s := new(%s)", instance, types.TypeString(a.subject, a.qualifier)))
		if init := a.signature("Init"); init != nil && init.Results().Len() == 0 {
			if args, ok := a.arguments(init); ok {
				a.lines = append(a.lines, instance+".Init("+args+")")
				return
			}
		}
		a.spare = a.settings(nil)
		a.setFurther()
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
	a.spare = a.settings(sig)
	a.setFurther()
	a.runs()
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
