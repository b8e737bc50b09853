package main

import (
	"fmt"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// Names by which decisions are known.
var (
	decides = []string{
		"TakeN", "Take", "AllowN", "Allow", "RateLimitCtx", "RateLimit", "Increment", "IncrementN", "LimitN", "Limit",
		"Check", "Hit", "Get", "TryTake", "TryAcquire", "TryAcquirePermits", "TryAcquirePermit", "Request", "Reached",
		"LimitReached", "Limited", "OnLimit", "Sample", "TakeAt", "AllowAt", "AllowNAt", "ShouldAllow", "CheckCredit",
		"Exceeded", "Throttled", "IsLimited", "IsThrottled", "Blocked", "IsBlocked", "Deny",
	}
	middlewares = []string{"Handler", "Handle", "Middleware", "Wrap", "Limit"}
	// refuses are names of results, fields and methods that say the opposite of OK.
	refuses = regexp.MustCompile(`(?i)limited|reached|exceed|den(y|ied)|block|onlimit|reject|throttled|` +
		`^(exit|timedout|cancelled)$`)
	grants    = regexp.MustCompile(`(?i)^(ok|allowed|allow|granted|success)$`)
	remains   = regexp.MustCompile(`(?i)^(remaining|left|remain)$`)
	retries   = regexp.MustCompile(`(?i)^(retryafter|retryin|tryagainafter|waitfor)$`)
	resets    = regexp.MustCompile(`(?i)^(resetafter|resetin)$`)
	resetTime = regexp.MustCompile(`(?i)^(reset|resetat|resettime)$`)
	before    = regexp.MustCompile(`(?i)^prev(ious)?(window|count|rate)?$`)
	again     = regexp.MustCompile(`(?i)\b(retry|again|come back|wait)`) // of a comment, on a duration without a name
)

// decision is a method that answers a request, and what its answer has.
type decision struct {
	call     string            // what is called, with its arguments
	vars     []string          // its results
	fields   map[string]string // of quotatest.Answer
	counts   bool              // it takes a number
	misfit   string            // and none of these
	recorder bool              // it takes what http handlers get
	keyed    bool              // it takes the number of a key
	explicit bool              // it takes the time
	open     bool              // whether its true grants or denies is not told
	unused   []string          // what is said of results that are not used
}

// more reports whether it says more than yes or no.
func (d *decision) more() bool {
	return d != nil && (d.fields["Remaining"] != "" || d.fields["RetryAfter"] != "" || d.fields["ResetAfter"] != "")
}

// decision is the method by which the subject decides, that with the most to say; nil if there is
// none.
func (a *adapter) decision() *decision {
	var best *decision
	for _, name := range decides {
		sig := a.signature(name)
		if sig == nil {
			continue
		}
		d := a.decides(name, sig)
		if d != nil && (best == nil || best.open || !d.open && len(d.fields) > len(best.fields) ||
			d.counts && !best.counts && !d.open && len(d.fields) == len(best.fields)) {
			best = d
		}
	}
	return best
}

// decides tells what a method answers, nil if it is no decision.
func (a *adapter) decides(name string, sig *types.Signature) *decision {
	d := &decision{fields: map[string]string{}}
	args, ok := d.arguments(a, sig, name != "Peek")
	if !ok {
		return nil
	}
	for i := range sig.Results().Len() {
		d.result(a, name, sig.Results(), i)
	}
	if d.fields["OK"] == "" {
		return nil
	}
	d.call = instance + "." + name + "(" + strings.Join(args, ", ") + ")"
	return d
}

// arguments are those of a call, of which one is the number of a key if there is a key to be numbered.
func (d *decision) arguments(a *adapter, sig *types.Signature, numbered bool) (args []string, ok bool) {
	for i := range sig.Params().Len() {
		if variadic(sig, i) {
			break
		}
		v := sig.Params().At(i)
		t, arg := v.Type(), ""
		switch k := kindOf(t); {
		case k == context:
			arg = "context.Background()"
		case k == ident:
			arg = a.keyText(v, isKey(v) && numbered && !d.keyed)
			d.keyed = d.keyed || strings.Contains(arg, "(key)")
		case k == instant:
			d.explicit, arg = true, "at"
		case k == count && a.isNumbered(v):
			d.keyed, arg = numbered, map[bool]string{true: "key", false: "1"}[numbered]
		case k == count && !quantity(v):
			arg = types.TypeString(t, a.qualifier) + "(0)"
		case k == count && !d.counts, k == perSec && !d.counts:
			d.counts, d.misfit, arg = true, a.misfit(t, "n"), a.fraction(t, "n")
		default:
			arg = map[string]string{"net/http.ResponseWriter": "w", "*net/http.Request": "r"}[types.TypeString(t, nil)]
			d.recorder = true
		}
		if arg == "" {
			return nil, false
		}
		args = append(args, arg)
	}
	return args, true
}

// remainder is what a method says of how many more events would be granted, of a numbered key or of key 1, as d asks;
// "" if there is none.
func (a *adapter) remainder(d *decision, numbered bool) string {
	for _, name := range []string{"Remaining", "RemainingAt", "Left", "Available"} {
		sig := a.signature(name)
		if sig == nil || sig.Results().Len() != 1 || kindOf(sig.Results().At(0).Type()) != count {
			continue
		}
		var asked decision
		args, ok := asked.arguments(a, sig, numbered)
		same := asked.explicit == d.explicit && asked.keyed == (d.keyed && numbered)
		if ok && same && !asked.counts && !asked.recorder {
			return "int(" + instance + "." + name + "(" + strings.Join(args, ", ") + "))"
		}
	}
	return ""
}

// result looks at a result of a decision. Of its only duration the comment tells what the name does not.
func (d *decision) result(a *adapter, method string, results *types.Tuple, i int) {
	v, said := results.At(i), a.comment(method)
	name := strings.Trim(v.Name(), "_")
	retry, reset := again.MatchString(said), strings.Contains(strings.ToLower(said), "reset")
	if name == "" && i > 0 && retry != reset && countOf(duration, results) == 1 {
		name = map[bool]string{true: "retryAfter", false: "resetAfter"}[retry]
	}
	local := v.Name()
	if local == "" || len(local) == 1 || slices.Contains(reserved, local) {
		local = fmt.Sprintf("r%d", i)
	}
	found := false
	set := func(field, expr string) {
		if d.fields[field] == "" {
			d.fields[field], found = expr, true
		}
	}
	switch k := kindOf(v.Type()); {
	case k == failure:
		set("Err", local)
	case k == boolean:
		denied, told := refuses.MatchString(name), true
		if name == "" && i == 0 {
			denied, told = a.denies(method, "")
		}
		d.open = !told
		set("OK", map[bool]string{true: "!", false: ""}[denied]+local)
	default:
		now := map[bool]string{true: "env.Clock.Now()"}[a.time == "Injected"]
		if d.explicit {
			now = "at"
		}
		for _, m := range append(members(v.Type()), member{name, "", k}) {
			d.member(local, now, m, set)
		}
	}
	d.vars = append(d.vars, map[bool]string{true: local, false: "_"}[found])
	if !found {
		d.unused = append(d.unused, fmt.Sprintf("result %d of %s, a %s, is not used: "+
			"add it to the Answer if it is one of its fields", i+1, method, types.TypeString(v.Type(), a.short)))
	}
}

// member is what a result has: a field, or a method without parameters.
type member struct {
	name, expr string // the expression behind its owner
	kind       kind
}

func members(t types.Type) []member {
	var out []member
	t = pointed(t)
	if s, ok := t.Underlying().(*types.Struct); ok {
		for f := range s.Fields() {
			if f.Exported() {
				out = append(out, member{f.Name(), "." + f.Name(), kindOf(f.Type())})
			}
		}
	}
	set := types.NewMethodSet(types.NewPointer(t))
	if types.IsInterface(t) {
		set = types.NewMethodSet(t)
	}
	for m := range set.Methods() {
		sig := m.Obj().Type().(*types.Signature)
		if m.Obj().Exported() && sig.Params().Len() == 0 && sig.Results().Len() == 1 {
			out = append(out, member{m.Obj().Name(), "." + m.Obj().Name() + "()", kindOf(sig.Results().At(0).Type())})
		}
	}
	return out
}

// says are what parts of results say by their names: a field of quotatest.Answer, and how it is made of the part.
var says = []struct {
	kind        kind
	names       *regexp.Regexp
	field, form string
}{
	{boolean, refuses, "OK", "!%s"},
	{boolean, grants, "OK", "%s"},
	{count, grants, "OK", "%s > 0"}, // how many are allowed
	{count, remains, "Remaining", "int(%s)"},
	{duration, retries, "RetryAfter", "%s"},
	{duration, resets, "ResetAfter", "%s"},
	{duration, resetTime, "ResetAfter", "%s"},
	{instant, resetTime, "ResetAfter", "time.Until(%s)"},
}

// member looks at a part of a result. An instant is one of package time if now is "".
func (d *decision) member(local, now string, m member, set func(field, expr string)) {
	for _, s := range says {
		switch {
		case s.kind != m.kind || !s.names.MatchString(m.name):
		case m.kind == instant && now != "":
			set(s.field, local+m.expr+".Sub("+now+")")
		default:
			set(s.field, fmt.Sprintf(s.form, local+m.expr))
		}
	}
}

func (a *adapter) fillQuota() {
	defer a.left(map[string]bool{"Init": a.maker == nil})
	if wrap := a.middleware(); wrap != "" {
		a.declare("OneAtATime", "true")
		a.assume("its middleware counts requests: declare Fields if it sets the header")
		a.put("Take", `func(n int) quotatest.Answer {
if n != 1 {
panic("one at a time")
}
w, served := httptest.NewRecorder(), false
next := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served = true })
`+wrap+`.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
left, _ := strconv.Atoi(w.Header().Get("X-RateLimit-Remaining"))
return quotatest.Answer{OK: served, Remaining: left}
}`)
		return
	}
	d := a.decision()
	if d != nil && d.open {
		a.note("%s%s", d.call, undecided)
	}
	if d == nil || d.open {
		a.lack("one of these must be set: Take, TakeAt")
		a.fields = append(a.fields, "// Take: nothing fits.")
		return
	}
	for _, said := range d.unused {
		a.ask(said)
	}
	at := ""
	if d.explicit {
		at, a.time = "At", "Explicit"
	}
	left := ""
	if d.fields["Remaining"] == "" {
		left = a.remainder(d, true)
		d.fields["Remaining"] = left
	}
	a.put(map[bool]string{true: "TakeKey", false: "Take"}[d.keyed]+at, d.text(a))
	if left != "" {
		a.put("Peek"+at, "func("+map[bool]string{true: "at time.Time"}[d.explicit]+
			") quotatest.Answer {\nreturn quotatest.Answer{Remaining: "+a.remainder(d, false)+"}\n}")
	}
	if sig := a.signature("Peek"); sig != nil {
		p := a.decides("Peek", sig)
		if p != nil && !p.counts && !p.recorder && !p.keyed && p.explicit == d.explicit {
			a.put("Peek"+at, p.text(a))
		}
	}
	a.fillQuotaEnds()
}

// fillQuotaEnds sets the fields of quotatest.Funcs that give back, forget and end.
func (a *adapter) fillQuotaEnds() {
	for _, back := range []string{"GiveBack", "Refund", "Return", "Undo"} {
		if sig := a.signature(back); sig != nil && slices.Equal(kindsOf(sig.Params()), []kind{count}) {
			t := sig.Params().At(0).Type()
			a.put("GiveBack", "func(n int) { "+instance+"."+back+"("+a.converted(t, "n")+") }")
		}
	}
	if sig := a.signature("Close"); sig != nil && plain(sig) == "context.Context -> error" {
		a.put("Stop", "func() { _ = "+instance+".Close(context.Background()) }")
	}
	for _, name := range append([]string{"Reset"}, stops...) {
		if sig := a.signature(name); sig != nil && strings.HasPrefix(plain(sig), " -> ") {
			field := map[bool]string{true: "Reset", false: "Stop"}[name == "Reset"]
			a.put(field, "func() { "+instance+"."+name+"() }")
		}
	}
}

// text is the function that asks for a decision.
func (d *decision) text(a *adapter) string {
	var b strings.Builder
	field := "Take"
	if strings.HasPrefix(d.call, instance+".Peek(") {
		field = "Peek"
	}
	params := map[string]string{"Take": "n int", "Peek": ""}[field]
	if d.keyed {
		params = "key, n int"
	}
	if d.explicit {
		params = strings.TrimSuffix("at time.Time, "+params, ", ")
	}
	b.WriteString("func(" + params + ") quotatest.Answer {\n")
	if !d.counts && field == "Take" {
		b.WriteString("if n != 1 {\npanic(\"one at a time\")\n}\n")
		a.declare("OneAtATime", "true")
	}
	if d.misfit != "" { // which no window grants; an answer with more than that would be judged
		refusal := map[bool]string{true: `panic("out of range")`, false: "return quotatest.Answer{}"}[d.more()]
		b.WriteString("if " + d.misfit + " {\n" + refusal + "\n}\n")
	}
	if d.recorder {
		b.WriteString("w, r := httptest.NewRecorder(), httptest.NewRequest(\"GET\", \"/\", nil)\n")
	}
	fmt.Fprintf(&b, "%s := %s\n", strings.Join(d.vars, ", "), d.call)
	var parts []string
	for _, name := range []string{"OK", "Remaining", "RetryAfter", "ResetAfter", "Err"} {
		if d.fields[name] != "" {
			parts = append(parts, name+": "+d.fields[name])
		}
	}
	if list := strings.Join(parts, ", "); len(list) < 70 {
		fmt.Fprintf(&b, "return quotatest.Answer{%s}\n}", list)
	} else {
		fmt.Fprintf(&b, "return quotatest.Answer{\n%s,\n}\n}", list)
	}
	return b.String()
}

// middleware is the handler that the subject puts before next, "" if it is no middleware.
func (a *adapter) middleware() string {
	if sig, ok := a.subject.Underlying().(*types.Signature); ok && isMiddleware(sig) {
		return instance + "(next)"
	}
	for _, name := range middlewares {
		if sig := a.signature(name); sig != nil && isMiddleware(sig) {
			return instance + "." + name + "(next)"
		}
	}
	return ""
}

// isMiddleware reports whether a function takes a handler and returns one.
func isMiddleware(sig *types.Signature) bool {
	return plain(sig) == "net/http.Handler -> net/http.Handler" && !sig.Variadic()
}

// algorithms are the Kinds that it may be, as names tell: those of the package's parameters, too, for who counts by two
// windows has to speak of the one before, and no window has a burst. Where they do not, it may be a window of either
// kind.
func (a *adapter) algorithms() []string {
	told := a.byName()
	if told != "" && told != sliding {
		return []string{told}
	}
	if told == "" && a.isGiven(burst) {
		return []string{"GCRA"}
	}
	scope := a.pkg.types.Scope()
	for _, name := range scope.Names() {
		obj, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || !obj.Exported() || !types.IsInterface(obj.Type()) || told == sliding {
			continue
		}
		for m := range obj.Type().Underlying().(*types.Interface).Methods() {
			for v := range m.Signature().Params().Variables() {
				if before.MatchString(v.Name()) {
					return []string{"SlidingCounter"}
				}
			}
		}
	}
	said := strings.ToLower(a.comments())
	if told == sliding || strings.Contains(said, "sliding") && !strings.Contains(said, "fixed") {
		if stamps.MatchString(types.TypeString(pointed(a.subject).Underlying(), nil)) {
			return []string{"SlidingLog"}
		}
		return []string{"SlidingCounter", "SlidingLog"}
	}
	return []string{"FixedWindow", "SlidingLog", "SlidingCounter"}
}

// promises are the names that say what is promised.
var promises = []struct {
	kind  string
	names *regexp.Regexp
}{
	{"GCRA", regexp.MustCompile(`(?i)gcra|bucket`)},
	{"SlidingLog", regexp.MustCompile(`(?i:sliding.?(window.?)?log)|(^|[a-z])Log$`)},
	{"SlidingCounter", regexp.MustCompile(`(?i)sliding.?(window.?)?counter`)},
	{"FixedWindow", regexp.MustCompile(`(?i)fixed.?window`)},
	{sliding, regexp.MustCompile(`(?i)sliding`)},
}

// sliding is the promise of a window that slides, of either kind.
const sliding = "Sliding"

// spoken are the words of comments for each of the promises. Who speaks of two fixed windows estimates from them.
var spoken = regexp.MustCompile(`(?i)(gcra|generic.cell.rate)|(sliding.?(?:window.?)?log)|` +
	`(\bsliding.?(?:window.?)?counter)|(fixed.?windows?\b)`)

// byName is the Kind that a name says, or the only one of which the comments speak; "" if none does. A window that
// slides has the kind that its own comments tell, if they do.
func (a *adapter) byName() string {
	names := a.names()
	for _, name := range names {
		for _, k := range promises {
			if !k.names.MatchString(name) {
				continue
			} else if told := a.spoken(names[:len(names)-2]...); k.kind == sliding && strings.HasPrefix(told, sliding) {
				return told // and not by the package
			}
			return k.kind
		}
	}
	return a.spoken(names...)
}

// stamps are fields that keep instants.
var stamps = regexp.MustCompile(`\[\]time\.Time|(?i:stamps?|times|log) \[\]u?int64`)

// spoken is the only Kind of which the comments on names speak, "" if there is none.
func (a *adapter) spoken(names ...string) string {
	told := ""
	for _, found := range spoken.FindAllStringSubmatch(strings.ReplaceAll(a.commentsOn(names), "two fixed", ""), -1) {
		i := slices.IndexFunc(found[1:], func(words string) bool { return words != "" })
		if told != "" && told != promises[i].kind {
			return ""
		}
		told = promises[i].kind
	}
	return told
}
