package checks

import (
	"go/ast"
	"go/types"
	"regexp"
	"strings"
)

// What a bubble does not hold, by the full names of the standard library's functions. Pipes
// and recorders are not among them, nor what is done with a connection that is there.
var (
	opens = regexp.MustCompile(`^(net\.(Listen|File)|\(\*net\.ListenConfig\)` +
		`|net/http\.ListenAndServe|\(\*net/http\.Server\)\.ListenAndServe` +
		`|net/http/httptest\.New(TLS|Unstarted)?Server$|crypto/tls\.Listen` +
		`|os/exec\.Command|os\.StartProcess|os/signal\.Notify|plugin\.Open|database/sql\.Open` +
		`|syscall\.(Socket|Exec|ForkExec|StartProcess|Kill|Inotify\w*|EpollWait|Kevent|Select)$)`)
	dials = regexp.MustCompile(`^(net\.(Dial|Lookup)|\(\*net\.(Dialer|Resolver)\)` +
		`|crypto/tls\.Dial|\(\*crypto/tls\.Dialer\)|net/rpc\.Dial|net/smtp\.(Dial|SendMail)` +
		`|net/http\.(Get|Head|Post|PostForm)$|\(\*net/http\.(Client|Transport)\)\.)`)
	writes = regexp.MustCompile(`^os\.(Create|CreateTemp|WriteFile|OpenFile|Chtimes|Rename|Pipe)$`)
)

// outside is what a function of the standard library reaches.
func outside(fn *types.Func) *reached {
	name := fn.FullName()
	r := &reached{Unfit: asksRuntime[name], Aligned: aligned[name]}
	switch {
	case opens.MatchString(name):
		r.Opens = short(name)
	case dials.MatchString(name):
		r.Dials = short(name)
	case writes.MatchString(name):
		r.Writes = short(name)
	}
	return r
}

// short is the name of a function without the punctuation of methods.
func short(name string) string { return strings.NewReplacer("(*", "", ")", "").Replace(name) }

// asksRuntime are functions for what neither a clock nor a bubble brings about.
var asksRuntime = map[string]bool{
	"runtime.GC": true, "runtime.Stack": true, "runtime.NumGoroutine": true, "runtime.Gosched": true,
	"runtime.SetFinalizer": true, "runtime.AddCleanup": true, "runtime.ReadMemStats": true,
}

// aligned are functions with which instants are aligned to seconds.
var aligned = map[string]bool{
	"(time.Time).Truncate": true, "(time.Time).Round": true, "(time.Time).Nanosecond": true,
	"(time.Time).Second": true, "(time.Time).Unix": true, "(time.Time).UnixMilli": true,
	"(time.Time).UnixMicro": true, "time.Date": true,
}

// network is what a test reaches that no bubble holds: what it opens, or what it connects
// to, unless it brings the connections itself.
func (r *reached) network() string {
	if r.Opens == "" && !r.Memory {
		return r.Dials
	}
	return r.Opens
}

// advice is what to do instead of a sleep, as far as the code allows it.
func (r *reached) advice() string {
	what := r.network()
	if what == "" && r.Writes == "" {
		return ""
	}
	way := ""
	switch {
	case strings.HasPrefix(what, "net") || strings.HasPrefix(what, "crypto/tls"):
		way = ", or serve it from memory in a bubble"
	case what == "": // files do not keep the time of a bubble from moving, they keep another one
		what = r.Writes
	}
	page := "#which-of-them"
	if way != "" {
		page = connections
	}
	way = or(r.orClock(), way)
	return "it reaches " + what + ", which no bubble holds: wait for the event" + way + ": " + guide + page
}

// orClock is the way that a clock opens, if the code takes one.
func (r *reached) orClock() string {
	if r.Clock {
		return ", or move the clock that the code takes"
	}
	return ""
}

// usesClock reports whether n uses a clock that can be another: an interface with Now.
func (g *graph) usesClock(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !found {
			if fn, ok := g.pass.TypesInfo.Uses[id].(*types.Func); ok {
				recv := fn.Signature().Recv()
				found = recv != nil && types.IsInterface(recv.Type()) && isClock(recv.Type())
			}
		}
		return !found
	})
	return found
}

// isClock reports whether an interface tells the time, and does more than that.
func isClock(t types.Type) bool {
	in, ok := t.Underlying().(*types.Interface)
	if !ok || in.NumMethods() < 2 {
		return false
	}
	for m := range in.Methods() {
		if m.Name() == "Now" && m.Signature().Results().Len() == 1 &&
			types.TypeString(m.Signature().Results().At(0).Type(), nil) == "time.Time" {
			return true
		}
	}
	return false
}

// hasConnections reports whether a test brings connections that are none of the network's: it
// makes a pipe, has a function that connects, or a listener whose type is not the library's.
func (g *graph) hasConnections(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			found = found || g.connects(n.Type)
		case *ast.CallExpr:
			found = found || callee(g.pass, n) == "net.Pipe" || isListener(g.pass.TypesInfo.TypeOf(n))
		}
		return !found
	})
	return found
}

// connects reports whether functions of a type return a connection.
func (g *graph) connects(f *ast.FuncType) bool {
	return f.Results.NumFields() > 0 &&
		types.TypeString(g.pass.TypesInfo.TypeOf(f.Results.List[0].Type), nil) == "net.Conn"
}

// isListener reports whether t is a listener that is not the standard library's.
func isListener(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Pointer)
	if !ok {
		return false
	}
	elem, ok := types.Unalias(named.Elem()).(*types.Named)
	if !ok || elem.Obj().Pkg() == nil || isStandard(elem.Obj().Pkg().Path()) {
		return false
	}
	methods := types.NewMethodSet(t)
	for _, name := range []string{"Accept", "Addr", "Close"} {
		if methods.Lookup(nil, name) == nil {
			return false
		}
	}
	return true
}
