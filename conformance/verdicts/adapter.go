package main

import (
	"fmt"
	"go/types"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// adapter is the test that init writes, as far as it is known.
type adapter struct {
	choice
	pkg      *loaded
	subject  types.Type // what the constructor returns
	makers   []*types.Func
	maker    *types.Func      // the one in use
	sig      *types.Signature // of it; without parameters if there is none
	of       string           // its type arguments
	name     string           // of what was asked for
	testName string           // of its test, where that is not what name makes it
	shown    string           // what its run showed; empty if it was not run
	time     string           // the constant
	lines    []string         // how an instance is made
	fields   []string         // the Funcs
	notes    notes            // what could not be told
	lacking  notes            // what could not be told, and must be: until then the test skips
	assumed  notes
	asked    notes             // choices that only its documentation tells
	imports  map[string]string // names by path
	set      map[string]bool   // the fields that are there
	traits   map[string]string // what signatures tell
	whole    string            // the Funcs, where they are no literal
	own      string            // the declaration of a clock that it is made with
	looped   bool              // Run is taken
	builder  string            // the method that sets the callback, so that no event is a function
	edge     string            // the line that refuses to be made without the edge that cannot be chosen
	batched  bool              // its callback gets all events of a burst
	several  bool              // it takes more than one at once
	streams  bool              // it is made with a channel, and returns one

	wireless bool       // it has no operation that it must have
	indirect bool       // the constructor returns a pointer to an interface
	anyKey   string     // what stands for a key where an operation has none
	text     *types.Var // the parameter of that method which carries it
	carried  types.Type // by what the callback gets, nil if it carries no number
	numbers  int        // how many numbers the method under way takes
}

const root = "github.com/escapement-go/escapement/"

// newAdapters look at what is called name: one for each contract that it may keep, at most three, the likeliest first.
func newAdapters(pkg *loaded, name, asked string) ([]*adapter, error) {
	a := &adapter{pkg: pkg, name: name, sig: new(types.Signature), imports: maps.Clone(standard)}
	switch obj := pkg.types.Scope().Lookup(name).(type) {
	case *types.TypeName:
		a.subject, a.of = ofInts(obj.Type())
		a.makers = constructors(pkg.types, obj)
	case *types.Func:
		if obj.Signature().Results().Len() == 0 {
			return nil, fmt.Errorf("%s.%s returns nothing", pkg.ImportPath, name)
		}
		a.makers = []*types.Func{obj}
	default:
		return nil, fmt.Errorf("%s has no exported type or function %s", pkg.ImportPath, name)
	}
	if len(a.makers) > 0 {
		a.madeBy(a.makers[0])
	} else if a.of == "" && strings.HasSuffix(types.TypeString(a.subject, nil), "]") {
		return nil, fmt.Errorf("%s.%s is not made with ints: declare a type that is one of it, and name that",
			pkg.ImportPath, name)
	}
	choices := a.choices(asked)
	switch {
	case len(choices) == 0 && asked != "":
		var valid []string
		for _, c := range known {
			valid = append(valid, c.pkg)
		}
		return nil, fmt.Errorf("%w: -contract %s is none of %s", errUsage, asked, enumerated(valid))
	case len(choices) == 0:
		return nil, fmt.Errorf("the contract of %s.%s is not clear from its names: set -contract",
			pkg.ImportPath, name)
	}
	var all, complete []*adapter
	for _, c := range choices {
		all = append(all, a.best(c))
	}
	complete = slices.DeleteFunc(slices.Clone(all), func(b *adapter) bool { return !b.complete() })
	if first := all[0]; len(complete) == 0 && asked == "" && first.wireless && len(first.asked) == 0 {
		for _, pkg := range slices.Concat(a.byNames(), a.byOperations()) {
			if b := a.best(a.choices(pkg)[0]); b.complete() {
				b.assumed.add("it is no %s, as it has no operation of one", strings.TrimSuffix(first.c.pkg, "test"))
				complete = append(complete, b)
			}
		}
	}
	if len(complete) == 0 {
		complete = all[:1]
	}
	return complete, nil
}

// best is the adapter of a choice whose constructor takes most of the configuration.
func (a *adapter) best(c choice) *adapter {
	if len(a.makers) == 0 {
		b := a.adapted(c, nil)
		b.assumed.add("its zero value works, as no function returns a %s", a.name)
		return b
	}
	var best *adapter
	for _, m := range a.makers {
		b := a.adapted(c, m)
		if m.Name() != a.name {
			b.assumed.add("%s makes it", m.Name())
		}
		if best == nil || b.complete() && (!best.complete() || b.configured() > best.configured()) {
			best = b
		}
	}
	return best
}

// adapted writes the adapter of a choice and a constructor.
func (a *adapter) adapted(c choice, maker *types.Func) *adapter {
	b := &adapter{
		pkg: a.pkg, name: a.name, makers: a.makers, subject: a.subject, sig: a.sig, of: a.of, choice: c,
		time: "PackageTime", set: map[string]bool{}, imports: maps.Clone(standard), traits: map[string]string{},
	}
	b.imports[root+"conformance/"+c.c.pkg] = c.c.pkg
	if maker != nil {
		b.madeBy(maker)
	}
	b.assumed.add("it keeps the contract of %s", c)
	b.make()
	switch wrap := b.middleware(); {
	case b.c.pkg == "clocktest":
		b.fillClock()
	case wrap != "" && b.c.pkg == "quotatest":
		b.counted(wrap)
	case wrap != "" && b.c.pkg == "concurrencytest":
		b.serve(wrap)
	default:
		b.fill()
	}
	if b.configured() == 0 && len(b.c.durations) > 0 && len(b.lacking) == 0 {
		b.lacking.add("say how it is configured: nothing of cfg reaches it")
	}
	b.bound()
	return b
}

// madeBy says which constructor is used. What is generic is made for ints.
func (a *adapter) madeBy(maker *types.Func) {
	a.maker = maker
	a.sig, a.of = ofInts(maker.Signature())
	a.subject = a.sig.Results().At(0).Type()
	if p, ok := a.subject.(*types.Pointer); ok && types.IsInterface(p.Elem()) {
		a.subject, a.indirect = p.Elem(), true
	}
}

// complete reports whether the suite can run it.
func (a *adapter) complete() bool {
	has := func(field string) bool { return a.set[field] }
	a.wireless = a.whole == "" && !slices.ContainsFunc(a.c.must, has)
	return len(a.lacking) == 0 && !a.wireless
}

// configured is how much of the configuration is used.
func (a *adapter) configured() int {
	used := configuration.FindAllString(strings.ReplaceAll(a.making(), noBurst, ""), -1)
	slices.Sort(used)
	return len(slices.Compact(used))
}

// making is how an instance is made.
func (a *adapter) making() string { return strings.Join(a.lines, "\n") }

const noBurst = "if cfg.Burst != "

var configuration = regexp.MustCompile(`cfg\.[A-Z]\w*`)

// needMore refuses to be made without a duration of the configuration, or else without a count, where that is new.
func (a *adapter) needMore() bool {
	text := a.making()
	for _, field := range slices.Concat(a.c.durations, []string{"cfg.Rate.Interval()"}, a.c.counts) {
		refusal := "if " + field + " <= 0 {\npanic(\"made like this, it ended the process\")\n}"
		whole := configuration.FindString(field) == field || strings.HasSuffix(field, "()")
		if whole && strings.Contains(text, field) && !strings.Contains(text, refusal) {
			a.first(refusal)
			return true
		}
	}
	return false
}

// first is a line before the others.
func (a *adapter) first(line string) { a.lines = append([]string{line}, a.lines...) }

// bound refuses the configurations that a constructor has no argument for, or that mean something else to it.
func (a *adapter) bound() {
	text := a.making()
	if a.c.pkg == "limitertest" && a.maker != nil && !strings.Contains(text, "cfg.Burst") {
		single := a.decision() == nil && !a.several || strings.Contains(text, "cfg.Rate.Interval()")
		most := map[bool]string{true: "1", false: "cfg.Rate.Events"}[single]
		a.assumed.add("its burst is %s, as the constructor gets none: the test's New refuses any other", most)
		a.refuse(noBurst[len("if "):]+most, "that is taken to be its burst, as it gets none")
	}
	if a.c.pkg == "concurrencytest" && strings.Contains(text, "cfg.Backlog") &&
		!strings.Contains(text, "cfg.Backlog >= 0") {
		a.first("if cfg.Backlog < 0 {\ncfg.Backlog = 1 << 10 // more than ever wait\n}")
	}
	for _, field := range a.c.bounds {
		refusal := "if " + field + " == 0 {\n" +
			"panic(\"0 may stand for a default: delete this check if 0 means no bound\")\n}"
		if !strings.Contains(text, field) {
			refusal = "if " + field + " > 0 {\npanic(\"it has none\")\n}"
			if field == a.c.durations[0] {
				a.lacking.add("set its %s: without it nothing is judged", strings.TrimPrefix(field, "cfg."))
			}
		} else if a.noBound(strings.TrimPrefix(field, "cfg.")) {
			continue
		}
		a.first(refusal)
	}
	for _, zero := range zeros {
		if zero.check.MatchString(a.making()) {
			a.declare(zero.trait, zero.value)
			a.asked.add("does the constructor accept %s? If so, delete the check in New that refuses it, "+
				"and the trait %s", zero.what, zero.trait)
		}
	}
}

// zeros are the traits of what refuses a 0, and the checks by which New does.
var zeros = []struct {
	trait, value, what string
	check              *regexp.Regexp
}{
	{"ZeroRate", "limitertest.ZeroRateRefused", "a rate of 0",
		regexp.MustCompile(`cfg\.Rate\.(Events|PerSecond\(\))\)? == 0 \{\npanic|no such period`)},
	{"ZeroWait", "debouncertest.ZeroRefused", "a wait of 0", regexp.MustCompile(`cfg\.Wait\)? == 0 \{\npanic`)},
}

// noBound reports whether a comment says that a parameter of 0 is no bound. Names of one letter are in any comment.
func (a *adapter) noBound(parameter string) bool {
	return len(parameter) > 1 && slices.ContainsFunc(unbounded.FindAllString(a.comments(), -1), func(said string) bool {
		return strings.Contains(strings.ToLower(said), strings.ToLower(parameter))
	})
}

// unbounded is what comments say of parameters whose 0 is no bound.
var unbounded = regexp.MustCompile(`(?i)[^.]*\b(0|zero)\b[^.]{0,40}` +
	`\b(no (bound|limit|maximum)|none|never|off|unbounded|unlimited|infinite|disable[ds]?)\b`)

// declare is a trait that signatures tell.
func (a *adapter) declare(trait, value string) { a.traits[trait] = value }

// notes are what is said of a test, each once.
type notes []string

func (n *notes) add(text string, args ...any) {
	if said := fmt.Sprintf(text, args...); !slices.Contains(*n, said) {
		*n = append(*n, said)
	}
}

// constructors are the functions of a package that return a type, or a pointer to it, and begin with New; for an
// interface those that return something that has it. The shortest name comes first.
func constructors(pkg *types.Package, obj *types.TypeName) []*types.Func {
	var exact, fitting []*types.Func
	iface, isInterface := obj.Type().Underlying().(*types.Interface)
	for _, f := range functions(pkg, "New") {
		switch results := f.Signature().Results(); {
		case results.Len() == 0:
		case named(results.At(0).Type()) == obj:
			exact = append(exact, f)
		case isInterface && types.Implements(results.At(0).Type(), iface):
			fitting = append(fitting, f)
		}
	}
	if len(exact) == 0 {
		exact = fitting
	}
	slices.SortStableFunc(exact, func(x, y *types.Func) int { return len(x.Name()) - len(y.Name()) })
	return exact
}

// functions are the exported ones of a package whose names begin so.
func functions(pkg *types.Package, prefix string) (all []*types.Func) {
	for _, name := range pkg.Scope().Names() {
		f, ok := pkg.Scope().Lookup(name).(*types.Func)
		if ok && f.Exported() && strings.HasPrefix(name, prefix) {
			all = append(all, f)
		}
	}
	return all
}

// pointed is what a pointer points to, and any other type itself.
func pointed(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// named is the name of a type or of what it points to, nil if it has none.
func named(t types.Type) *types.TypeName {
	if n, ok := types.Unalias(pointed(t)).(*types.Named); ok {
		return n.Obj()
	}
	return nil
}

// method is a method of the subject, nil if there is none.
func (a *adapter) method(name string) *types.Func {
	obj, _, _ := types.LookupFieldOrMethod(a.subject, true, a.pkg.types, name)
	f, _ := obj.(*types.Func)
	if f != nil && ofSync.MatchString(f.FullName()) && !types.IsInterface(a.subject) { // a lock of its own
		return nil
	}
	return f
}

var ofSync = regexp.MustCompile(`^\(\*?sync\.`)

// use returns the name by which a package is imported: its own, if nothing else has it.
func (a *adapter) use(importPath, name string) string {
	if a.imports[importPath] != "" {
		return a.imports[importPath]
	}
	taken := slices.Contains(slices.Collect(maps.Values(a.imports)), name) || slices.Contains(reserved, name)
	if taken || a.c != nil && name == a.c.made {
		name = lower.ReplaceAllString(strings.ToLower(path.Base(path.Dir(importPath))), "") + name
	}
	a.imports[importPath] = name
	return name
}

// lower is what names do not have.
var lower = regexp.MustCompile(`[^a-z]`)

// standard are the packages that the text of a test may name. Those that it does not name are not imported.
var standard = map[string]string{
	"cmp": "cmp", "context": "context", "errors": "errors", "math": "math", "net/http": "http",
	"net/http/httptest": "httptest", "reflect": "reflect", "strconv": "strconv", "testing": "testing", "time": "time",
	clockwork: "clockwork",
}

// reserved are the names that the text of a test uses itself.
var reserved = append(slices.Collect(maps.Values(standard)), strings.Fields("handle ticker x t p period ok all opts "+
	"clock v r err cfg env n ctx key run at in turn newest item control stop")...)

// qualifier names packages in types.
func (a *adapter) qualifier(p *types.Package) string { return a.use(p.Path(), p.Name()) }

// instance is the variable that holds what is judged.
const instance = "x"

func (a *adapter) make() {
	if a.maker == nil {
		a.lines = append(a.lines, fmt.Sprintf("%s := new(%s)", instance, types.TypeString(a.subject, a.qualifier)))
		if init := a.signature("Init"); init != nil && init.Results().Len() == 0 {
			if args, ok := a.arguments(init); ok {
				a.lines = append(a.lines, instance+".Init("+args+")")
				return
			}
		}
		a.configure()
		return
	}
	args, given := a.arguments(a.sig)
	if !given {
		a.notes.add("some arguments of %s are unclear: %s", a.maker.Name(), types.TypeString(a.sig, a.short))
	}
	vars := []string{instance}
	for i := 1; i < a.sig.Results().Len(); i++ {
		vars = append(vars, a.further(a.sig.Results().At(i).Type(), i))
	}
	name := a.use(a.pkg.ImportPath, a.pkg.Name) + "." + a.maker.Name() + a.of
	if a.indirect {
		vars[0] = "p"
	}
	a.lines = append(a.lines, fmt.Sprintf("%s := %s(%s)", strings.Join(vars, ", "), name, args))
	if a.indirect {
		a.lines = append(a.lines, instance+" := *p")
	}
	if slices.Contains(vars, "err") {
		a.lines = append(a.lines, "if err != nil {\npanic(err) // it refuses cfg\n}")
	}
	a.configure()
	a.builds()
	a.starts()
	a.runs()
	a.pulled()
}

// further names a result of the constructor behind the first.
func (a *adapter) further(t types.Type, i int) string {
	if kindOf(t) == failure {
		return "err"
	}
	if sig, ok := t.Underlying().(*types.Signature); ok && i == 1 && sig.Params().Len() == 0 {
		field := map[string]string{"debouncertest": "Cancel", "throttletest": "Reset"}[a.c.pkg]
		if field != "" {
			a.assumed.add("the second result of %s is its %s", a.maker.Name(), field)
			a.put(field, strings.ToLower(field))
			return strings.ToLower(field)
		}
	}
	if i == 1 && a.control(t) != "" {
		return "control"
	}
	a.notes.add("not used: result %d, a %s", i+1, types.TypeString(t, a.short))
	return "_"
}

// short names types in comments, without importing anything.
func (a *adapter) short(p *types.Package) string { return p.Name() }

// askFor is for a trait that need not be declared, if there is one.
func (a *adapter) askFor(trait string) {
	if trait != "" {
		a.asked.add("declare %s, which -write-traits does where a run shows it; once other traits are declared, "+
			"its rules are skipped without it", trait)
	}
}

// put sets a field, and reports whether it was not yet and there is something to set it to.
func (a *adapter) put(field, expr string) bool {
	if a.set[field] || expr == "" {
		return false
	}
	a.set[field] = true
	a.fields = append(a.fields, field+": "+expr+","+a.c.remarks[field])
	return true
}

// left notes the methods that nothing uses.
func (a *adapter) left(used map[string]bool) {
	text := strings.Join(slices.Concat(a.lines, a.fields, a.notes), "\n")
	for _, zero := range zeroOf.FindAllStringSubmatch(strings.Join(a.fields, "\n"), -1) {
		a.assumed.add("its %s may be 0", zero[1])
	}
	for _, called := range calledOf.FindAllStringSubmatch(text, -1) {
		used[called[1]] = true
	}
	for _, f := range a.methods() {
		if !used[f.Name()] {
			sig := strings.TrimPrefix(types.TypeString(f.Type(), a.short), "func")
			a.notes.add("not used: %s", f.Name()+sig+a.unused(f.Name()))
			for v := range f.Type().(*types.Signature).Results().Variables() {
				if a.signatureOf(v.Type(), "Cancel") != nil {
					a.asked.add("wire %s by hand: until then the Cancel of what it returns is not tried", f.Name())
				}
			}
		}
	}
}

// calledOf are the methods of the instance in a text, and zeroOf the types of another package of which it has the zero.
var (
	calledOf = regexp.MustCompile(`\b` + instance + `\.(\w+)`)
	zeroOf   = regexp.MustCompile(`[(, ](\w\w+\.[A-Z]\w*)\(0\)`)
)

// unused says why a method is not used although a field that is not set has its name.
func (a *adapter) unused(name string) string {
	if name == a.told() {
		return ""
	}
	for _, o := range a.c.operations {
		explicit := slices.Contains(o.params, instant) && !slices.Contains(kindsOf(a.signature(name).Params()), instant)
		if slices.Contains(o.methods, name) && !a.done(o.field) && !strings.Contains(o.field, "Key") && !explicit {
			return map[bool]string{true: undecided, false: ": it does not fit " + o.field}[open.MatchString(name)]
		}
	}
	return ""
}
