package main

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// group is how what a limiter of goroutines runs is handed to it: Go with a function, and a
// context perhaps. "" if it is none.
func (a *adapter) group() string {
	sig := a.signature("Go")
	if sig == nil || sig.Variadic() {
		return ""
	}
	var args []string
	for v := range sig.Params().Variables() {
		switch f, ok := v.Type().Underlying().(*types.Signature); {
		case kindOf(v.Type()) == context:
			args = append(args, "ctx")
		case kindOf(v.Type()) == work:
			args = append(args, "func() { <-done }")
		case ok && plain(f) == " -> error":
			args = append(args, "func() error { <-done; return nil }")
		default:
			return ""
		}
	}
	return instance + ".Go(" + strings.Join(args, ", ") + ")"
}

// pairs reports whether something begins and ends in two methods, of which the first is handed nothing to run. What
// tells how many it took or how long it waited has tokens.
func (a *adapter) pairs() bool {
	begin := slices.ContainsFunc(slices.Concat(takes, begins), func(name string) bool {
		sig := a.signature(name)
		return sig != nil && !sig.Variadic() && countOf(count, sig.Results())+countOf(duration, sig.Results()) == 0 &&
			!slices.ContainsFunc(kindsOf(sig.Params()), func(k kind) bool {
				return k != context && k != count && k != duration && k != ending
			})
	})
	end := slices.ContainsFunc(slices.Concat(gives, ends), func(name string) bool {
		sig := a.signature(name)
		return sig != nil && !sig.Variadic() && countOf(ending, sig.Results()) == 0 &&
			!slices.ContainsFunc(kindsOf(sig.Params()), func(k kind) bool { return k != count && k != failure })
	})
	return begin && end && !a.given(perSec)
}

// fillGroup sets what a limiter of goroutines can do: a slot is taken by a function that runs
// until it is given back.
func (a *adapter) fillGroup(used map[string]bool) {
	call := a.group()
	if call == "" {
		return
	}
	a.use("context", "context")
	body := call
	if results := kindsOf(a.signature("Go").Results()); len(results) == 1 && results[0] == boolean {
		a.use("errors", "errors")
		body = fmt.Sprintf("if !%s {\nreturn nil, errors.New(\"not started\")\n}", call)
	}
	ctx := map[bool]string{true: "ctx", false: "_"}[strings.Contains(call, "(ctx")]
	a.put("Take", fmt.Sprintf("func(%s context.Context, _ int) (func(), error) {\ndone := make(chan struct{})\n%s\n"+
		"return func() { close(done) }, nil\n}", ctx, body))
	a.declare("OneAtATime", "true")
	used["Go"], used["Wait"] = true, true // which waits for all
}

// serve sets Do to what a middleware does with a handler.
func (a *adapter) serve(wrap string) {
	a.use("context", "context")
	a.use("errors", "errors")
	a.use("net/http", "http")
	a.use("net/http/httptest", "httptest")
	a.put("Do", `func(ctx context.Context, run func()) error {
served := false
next := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served = true; run() })
`+wrap+`.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil).WithContext(ctx))
if !served {
return errors.New("rejected")
}
return nil
}`)
	a.declare("OneAtATime", "true")
	a.declare("ContextError", "concurrencytest.ErrorOfOwn") // which is that of Do
}
