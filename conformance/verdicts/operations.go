package main

import (
	"regexp"
	"slices"
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
	work  // a func() to be called
	ident // a string: a key
)

// operation is a function of a contract's Funcs that a method may stand for.
type operation struct {
	field   string
	params  []kind
	result  kind
	methods []string // by worth
}

// contract is what init knows of one.
type contract struct {
	pkg, made string // the package, and what New gets besides env and cfg
	names     *regexp.Regexp
	// durations, counts and rates are what constructors are given, in this order.
	durations, counts, rates []string
	operations               []operation
	must                     []string // one of these fields must be set
}

// Names that methods of several contracts have.
var (
	events = []string{
		"Call", "Trigger", "Add", "Debounce", "Throttle", "Do", "DoOrDiscard", "Push", "Run", "Send", "Put", "Submit",
	}
	stops = []string{"Stop", "Shutdown", "Close"}

	// takes and gives are how a slot is taken and given back. So are begins and ends, where the constructor
	// gets a number: on their own they may be anything's.
	takes = []string{
		"AcquireContext", "AcquireCtx", "AcquireWithContext", "Acquire", "AcquirePermit", "AcquireToken",
		"AcquireTimeout", "AcquireWithTimeout", "TryAcquireTimeout", "Borrow", "Enter", "Lock", "P", "TryAcquire",
		"TryBorrow",
	}
	gives  = []string{"Release", "ReleasePermit", "ReleaseToken", "Return", "ReturnToken"}
	begins = []string{"StartContext", "AddWithContext", "Start", "Begin", "Add", "Do", "GetToken", "Get", "Take"}
	ends   = []string{"Unlock", "Leave", "V", "Done", "End", "Finish", "PutToken", "Free", "GiveBack", "Put"}
)

// known are the contracts, those with the plainest names first.
var known = []*contract{
	{
		pkg: "clocktest", names: regexp.MustCompile(`(?i)fake.*clock|clock.*fake|mock`), must: []string{"Advance"},
	},
	{
		pkg: "debouncertest", made: "fire", names: regexp.MustCompile(`(?i)debounc|coalesc`),
		durations: []string{"cfg.Wait", "cfg.MaxWait"}, must: []string{"Call"},
		operations: []operation{
			{"Call", []kind{payload}, none, events},
			{"CancelReports", nil, boolean, []string{"Cancel", "Discard"}},
			{"Cancel", nil, none, []string{"Cancel", "Discard", "Clear"}},
			{"Flush", nil, none, []string{"Flush", "FireNow", "Immediate"}},
			{"Pending", nil, boolean, []string{"Pending", "IsPending"}},
			{"Stop", nil, none, stops},
		},
	},
	{
		pkg: "concurrencytest", names: regexp.MustCompile(`(?i)semaphore|bulkhead|concurren|inflight`),
		durations: []string{"cfg.Timeout"}, counts: []string{"cfg.Limit", "cfg.Backlog"},
		must: []string{"Acquire", "Lock"},
		operations: []operation{
			{"Acquire", []kind{context, count}, failure, slices.Concat(takes, begins, []string{"Wait"})},
			{"Lock", []kind{count}, none, slices.Concat(takes, begins)},
			{"TryAcquire", []kind{count}, boolean, []string{
				"TryAcquire", "TryAcquirePermit", "TryBorrow", "TryEnter", "TryStart", "TryAdd", "TryLock", "TryGet",
			}},
			{"Release", []kind{count}, none, slices.Concat(gives, ends)},
			{"Resize", []kind{count}, none, []string{"Resize", "SetLimit"}},
			{"Stop", nil, none, stops},
		},
	},
	{
		pkg: "quotatest", names: regexp.MustCompile(`(?i)quota(s|test)?$|fixed.?window|sliding.?(window|log|counter)`),
		durations: []string{"cfg.Window"}, counts: []string{"cfg.Limit", "cfg.Burst"},
		rates: []string{"float64(cfg.Limit) / cfg.Window.Seconds()"}, must: []string{"Take"},
	},
	{
		pkg: "throttletest", made: "emit", names: regexp.MustCompile(`(?i)throttl|sometimes|batch|bundl|cooldown`),
		durations: []string{"cfg.Interval"}, counts: []string{"cfg.K"}, must: []string{"Call", "Allow"},
		operations: []operation{
			{"Call", []kind{payload}, none, events},
			{"Allow", nil, boolean, []string{"Allow"}},
			{"Reset", nil, none, []string{"Reset"}},
			{"Stop", nil, none, stops},
		},
	},
	{
		pkg: "leakybuckettest", made: "leave", names: regexp.MustCompile(`(?i)leaky|pacer`),
		durations: []string{"cfg.Interval"}, counts: []string{"cfg.Backlog"}, must: []string{"Put"},
		operations: []operation{
			{"Put", []kind{payload}, boolean, []string{"Put", "Add", "Offer", "Push"}},
			{"Stop", nil, none, stops},
		},
	},
	{
		pkg: "limitertest", names: regexp.MustCompile(`(?i)limit|rate|bucket|gcra|window`),
		durations: []string{"cfg.Rate.Per"}, counts: []string{"cfg.Burst"}, rates: []string{"cfg.Rate.PerSecond()"},
		must: []string{"Allow", "AllowN", "AllowAt", "Wait", "WaitN"},
		operations: []operation{
			{"AllowAt", []kind{instant, count}, boolean, []string{
				"AllowAt", "AllowNAt", "AllowN", "TakeAt", "TryTakeAt", "Allow", "Take",
			}},
			{"AllowN", []kind{count}, boolean, []string{
				"AllowN", "TakeAvailable", "TryAcquirePermits", "TryTake", "TryToFulfill", "TryConsume", "Take",
			}},
			{"Allow", nil, boolean, []string{
				"Allow", "TryAccept", "TryAcquire", "TryAcquirePermit", "Take", "LimitReached", "Limited",
			}},
			{"WaitN", []kind{context, count}, failure, []string{"WaitN", "AcquirePermits", "WaitCtx", "Wait"}},
			{"Wait", []kind{count}, none, []string{"Wait", "Take"}},
			{"Tokens", nil, perSec, []string{"Tokens", "Available"}},
			{"SetBurst", []kind{count}, none, []string{"SetBurst"}},
			{"Stop", nil, none, stops},
		},
	},
}
