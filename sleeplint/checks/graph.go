package checks

import (
	"go/ast"
	"go/types"
	"reflect"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"
)

// reaching finds out what functions reach, through packages: the others ask it.
var reaching = &analysis.Analyzer{
	Name: "reach",
	Doc: `find out what functions reach

Calls are followed through helpers, closures, fields and interfaces to what a bubble does
not hold: the network, processes, files. It reports nothing.`,
	Run:        func(pass *analysis.Pass) (any, error) { return newGraph(pass), nil },
	ResultType: reflect.TypeFor[*graph](),
	FactTypes:  []analysis.Fact{new(reached)},
}

// reached is what a function reaches: by itself, or with all that it calls. It is the fact
// that other packages have of a function.
type reached struct {
	Opens     string // what it calls to listen, to start a process or the like
	Dials     string // what it calls to connect, which its caller may replace
	Writes    string // what it calls to write files
	Clock     bool   // it uses a clock that is an interface
	Memory    bool   // it has connections that are none of the network's
	Aligned   bool   // it may align instants to seconds
	Unfit     bool   // something that it does is not for bubbles
	Waits     bool   // it has a loop without an end in its head, or waits for another goroutine
	Concurs   bool   // it starts goroutines
	Locked    bool   // it may wait after it has locked something
	CallsHeld bool   // it calls a function value after it has locked something
	Lasts     bool   // it leaves a goroutine behind that its caller is to end

	Here, Bubbles uint64 // the parameters that it calls on its own goroutine, and in a bubble
}

func (*reached) AFact()         {}
func (*reached) String() string { return "reached" }

