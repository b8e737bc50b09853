package main

import (
	"cmp"
	"fmt"
	"go/types"
	"maps"
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
	// refuses are names of results, fields and methods that say the opposite of OK, and words of comments that do.
	refuses = regexp.MustCompile(`(?i)limited|reached|exceed|den(y|ied)|block|onlimit|reject|throttled|` +
		`^(exit|timedout|cancelled)$|too many|over the`)
	grants  = regexp.MustCompile(`(?i)^(ok|allowed|allow|granted|success)$`)
	remains = regexp.MustCompile(`(?i)^(remaining|left|remain)$`)
	retries = regexp.MustCompile(`(?i)^(retryafter|retryin|tryagainafter|waitfor)$`)
	resets  = regexp.MustCompile(`(?i)^reset(after|in|at|time)?$`)
	before  = regexp.MustCompile(`(?i)^prev(ious)?(window|count|rate)?$`)
	again   = regexp.MustCompile(`(?i)\b(retry|again|come back|wait)`) // of a comment, on a duration without a name
)

// answer is what the results of a method say of a request.
type answer struct {
	method string
	vars   []string          // its results
	fields map[string]string // of quotatest.Answer
	single bool              // it is not told how many
	open   bool              // whether its true grants or denies is not told
	unused []string          // what is said of results that are not used
}

// more reports whether it says more than yes or no.
func (d *answer) more() bool {
	return d != nil && (d.fields["Remaining"] != "" || d.fields["RetryAfter"] != "" || d.fields["ResetAfter"] != "")
}

// decision is the method by which the subject decides, that with the most to say; nil if there is none.
func (a *adapter) decision() (best *answer) {
	quota := known[slices.IndexFunc(known, func(c *contract) bool { return c.pkg == "quotatest" })]
	for _, name := range decides {
		sig := a.signature(name)
		for _, o := range quota.operations {
			if sig == nil || !slices.Contains(quota.must, o.field) {
				continue
			}
			b := *a
			b.choice, b.imports = choice{c: quota}, maps.Clone(a.imports)
			b.set, b.traits = map[string]bool{}, map[string]string{}
			d := b.answer(o, sig, name)
			if d == nil || b.call(o, sig, instance+"."+name, false) == "" && !d.open {
				continue
			}
			d.single = b.traits["OneAtATime"] != ""
			if best == nil || best.open || !d.open && len(d.fields) > len(best.fields) ||
				!d.open && len(d.fields) == len(best.fields) && best.single && !d.single {
				best = d
			}
		}
	}
	return best
}

// answer tells what the results of a method are, nil if whether it grants a request is not among them.
func (a *adapter) answer(o operation, sig *types.Signature, method string) *answer {
	d := &answer{method: method, fields: map[string]string{}}
	until := map[bool]string{true: "%s.Sub(env.Clock.Now())", false: "time.Until(%s)"}[a.time == "Injected"]
	if slices.Contains(o.params, instant) {
		until = "%s.Sub(at)"
	}
	for i := range sig.Results().Len() {
		v := sig.Results().At(i)
		name, local, found := a.nameOf(method, sig.Results(), i), v.Name(), false
		if len(local) < 2 || slices.Contains(reserved, local) {
			local = fmt.Sprintf("r%d", i)
		}
		set := func(field, expr string) {
			if d.fields[field] == "" {
				d.fields[field], found = expr, true
			}
		}
		switch k := kindOf(v.Type()); {
		case k == failure:
			set("Err", local)
		case k == boolean && d.fields["OK"] == "":
			denied, told := a.denies(method, name)
			d.open = !told
			set("OK", map[bool]string{true: "!", false: ""}[denied]+local)
		default:
			for _, m := range append(members(v.Type()), member{name, "", v.Type()}) {
				for _, s := range says {
					if s.kind == kindOf(m.of) && s.names.MatchString(m.name) {
						set(s.field, fmt.Sprintf(cmp.Or(s.form, until), local+m.expr))
					}
				}
			}
		}
		d.vars = append(d.vars, map[bool]string{true: local, false: "_"}[found])
		if !found {
			d.unused = append(d.unused, fmt.Sprintf("result %d of %s, a %s, is not used: "+
				"add it to the Answer if it is one of its fields", i+1, method, types.TypeString(v.Type(), a.short)))
		}
	}
	if slices.Contains(o.params, count) { // it is a request
		if d.fields["Remaining"] == "" {
			d.fields["Remaining"] = a.remainder(o)
		}
		if d.fields["OK"] == "" {
			return nil
		}
	}
	return d
}

