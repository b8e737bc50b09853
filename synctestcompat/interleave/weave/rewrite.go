package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// shims is where the packages are that stand for those of std, below their own paths.
const shims = "github.com/escapement-go/escapement/synctestcompat/interleave/shim/"

// replaced are the packages of std that have a shim.
var replaced = map[string]bool{
	"context": true, "sync": true, "sync/atomic": true, "testing/synctest": true, "time": true,
}

// point is the name under which rewritten files import the package of that name.
const point = "point_"

// file is a source file that is rewritten.
type file struct {
	text
	syntax *ast.File
	offset func(token.Pos) int
	info   *types.Info
	pkg    *types.Package

	name string
	uses bool   // it calls package point
	tail string // comes behind the last line
	done map[ast.Node]bool
}

// rewrite returns the file, rewritten. register is the path of its package if this file is to register it.
func (f *file) rewrite(register string) string {
	f.done = make(map[ast.Node]bool)
	for _, spec := range f.syntax.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil && replaced[path] {
			f.put(spec.Path, strconv.Quote(shims+path))
		}
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if n != nil && !f.done[n] {
			f.node(n)
		}
		return true
	})
	if register != "" {
		f.tail += fmt.Sprintf("\nvar _ = %s.Rewritten(%q)", point, register)
		f.uses = true
	}
	if f.uses {
		f.shut(f.offset(f.syntax.Name.End()), fmt.Sprintf("; import %s %q", point, shims+"point"))
	}
	f.sort()
	out := f.render(0, len(f.src))
	if f.tail != "" {
		out += f.tail + "\n"
	}
	return out
}

// put replaces a node.
func (f *file) put(n ast.Node, with string) {
	f.replace(f.offset(n.Pos()), f.offset(n.End()), func() string { return with })
}

// of is a node as it is changed.
func (f *file) of(n ast.Node) string { return f.render(f.offset(n.Pos()), f.offset(n.End())) }

// call is the name of a function of package point.
func (f *file) call(name string) string {
	f.uses = true
	return point + "." + name
}

func (f *file) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.GoStmt:
		f.goStmt(n)
	case *ast.SendStmt:
		f.open(f.offset(n.Pos()), f.call("To("))
		f.replace(f.offset(n.Arrow), f.offset(n.Arrow)+len("<-"), func() string { return ").Send(" })
		f.shut(f.offset(n.End()), ")")
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			f.receive(n, "Recv(")
		}
	case *ast.AssignStmt:
		if len(n.Lhs) == 2 && len(n.Rhs) == 1 {
			f.receive2(n.Rhs[0])
		}
	case *ast.ValueSpec:
		if len(n.Names) == 2 && len(n.Values) == 1 {
			f.receive2(n.Values[0])
		}
	case *ast.RangeStmt:
		f.rangeStmt(n)
	case *ast.SelectStmt:
		f.selectStmt(n)
	case *ast.CallExpr:
		if id, ok := ast.Unparen(n.Fun).(*ast.Ident); ok {
			switch name := f.builtin(id); {
			case name == "close":
				f.put(id, f.call("Close"))
			case name == "len" && f.chanOf(n.Args[0]):
				f.put(id, f.call("Len"))
			}
		}
	case *ast.SelectorExpr:
		f.gosched(n, n.Sel)
	case *ast.Ident:
		f.gosched(n, n)
	}
}

// receive rewrites <-c.
func (f *file) receive(n *ast.UnaryExpr, with string) {
	f.done[n] = true
	with = f.call(with)
	f.replace(f.offset(n.OpPos), f.offset(n.OpPos)+len("<-"), func() string { return with })
	f.shut(f.offset(n.End()), ")")
}

// receive2 rewrites <-c where it has two results.
func (f *file) receive2(x ast.Expr) {
	if n, ok := ast.Unparen(x).(*ast.UnaryExpr); ok && n.Op == token.ARROW {
		f.receive(n, "Recv2(")
	}
}

// builtin returns the name of the builtin function that an identifier stands for, "" if for none.
func (f *file) builtin(id *ast.Ident) string {
	if b, ok := f.info.Uses[id].(*types.Builtin); ok {
		return b.Name()
	}
	return ""
}

// gosched rewrites runtime.Gosched. The import must stay in use.
func (f *file) gosched(n ast.Expr, id *ast.Ident) {
	if fun, ok := f.info.Uses[id].(*types.Func); ok && fun.FullName() == "runtime.Gosched" {
		f.done[id] = true
		if f.tail == "" {
			f.tail = "\nvar _ = " + f.src[f.offset(n.Pos()):f.offset(n.End())]
		}
		f.put(n, f.call("Gosched"))
	}
}

