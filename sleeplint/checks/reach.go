package checks

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// reach is what a test can reach of its package: the bodies of functions, from which it is
// seen whether a bubble would hold it.
type reach struct {
	pass    *analysis.Pass
	decls   map[*types.Func]*ast.FuncDecl
	methods map[string][]*ast.FuncDecl // by name, for calls through interfaces
	bodies  []*ast.FuncDecl            // the test, and what it reaches
	seen    map[*ast.FuncDecl]bool
	whole   bool // everything that is reached could be read
}

// newReach reads what the test f can reach.
func newReach(pass *analysis.Pass, f *ast.FuncDecl) *reach {
	r := &reach{
		pass: pass, decls: map[*types.Func]*ast.FuncDecl{}, methods: map[string][]*ast.FuncDecl{},
		seen: map[*ast.FuncDecl]bool{}, whole: true,
	}
	for _, file := range pass.Files {
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.FuncDecl); ok {
				if fn, ok := pass.TypesInfo.Defs[d.Name].(*types.Func); ok {
					r.decls[fn] = d
				}
				if d.Recv != nil {
					r.methods[d.Name.Name] = append(r.methods[d.Name.Name], d)
				}
			}
		}
	}
	r.add(f)
	for i := 0; i < len(r.bodies); i++ { // it grows meanwhile
		for _, d := range r.uses(r.bodies[i].Body) {
			r.add(d)
		}
	}
	return r
}

func (r *reach) add(d *ast.FuncDecl) {
	if d == nil || d.Body == nil {
		r.whole = false
	} else if !r.seen[d] {
		r.seen[d] = true
		r.bodies = append(r.bodies, d)
	}
}

// uses are the functions of the package that n names. A method of an interface stands for
// all methods of its name. A function whose source is elsewhere is nil.
func (r *reach) uses(n ast.Node) []*ast.FuncDecl { return r.usesOf(n, ast.Inspect) }

func (r *reach) usesOf(n ast.Node, inspect func(ast.Node, func(ast.Node) bool)) (all []*ast.FuncDecl) {
	inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		fn, ok := r.pass.TypesInfo.Uses[id].(*types.Func)
		if !ok || fn.Pkg() == nil || isStandard(fn.Pkg().Path()) || isTestify(fn.Pkg().Path()) {
			return true
		}
		recv := fn.Signature().Recv()
		switch {
		case recv != nil && types.IsInterface(recv.Type()):
			all = append(all, r.methods[fn.Name()]...)
		default:
			all = append(all, r.decls[fn.Origin()])
		}
		return true
	})
	return all
}

func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

func isTestify(path string) bool { return strings.HasPrefix(path, "github.com/stretchr/testify/") }

// certain reports whether nothing that the test reaches speaks against a bubble. It sees
// what could keep time from moving, what could outlive the test, and what could happen at
// the very instant at which the test looks. It says no where it does not know.
func (r *reach) certain() bool {
	if !r.whole || r.meets() {
		return false
	}
	concurrent := r.isConcurrent()
	for _, d := range r.bodies {
		if !r.ownsItsState(d) || !r.loopsWait(d) || !r.goroutinesEnd(d) || concurrent && r.waitsLocked(d) {
			return false
		}
	}
	return true
}

// ownsItsState reports whether d uses no variable of a package that outlives the bubble and
// may hold a channel or a timer, and asks neither the runtime nor the calendar. Bubbles
// begin at midnight, where what is aligned to seconds would meet every sleep.
func (r *reach) ownsItsState(d *ast.FuncDecl) bool {
	own := true
	ast.Inspect(d, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return own
		}
		switch obj := r.pass.TypesInfo.Uses[id].(type) {
		case *types.Var:
			if obj.Pkg() != nil && obj.Parent() == obj.Pkg().Scope() && !isStandard(obj.Pkg().Path()) {
				own = own && isPlain(obj.Type())
			}
		case *types.Func:
			if obj.Pkg() != nil {
				own = own && obj.Pkg().Path() != "runtime" && !calendar[obj.FullName()]
			}
		}
		return own
	})
	return own
}

var calendar = map[string]bool{
	"(time.Time).Truncate": true, "(time.Time).Round": true, "(time.Time).Nanosecond": true,
	"(time.Time).Second": true, "(time.Time).Unix": true, "(time.Time).UnixMilli": true,
	"(time.Time).UnixMicro": true, "(time.Time).UnixNano": true, "time.Date": true,
}

// isPlain reports whether a value of this type has nothing in it that belongs to a bubble.
func isPlain(t types.Type) bool {
	if types.TypeString(t, nil) == "error" {
		return true
	}
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return true
	case *types.Slice:
		return isPlain(t.Elem())
	case *types.Array:
		return isPlain(t.Elem())
	case *types.Map:
		return isPlain(t.Key()) && isPlain(t.Elem())
	case *types.Signature:
		return true
	}
	return false
}
