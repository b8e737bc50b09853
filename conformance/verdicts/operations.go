package main

import (
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// A kind is what an argument or a result is, as far as adapters care.
type kind int

const (
	none     kind = iota
	payload       // an event's number
	count         // how many
	duration      // a time.Duration
	instant       // a time.Time
	perSec        // a rate, as a float64
	boolean
	failure // an error
	context
	work    // a func() to be called
	ident   // a string: a key
	key     // the number of a key
	running // a func() to be called while a slot is held
	ending  // a channel that is closed when nobody waits any more
	release // a func() that gives back
	attempt // one, and whether there is one
	booking // a limitertest.Reservation
	grant   // a quotatest.Answer
	pace    // a limitertest.Rate
)

// operation is a function of a contract's Funcs that a method may stand for.
type operation struct {
	field   string
	params  []kind
	result  kind
	methods []string // by worth; behind "told" only if the comment says that it blocks
}

// instead are the fields that make others needless.
var instead = map[string][]string{
	"Acquire": {"Take"}, "Lock": {"Take"}, "TryAcquire": {"Take"}, "Release": {"Take"}, "Add": {"Put"},
	"Take": {"Put", "TakeAt", "TakeKey", "TakeKeyAt"}, "Peek": {"PeekAt"}, "Wait": {"WaitN"}, "AllowAt": {"AllowKeyAt"},
}

// contract is what init knows of one.
type contract struct {
	pkg, made string // the package, and what New gets besides env and cfg
	names     *regexp.Regexp
	// durations, counts and rates are what constructors are given, in this order.
	durations, counts, rates []string
	operations               []operation
	must                     []string // one of these fields must be set
	denial                   string   // the rule that what keeps another contract breaks, well or badly; "" for none

	named     []wellKnown                   // arguments that names tell
	perSecond struct{ expr, unless string } // a whole number per second, and where there is none
	optional  map[string]string             // what is 0 unless a trait is declared, and its values; negative if none
	remarks   map[string]string             // behind a field
	bounds    []string                      // what a constructor may have no argument for
}

// Names that methods of several contracts have.
var (
	events = []string{
		"Call", "Trigger", "Add", "Debounce", "Throttle", "Do", "DoOrDiscard", "Push", "Run", "Send", "Put", "Submit",
		"Bounce", "Poke", "Touch", "Notify", "Signal", "SendSignal",
	}
	stops = []string{"Stop", "Kill", "Shutdown", "Close"}

	// puts are how batches get their items. Behind "go" are names of methods that wait for the batch.
	puts = []string{
		"AddNoWait", "Add", "Put", "Push", "Enqueue", "Append", "Submit", "Send", "Write", "Call", "Collect", "Insert",
		"Run", "Do", "Load",
	}
	allowsAt = []string{"AllowAt", "AllowNAt", "AllowKeyAt", "AllowN", "TakeAt", "TryTakeAt", "Allow", "Take"}

	allowsN = []string{
		"AllowN", "Allow", "TakeMaxDuration", "TryAcquirePermits", "TryTake", "TryToFulfill", "TryConsume", "Take",
		"ShouldAllow", "CheckCredit", "TakeTokens",
	}
	allows = []string{
		"Allow", "TryAccept", "TryAcquire", "TryAcquirePermit", "Take", "TakeAvailable", "LimitReached", "Limited",
		"Limit", "RateLimit", "Exceeded", "Throttled", "IsLimited", "IsThrottled", "Blocked", "IsBlocked", "Deny",
		"Check", "TakeToken",
	}

	// takes and gives are how a slot is taken and given back. So are begins and ends, where the constructor
	// gets a number: on their own they may be anything's.
	takes = []string{
		"AcquireContext", "AcquireCtx", "AcquireWithContext", "TakeWithContext", "AcquireMany", "Acquire",
		"AcquirePermit", "AcquireToken",
		"AcquireTimeout", "AcquireWithTimeout", "TryAcquireTimeout", "Borrow", "Enter", "Lock", "P", "TryAcquire",
		"TryBorrow",
	}
	gives  = []string{"ReleaseMany", "Release", "ReleasePermit", "ReleaseToken", "Return", "ReturnToken", "Give"}
	begins = []string{
		"StartContext", "AddWithContext", "Start", "Begin", "Add", "Do", "GetToken", "Get", "Take", "Wait",
	}
	ends = []string{"Unlock", "Leave", "V", "Done", "End", "Finish", "PutToken", "Free", "GiveBack", "Put"}
)

var longest = regexp.MustCompile(`(?i)^(with)?max(imum)?_?(wait|delay|duration|time)$|^\w+max$`)

// edges are the arguments that say which edges there are.
func edges(contract string) []wellKnown {
	return []wellKnown{
		{boolean, regexp.MustCompile(`(?i)^(with|on)?leading(edge)?$`), "cfg.Edges&" + contract + ".Leading != 0"},
		{boolean, regexp.MustCompile(`(?i)^(with|on)?trailing(edge)?$`), "cfg.Edges&" + contract + ".Trailing != 0"},
	}
}

// known are the contracts, those with the plainest names first.
var known = []*contract{
	{
		pkg: "clocktest", names: regexp.MustCompile(`(?i)fake.*clock|clock.*fake|mock`), must: []string{"Advance"},
	},
	{
		pkg: "debouncertest", made: "fire", names: regexp.MustCompile(`(?i)debounc|coalesc`),
		durations: []string{"cfg.Wait"}, counts: []string{"cfg.Full"}, must: []string{"Call", "CallKey"},
		optional: map[string]string{
			"cfg.MaxWait": "MaxWait: one of MaxWaitFromFirst, MaxWaitFromFire and MaxWaitOnCall",
			"cfg.Full":    "Full: one of FullFires and FullMakesRoom",
		},
		named:   append(edges("debouncertest"), wellKnown{duration, longest, "cfg.MaxWait"}),
		remarks: map[string]string{"Stop": " // if calls work again afterwards, this is Cancel"},
		operations: []operation{
			{"CallKey", []kind{key, payload}, none, events},
			{"CancelKey", []kind{key}, none, []string{"Cancel", "CancelKey", "Discard"}},
			{"FlushKey", []kind{key}, none, []string{"Flush", "FlushKey"}},
			{"Call", []kind{payload}, none, events},
			{"CancelReports", nil, boolean, []string{"Cancel", "Discard"}},
			{"Cancel", nil, none, []string{"Cancel", "Discard", "Clear"}},
			{"Flush", nil, none, []string{"Flush", "FireNow", "Immediate"}},
			{"Pending", nil, boolean, []string{"Pending", "IsPending"}},
			{"Stop", nil, none, stops},
			{"Close", nil, none, stops},
		},
	},
	{
		pkg: "concurrencytest", names: regexp.MustCompile(`(?i)semaphore|bulkhead|concurren|inflight`),
		durations: []string{"cfg.Timeout"}, counts: []string{"cfg.Limit"},
		must:     []string{"Acquire", "Lock", "Take", "Do"},
		optional: map[string]string{"cfg.Backlog": "", "cfg.Timeout": ""},
		named: []wellKnown{
			{count, regexp.MustCompile(`(?i)backlog|queue|pending|waiting`), "cfg.Backlog"},
			{duration, regexp.MustCompile(`(?i)^(backlog|queue|wait)_?time_?out$`), "cfg.Timeout"},
		},
		operations: []operation{
			{"Take", []kind{context, count}, release, slices.Concat(takes, begins)},
			{"Do", []kind{context, running}, failure, []string{"Do", "Run", "Execute", "Call"}},
			{"Acquire", []kind{context, count}, failure, slices.Concat(takes, begins)},
			{"Lock", []kind{count}, none, slices.Concat(takes, begins)},
			{"TryAcquire", []kind{count}, boolean, []string{
				"TryAcquire", "TryAcquirePermit", "TryBorrow", "TryEnter", "TryStart", "TryAdd", "TryLock", "TryGet",
				"TryTake",
			}},
			{"TryTake", []kind{count}, attempt, []string{"TryAcquire", "TryEnter", "TryStart", "TryGet", "TryTake"}},
			{"Release", []kind{count}, none, slices.Concat(gives, ends)},
			{"Resize", []kind{count}, none, []string{"Resize", "SetLimit", "SetCapacity"}},
			{"Stop", nil, none, stops},
		},
	},
	{
		pkg: "quotatest", names: regexp.MustCompile(`(?i)quota(s|test)?$|fixed.?window|sliding.?(window|log|counter)`),
		durations: []string{"cfg.Window"}, counts: []string{"cfg.Limit"},
		rates:     []string{"float64(cfg.Limit) / cfg.Window.Seconds()"},
		must:      []string{"Take", "TakeKey", "TakeAt", "TakeKeyAt"},
		perSecond: struct{ expr, unless string }{"cfg.Limit", "cfg.Window != time.Second"},
		operations: []operation{
			{"TakeKeyAt", []kind{instant, key, count}, grant, decides},
			{"TakeKey", []kind{key, count}, grant, decides},
			{"TakeAt", []kind{instant, count}, grant, decides},
			{"Take", []kind{count}, grant, decides},
			{"PeekAt", []kind{instant}, grant, append([]string{"Peek"}, lefts...)},
			{"Peek", nil, grant, append([]string{"Peek"}, lefts...)},
			{"GiveBack", []kind{count}, none, []string{"GiveBack", "Refund", "Return", "Undo"}},
			{"Reset", nil, none, []string{"Reset"}},
			{"Stop", nil, none, stops},
		},
	},
	{
		pkg: "batchtest", made: "batch", names: batches, durations: []string{"cfg.Delay"}, counts: []string{"cfg.Size"},
		must: []string{"Add", "Put"}, bounds: []string{"cfg.Size", "cfg.Delay"},
		operations: []operation{
			{"Put", []kind{payload}, failure, puts[:len(puts)-3]},
			{"Add", []kind{payload}, none, slices.Concat(puts[:len(puts)-3], []string{"go Run", "go Do", "go Load"})},
			{"Flush", nil, none, []string{"Flush", "FlushNow"}},
			{"Close", nil, none, slices.Concat(stops, []string{"Dispose"})},
		},
	},
	{
		pkg: "throttletest", made: "emit", names: regexp.MustCompile(`(?i)throttl|sometimes|cooldown`),
		durations: []string{"cfg.Interval"}, counts: []string{"max(1, cfg.K)"},
		must:    []string{"Call", "CallKey", "Allow", "AllowAt"},
		denial:  "TH-NOTDEB",
		named:   edges("throttletest"),
		remarks: map[string]string{"Stop": " // if pending events are emitted all the same, this is Close"},
		operations: []operation{
			{"CallKey", []kind{key, payload}, none, events},
			{"ResetKey", []kind{key}, none, []string{"Reset"}},
			{"Call", []kind{payload}, none, events},
			{"AllowAt", []kind{instant}, boolean, []string{"Allow", "AllowAt"}},
			{"Allow", nil, boolean, []string{"Allow"}},
			{"Reset", nil, none, []string{"Reset"}},
			{"Flush", nil, none, []string{"Flush", "FlushNow", "EmitNow"}},
			{"Drop", nil, none, []string{"Drop", "Discard"}},
			{"Stop", nil, none, stops[:2]},
			{"Close", nil, none, stops[2:]},
		},
	},
	{
		pkg: "leakybuckettest", made: "leave", names: regexp.MustCompile(`(?i)leaky|pacer`),
		durations: []string{"cfg.Interval"}, counts: []string{"cfg.Backlog"}, must: []string{"Put", "Take"},
		rates:     []string{"float64(time.Second) / float64(cfg.Interval)"},
		perSecond: struct{ expr, unless string }{"int(time.Second / cfg.Interval)", "time.Second%cfg.Interval != 0"},
		named:     []wellKnown{{count, regexp.MustCompile(`(?i)slack$`), "0"}},
		remarks:   map[string]string{"Stop": " // if waiting items leave all the same, this is Close"},
		operations: []operation{
			{"Put", []kind{payload}, boolean, []string{
				"TryPut", "Put", "Add", "Offer", "Push", "Enqueue", "Submit", "Send",
			}},
			{"Take", nil, boolean, []string{"Take", "Wait"}},
			{"Cancel", []kind{payload}, boolean, []string{"Cancel"}},
			{"Close", nil, none, stops[2:]},
			{"Stop", nil, none, stops[:2]},
		},
	},
	{
		pkg: "limitertest", names: regexp.MustCompile(`(?i)limit|rate|bucket|gcra|window`),
		durations: []string{"cfg.Rate.Per"}, counts: []string{"cfg.Burst"}, rates: []string{"cfg.Rate.PerSecond()"},
		must:      []string{"Allow", "AllowN", "AllowAt", "Wait", "WaitN", "AllowKey", "AllowKeyAt"},
		perSecond: struct{ expr, unless string }{"cfg.Rate.Events", "cfg.Rate.Per != time.Second"},
		named:     []wellKnown{{count, regexp.MustCompile(`(?i)slack$`), "cfg.Burst - 1"}},
		operations: []operation{
			{"AllowKeyAt", []kind{instant, key, count}, boolean, allowsAt},
			{"AllowKey", []kind{key, count}, boolean, slices.Concat(allowsN, allows, []string{"AllowKey"})},
			{"AllowAt", []kind{instant, count}, boolean, allowsAt},
			{"AllowN", []kind{count}, boolean, allowsN},
			{"Allow", nil, boolean, allows},
			{"WaitN", []kind{context, count}, failure, []string{"WaitN", "AcquirePermits", "WaitCtx", "Wait"}},
			{"ReserveAt", []kind{instant, count}, booking, []string{"ReserveAt", "ReserveNAt", "ReserveN", "Reserve"}},
			{"Reserve", []kind{count}, booking, []string{"ReserveN", "Reserve", "Take"}},
			{"ReserveWithin", []kind{count, duration}, booking, []string{"ReserveWithin", "TakeMaxDuration"}},
			{"Wait", []kind{count}, none, []string{
				"Wait", "Take", "told Throttle", "told Register", "told Limit", "told Acquire", "told Consume",
			}},
			{"TokensAt", []kind{instant}, perSec, []string{"TokensAt", "Tokens"}},
			{"Tokens", nil, perSec, []string{"Tokens", "Available"}},
			{"SetLimitAt", []kind{instant, pace}, none, []string{"SetLimitAt", "SetLimit"}},
			{"SetLimit", []kind{pace}, none, []string{"SetLimit", "SetRate"}},
			{"SetBurstAt", []kind{instant, count}, none, []string{"SetBurstAt", "SetBurst"}},
			{"SetBurst", []kind{count}, none, []string{"SetBurst"}},
			{"Stop", nil, none, stops},
		},
	},
}

func kindsOf(t *types.Tuple) []kind {
	var out []kind
	for v := range t.Variables() {
		out = append(out, kindNamed(v.Name(), v.Type()))
	}
	return out
}

// namesOf are the names of the parameters or results of a kind.
func namesOf(k kind, t *types.Tuple) (names []string) {
	for v := range t.Variables() {
		if kindNamed(v.Name(), v.Type()) == k {
			names = append(names, v.Name())
		}
	}
	return names
}

func countOf(k kind, t *types.Tuple) int { return len(namesOf(k, t)) }

// kindsByName are the kinds of types that their names tell.
var kindsByName = map[string]kind{
	"time.Duration": duration, "time.Time": instant, "context.Context": context, "error": failure,
	"<-chan struct{}": ending,
}

// kindOf says what a type is to an adapter.
func kindOf(t types.Type) kind {
	if k := kindsByName[types.TypeString(t, nil)]; k != none {
		return k
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

// isWork reports whether a type is that of functions that do something, and may return an error.
func isWork(t types.Type) bool {
	sig, ok := t.Underlying().(*types.Signature)
	return ok && (plain(sig) == " -> " || plain(sig) == " -> error")
}

// Names of numbers that are durations end in their unit; those of rates have one too, and VMs are none.
var (
	unitEnd = regexp.MustCompile(`_?(?i:(nano|micro|milli)(?:s|secs?|seconds?)|(sec)(?:s|onds)?|(min)utes|` +
		`(hour)s)$|_?[mM]secs?$|M[sS]$|^ms$|_ms$`)
	noUnit  = regexp.MustCompile(`(?i:per_?(nano|micro|milli|m?s|min|h)\w*)$|[A-Z]M[sS]$`)
	unitsOf = map[string]string{
		"nano": "time.Nanosecond", "micro": "time.Microsecond", "milli": "time.Millisecond", "": "time.Millisecond",
		"sec": "time.Second", "min": "time.Minute", "hour": "time.Hour",
	}
)

// unitOf is the unit of a number that is a duration, as its name tells; "" if it does not.
func unitOf(name string) string {
	if found := unitEnd.FindStringSubmatch(name); found != nil && !noUnit.MatchString(name) {
		return unitsOf[strings.ToLower(strings.Join(found[1:], ""))]
	}
	return ""
}

// unitless is a name without type arguments and without its unit.
func unitless(name string) string { return unitEnd.ReplaceAllString(strings.Split(name, "[")[0], "") }

// kindNamed is the kind of a type; a number that a name gives a unit is a duration, and bytes that are called a key are
// a text.
func kindNamed(name string, t types.Type) kind {
	switch k := kindOf(t); {
	case (k == count || k == perSec) && unitOf(name) != "":
		return duration
	case keys.MatchString(name) && types.TypeString(t, nil) == "[]byte":
		return ident
	default:
		return k
	}
}

// ofInts is a signature or a declared type made for ints, where it is generic, and the type arguments.
func ofInts[T types.Type](declared T) (T, string) {
	generic, ok := any(declared).(interface{ TypeParams() *types.TypeParamList })
	if ok && generic.TypeParams().Len() > 0 {
		n := generic.TypeParams().Len()
		ints := slices.Repeat([]types.Type{types.Typ[types.Int]}, n)
		if t, err := types.Instantiate(nil, declared, ints, true); err == nil {
			return t.(T), "[" + strings.TrimSuffix(strings.Repeat("int, ", n), ", ") + "]"
		}
	}
	return declared, ""
}