// goStmt rewrites go f(x) to Start(f)(x), and go f() to Go(f).
func (f *file) goStmt(n *ast.GoStmt) {
	fun, from := n.Call.Fun, f.offset(n.Go)
	id, _ := ast.Unparen(fun).(*ast.Ident)
	switch name := f.builtinOf(id); {
	case name == "close":
		f.done[n.Call] = true
		f.replace(from, from+len("go"), func() string { return f.call("Go(") })
		f.put(id, f.call("Closing"))
		f.shut(f.offset(n.End()), ")")
		return
	case name != "":
		f.call("")
		f.replace(from, from+len("go"), func() string { return f.call("Go(func() {") })
		f.shut(f.offset(n.End()), " })")
		return
	}
	f.call("")
	lparen, end := f.offset(n.Call.Lparen), f.offset(n.Call.End())
	sig, _ := f.typeOf(fun).(*types.Signature)
	if sig != nil && sig.Params().Len() == 0 && sig.Results().Len() == 0 {
		f.replace(from, from+len("go"), func() string { return f.call("Go(") })
		f.replace(lparen, end, func() string { return f.lines(lparen, end, "") + ")" })
		return
	}
	f.replace(from, from+len("go"), func() string { return f.call("Start(") })
	f.shut(f.offset(fun.End()), f.instance(fun)+")")
}

func (f *file) builtinOf(id *ast.Ident) string {
	if id == nil {
		return ""
	}
	return f.builtin(id)
}

// typeOf is the type below the name of the type of an expression, nil if that is not known.
func (f *file) typeOf(x ast.Expr) types.Type {
	if t := f.info.TypeOf(x); t != nil {
		return t.Underlying()
	}
	return nil
}

// instance returns the type arguments that the call of a generic function leaves to the compiler, "" if it
// does not.
func (f *file) instance(fun ast.Expr) string {
	var id *ast.Ident
	switch fun := ast.Unparen(fun).(type) {
	case *ast.Ident:
		id = fun
	case *ast.SelectorExpr:
		id = fun.Sel
	default:
		return ""
	}
	inst, ok := f.info.Instances[id]
	if !ok {
		return ""
	}
	var args []string
	for i := range inst.TypeArgs.Len() {
		args = append(args, types.TypeString(inst.TypeArgs.At(i), f.qualifier))
	}
	return "[" + strings.Join(args, ", ") + "]"
}

// qualifier is the name under which the file imports a package.
func (f *file) qualifier(p *types.Package) string {
	if p == f.pkg {
		return ""
	}
	for _, spec := range f.syntax.Imports {
		if path, _ := strconv.Unquote(spec.Path.Value); path == p.Path() && spec.Name != nil {
			return spec.Name.Name
		}
	}
	return p.Name()
}

// rangeStmt rewrites for v := range c, if c is a channel, to a loop that receives.
func (f *file) rangeStmt(n *ast.RangeStmt) {
	if !f.chanOf(n.X) {
		return
	}
	from, brace := f.offset(n.For), f.offset(n.Body.Lbrace)
	f.call("")
	f.replace(from, brace, func() string {
		s := "for c_ := " + f.of(n.X) + "; ; "
		return s + f.lines(from, brace, s)
	})
	get := "if _, ok_ := " + f.call("Recv2(c_)") + "; !ok_ { break }; "
	if n.Key != nil {
		get = "v_, ok_ := " + f.call("Recv2(c_)") + "; if !ok_ { break }; "
	}
	f.replace(brace, brace+1, func() string {
		if n.Key == nil {
			return "{ " + get
		}
		return "{ " + get + f.src[f.offset(n.Key.Pos()):f.offset(n.Key.End())] + " " + n.Tok.String() + " v_; "
	})
}

// chanOf reports whether an expression is a channel.
func (f *file) chanOf(x ast.Expr) bool {
	t := f.typeOf(x)
	if p, ok := f.info.TypeOf(x).(*types.TypeParam); ok {
		t = core(p)
	}
	_, ok := t.(*types.Chan)
	return ok
}

// core is the type below all types of a type parameter, nil if they differ.
func core(p *types.TypeParam) (t types.Type) {
	iface, ok := p.Constraint().Underlying().(*types.Interface)
	if !ok {
		return nil
	}
	for i := range iface.NumEmbeddeds() {
		switch e := iface.EmbeddedType(i).(type) {
		case *types.Union:
			if e.Len() > 0 {
				t = e.Term(0).Type().Underlying()
			}
		default:
			t = e.Underlying()
		}
	}
	return t
}