// add adds what another function reaches. What lasts, and parameters, are of one function.
func (r *reached) add(o *reached) {
	r.Opens, r.Dials, r.Writes = or(r.Opens, o.Opens), or(r.Dials, o.Dials), or(r.Writes, o.Writes)
	r.Clock, r.Memory = r.Clock || o.Clock, r.Memory || o.Memory
	r.Aligned, r.Unfit = r.Aligned || o.Aligned, r.Unfit || o.Unfit
	r.Waits, r.Concurs = r.Waits || o.Waits, r.Concurs || o.Concurs
	r.Locked, r.CallsHeld = r.Locked || o.Locked, r.CallsHeld || o.CallsHeld
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// graph has the functions of a package, and its variables, which stand for what they hold.
type graph struct {
	mu      sync.Mutex // analyzers run at the same time, and it grows as they ask
	pass    *analysis.Pass
	nodes   map[types.Object]*node
	funcs   []*types.Func      // those of the nodes, in the order of the text
	methods map[string][]*node // by name, for calls through interfaces
	modes   map[*types.Func]*[2]uint64
}

// node is a function, or a variable of the package, or in tests a field, with all that is
// assigned to it.
type node struct {
	decl   *ast.FuncDecl // nil for variables
	parts  []ast.Node
	inTest bool
	next   []*node // what it uses
	own    *reached
	lasts  *bool // it leaves a goroutine behind
}

// shared returns what [reaching] found, for one analyzer at a time.
func shared(pass *analysis.Pass) (g *graph, release func()) {
	g = pass.ResultOf[reaching].(*graph)
	g.mu.Lock()
	return g, g.mu.Unlock
}

// newGraph reads a package, and exports what its functions reach. Of the standard library
// [outside] knows all that is to be known.
func newGraph(pass *analysis.Pass) *graph {
	g := &graph{
		pass: pass, nodes: map[types.Object]*node{}, methods: map[string][]*node{}, modes: map[*types.Func]*[2]uint64{},
	}
	if g.isStandard(pass.Pkg.Path()) && !slices.ContainsFunc(pass.Files, g.isTestFile) {
		return g
	}
	for _, file := range pass.Files {
		g.read(file)
	}
	for _, fn := range g.funcs {
		g.export(fn, g.nodes[fn])
	}
	for _, name := range pass.Pkg.Scope().Names() {
		if t, ok := pass.Pkg.Scope().Lookup(name).Type().Underlying().(*types.Interface); ok {
			for m := range t.ExplicitMethods() {
				if m.Pkg() == pass.Pkg { // the type may be another name for one of another package
					g.export(m, g.implementing(m)...)
				}
			}
		}
	}
	return g
}

// export tells other packages what a function reaches, or what may be called in its place.
func (g *graph) export(fn *types.Func, nodes ...*node) {
	mode := g.paramModes(fn)
	fact := &reached{Here: mode[0], Bubbles: mode[1]}
	for _, n := range nodes {
		fact.add(g.reaches(n))
		fact.Lasts = fact.Lasts || g.lasting(n)
	}
	if *fact != (reached{}) {
		g.pass.ExportObjectFact(fn, fact)
	}
}

// read notes the functions of a file, and what its variables and fields are set to.
func (g *graph) read(file *ast.File) {
	inTest := inTestFile(g.pass, file.Pos())
	for _, decl := range file.Decls {
		if d, ok := decl.(*ast.FuncDecl); ok {
			if fn, ok := g.pass.TypesInfo.Defs[d.Name].(*types.Func); ok {
				n := &node{decl: d, inTest: inTest}
				if d.Body != nil {
					n.parts = []ast.Node{d.Body}
				}
				g.nodes[fn] = n
				g.funcs = append(g.funcs, fn)
				if d.Recv != nil {
					g.methods[d.Name.Name] = append(g.methods[d.Name.Name], n)
				}
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		bindings(g.pass, n, func(obj types.Object, value ast.Expr) {
			v, ok := obj.(*types.Var)
			if ok && (isGlobal(v) || v.IsField() && inTest) {
				if g.nodes[v] == nil {
					g.nodes[v] = &node{inTest: inTest}
				}
				g.nodes[v].parts = append(g.nodes[v].parts, value)
			}
		})
		return true
	})
}

// bindings are the values that n gives to variables and fields.
func bindings(pass *analysis.Pass, n ast.Node, bind func(obj types.Object, value ast.Expr)) {
	object := func(e ast.Expr) types.Object {
		switch e := e.(type) {
		case *ast.Ident:
			return pass.TypesInfo.ObjectOf(e)
		case *ast.SelectorExpr:
			return pass.TypesInfo.ObjectOf(e.Sel)
		}
		return nil
	}
	pairs := func(to []ast.Expr, values []ast.Expr) {
		for i, e := range to {
			if obj := object(e); obj != nil && len(values) > 0 {
				bind(obj, values[min(i, len(values)-1)])
			}
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		pairs(n.Lhs, n.Rhs)
	case *ast.ValueSpec:
		for i, name := range n.Names {
			if len(n.Values) > 0 {
				bind(pass.TypesInfo.Defs[name], n.Values[min(i, len(n.Values)-1)])
			}
		}
	case *ast.CompositeLit:
		t := structOf(pass.TypesInfo.TypeOf(n))
		for i, e := range n.Elts {
			if pair, ok := e.(*ast.KeyValueExpr); ok && t != nil {
				pairs([]ast.Expr{pair.Key}, []ast.Expr{pair.Value})
			} else if t != nil && i < t.NumFields() {
				bind(t.Field(i), e)
			}
		}
	}
}

// structOf is the struct that a literal is of: in a list of pointers their & can be left out.
func structOf(t types.Type) *types.Struct {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, _ := t.Underlying().(*types.Struct)
	return s
}

func isGlobal(v *types.Var) bool { return v.Pkg() != nil && v.Parent() == v.Pkg().Scope() }

// targets are the functions and variables that an identifier in n stands for: of this
// package, or a fact of another one's function. A method of an interface stands for those
// of the types that implement it.
func (g *graph) targets(n *node, id *ast.Ident) (nodes []*node, foreign *reached) {
	switch obj := g.pass.TypesInfo.Uses[id].(type) {
	case *types.Var:
		if in := g.nodes[obj.Origin()]; in != nil && (isGlobal(obj) || n.inTest) {
			nodes = append(nodes, in)
		}
	case *types.Func:
		fn := obj.Origin()
		if fn.Pkg() == nil || isTestify(fn.Pkg().Path()) {
			return nil, nil
		}
		if recv := fn.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
			if fn.Pkg() == g.pass.Pkg || g.isStandard(fn.Pkg().Path()) {
				return g.implementing(fn), nil
			}
			nodes = g.implementing(fn)
		}
		if in := g.nodes[fn]; in != nil {
			return []*node{in}, nil
		}
		if g.isStandard(fn.Pkg().Path()) {
			return nil, outside(fn)
		}
		if fact := new(reached); g.pass.ImportObjectFact(fn, fact) {
			return nodes, fact
		}
	}
	return nodes, nil
}

// implementing are the methods of this package that a method of an interface stands for.
func (g *graph) implementing(fn *types.Func) (all []*node) {
	in := fn.Signature().Recv().Type().Underlying().(*types.Interface)
	for _, n := range g.methods[fn.Name()] {
		recv := g.pass.TypesInfo.TypeOf(n.decl.Recv.List[0].Type)
		if p, ok := recv.(*types.Pointer); ok {
			recv = p.Elem()
		}
		named, generic := recv.(*types.Named)
		generic = generic && named.TypeParams().Len() > 0
		if generic || types.Implements(types.NewPointer(recv), in) {
			all = append(all, n)
		}
	}
	return all
}

// look finds out what a node reaches by itself, and what it uses.
func (g *graph) look(n *node) {
	if n.own != nil {
		return
	}
	n.own = &reached{Unfit: n.decl != nil && n.decl.Body == nil}
	for _, part := range n.parts {
		ast.Inspect(part, func(m ast.Node) bool {
			if id, ok := m.(*ast.Ident); ok {
				nodes, foreign := g.targets(n, id)
				n.next = append(n.next, nodes...)
				if foreign != nil {
					n.own.add(g.within(n, foreign, id))
				}
			}
			return true
		})
		n.own.Clock = n.own.Clock || g.usesClock(part)
		n.own.Memory = n.own.Memory || n.inTest && g.hasConnections(part)
		n.own.Concurs = n.own.Concurs || g.isConcurrent(part)
		n.own.Waits = n.own.Waits || g.hasOpenLoop(part) || !n.inTest && g.communicates(part)
		n.own.Unfit = n.own.Unfit || !g.ownsItsState(part) || !g.loopsWait(part, n.inTest)
	}
	if n.decl != nil && n.decl.Body != nil {
		n.own.Locked, n.own.CallsHeld = g.waitsLocked(n.decl)
	}
}

// within is what a function of another package reaches, as far as it counts for n. Files
// that some library may write say nothing of a test.
func (g *graph) within(n *node, foreign *reached, id *ast.Ident) *reached {
	path := g.pass.TypesInfo.Uses[id].Pkg().Path()
	if g.isStandard(path) || path == strings.TrimSuffix(g.pass.Pkg.Path(), "_test") {
		return foreign
	}
	rest := *foreign
	rest.Writes, rest.Clock, rest.Memory = "", foreign.Clock, false
	return &rest
}

// all are the nodes that n reaches, itself the first.
func (g *graph) all(n *node) []*node {
	seen, all := map[*node]bool{n: true}, []*node{n}
	for i := 0; i < len(all); i++ { // it grows meanwhile
		g.look(all[i])
		for _, m := range all[i].next {
			if !seen[m] {
				seen[m] = true
				all = append(all, m)
			}
		}
	}
	return all
}

// reaches is what n reaches with all that it uses. With connections of its own, what would
// connect to the network is replaced.
func (g *graph) reaches(n *node) *reached {
	sum := new(reached)
	for _, m := range g.all(n) {
		sum.add(m.own)
	}
	return sum
}

// isStandard reports whether a package is the standard library's. A module need not have a dot
// in its name.
func (g *graph) isStandard(path string) bool {
	if m := g.pass.Module; m != nil && m.Path != "" && m.Path != "std" && strings.HasPrefix(path+"/", m.Path+"/") {
		return false
	}
	return isStandard(path)
}

func (g *graph) isTestFile(file *ast.File) bool { return inTestFile(g.pass, file.FileStart) }

func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

func isTestify(path string) bool { return strings.HasPrefix(path, "github.com/stretchr/testify/") }