// remainder is what a method says of how many more events would be granted, asked as an operation is; "" if there is
// none.
func (a *adapter) remainder(o operation) string {
	for _, name := range lefts {
		left := needs(slices.Clone(o.params))
		sig := a.signature(name)
		if sig == nil || !slices.Equal(kindsOf(sig.Results()), []kind{count}) {
			continue
		}
		if args := a.passed(sig, &left); !slices.Contains(args, "") && slices.Equal(left, []kind{count}) {
			return "int(" + instance + "." + name + "(" + strings.Join(args, ", ") + "))"
		}
	}
	return ""
}

// lefts are what is asked how many more events would be granted.
var lefts = []string{"Remaining", "RemainingAt", "Left", "Available"}

// nameOf is the name of a result. Of the only duration among them the comment tells what its name does not.
func (a *adapter) nameOf(method string, results *types.Tuple, i int) string {
	name, said := strings.Trim(results.At(i).Name(), "_"), a.comment(method)
	if results.Len() == 1 && slices.Contains(lefts, method) {
		return "remaining"
	}
	retry, reset := again.MatchString(said), strings.Contains(strings.ToLower(said), "reset")
	if name == "" && i > 0 && retry != reset && countOf(duration, results) == 1 {
		return map[bool]string{true: "retryAfter", false: "resetAfter"}[retry]
	}
	return name
}

// granting is the body of an adapter of what answers a request, "" if it does not say whether it grants it.
func (a *adapter) granting(o operation, sig *types.Signature, method, call string) string {
	d := a.answer(o, sig, method)
	if d == nil || d.open || len(d.fields) == 0 {
		return ""
	}
	for _, said := range d.unused {
		a.asked.add("%s", said)
	}
	var parts []string
	for _, name := range []string{"OK", "Remaining", "RetryAfter", "ResetAfter", "Err"} {
		if d.fields[name] != "" {
			parts = append(parts, name+": "+d.fields[name])
		}
	}
	list := strings.Join(parts, ", ")
	if len(list) >= 70 {
		list = "\n" + list + ",\n"
	}
	return strings.Join(d.vars, ", ") + " := " + call + "\nreturn quotatest.Answer{" + list + "}"
}

// member is what a result has: a field, or a method without parameters.
type member struct {
	name, expr string // the expression behind its owner
	of         types.Type
}

func members(t types.Type) (all []member) {
	for _, f := range fieldsOf(t) {
		all = append(all, member{f.Name(), "." + f.Name(), f.Type()})
	}
	for _, m := range methodsOf(t) {
		if sig := m.Signature(); sig.Params().Len() == 0 && sig.Results().Len() == 1 {
			all = append(all, member{m.Name(), "." + m.Name() + "()", sig.Results().At(0).Type()})
		}
	}
	return all
}

// fieldsOf are the exported fields of a struct or of what a type points to.
func fieldsOf(t types.Type) (all []*types.Var) {
	if s, ok := pointed(t).Underlying().(*types.Struct); ok {
		all = slices.DeleteFunc(slices.Collect(s.Fields()), func(f *types.Var) bool { return !f.Exported() })
	}
	return all
}

// methodsOf are the exported methods of a type and of a pointer to it.
func methodsOf(t types.Type) (all []*types.Func) {
	if t = pointed(t); !types.IsInterface(t) {
		t = types.NewPointer(t)
	}
	for m := range types.NewMethodSet(t).Methods() {
		if f := m.Obj().(*types.Func); f.Exported() {
			all = append(all, f)
		}
	}
	return all
}

// says are what parts of results say by their names: a field of quotatest.Answer, and how it is made of the part. What
// an instant makes depends on the clock.
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
	{instant, resets, "ResetAfter", ""},
}

// counted sets Take to what a middleware does with a handler.
func (a *adapter) counted(wrap string) {
	defer a.left(map[string]bool{})
	a.declare("OneAtATime", "true")
	a.assumed.add("its middleware counts requests: declare Fields if it sets the header")
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
}

// middleware is the handler that the subject puts before next, "" if it is no middleware.
func (a *adapter) middleware() string {
	if sig, ok := a.subject.Underlying().(*types.Signature); ok && isMiddleware(sig) {
		return instance + "(next)"
	}
	for _, name := range middlewares {
		if isMiddleware(a.signature(name)) {
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
