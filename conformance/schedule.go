package conformance

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/escapement-go/escapement/internal/timeline"
)

// Schedule says what is done to an implementation, and when. It is a value with
// one text form, the same in failure messages, in golden files, in fuzz corpora
// and in ESCAPEMENT_SCHEDULE:
//
//	wait=100ms | call 1 @0 | call 2 @99.999999ms | cancel @150ms | idle 1s
//
// The first part is the [Config], unless nothing is configured; the others are the
// steps in the order in which they are done. [ParseSchedule] reads the form back; its
// comment has the grammar.
type Schedule struct {
	Config Config
	Steps  []Step
}

// Step is one operation of a schedule.
type Step struct {
	Op Op
	// N is the operation's first number: the payload of a call, the tokens of an
	// allow, the id of a timer, the key of a cancel, flush or reset.
	N int
	// K is its second number: the key of a call, the weight of an acquire.
	K int
	// D is its duration: the timeout of a wait, the period of a ticker, the
	// length of an idle.
	D time.Duration
	// Rate is the new rate of a setlimit.
	Rate Rate
	// At is the instant of the step, counted from the start of the schedule. Steps
	// of one instant are done in their order, each after the one before it has
	// settled.
	At time.Duration
	// Racing marks a step that races the timers of its instant: the driver tries every
	// order that it can enforce. For a throttle, the racing steps of one instant come in
	// a row, before the timer or after it.
	Racing bool
	// In, if it is not 0, says that the step has no instant of its own: it is done
	// by function, sleeper or consumer In, each time that it runs, wakes or
	// receives (clock). The text form is "@f2".
	In int
}

// Op names an operation, as [ParseSchedule] reads it. Which operations a schedule may use depends on the
// contract it is for. With their arguments they are:
//
//	idle D             time passes (every contract)
//
//	call N [K]         an event with payload N, for key K (debouncer, throttle)
//	fault N            an error item with payload N (throttle); 1: requests fail (limiter, quota)
//	cancel [N]         the pending event, of key N, item N, or the Nth reserve or wait of a limiter
//	flush [N]          of key N (debouncer, batcher)
//	drop               of what is pending (throttle)
//	pending            asks (debouncer)
//	stop               (debouncer, throttle)
//	reset [N]          of key N (throttle)
//	close              the input ends (streams, leaky bucket, batcher)
//	wall D             the wall clock is set D further, or back (debouncer, throttle, leaky bucket)
//
//	allow N [K]        N tokens now or not at all, for key K (limiter, quota)
//	reserve N          (limiter)
//	wait N [D]         blocks for N tokens, for D at most (limiter)
//	tokens             asks (limiter)
//	setlimit RATE      (limiter)
//	setburst N         (limiter)
//
//	put N              item N joins the queue (leaky bucket, batcher)
//
//	acquire N [K] [D]  request N, weight K, for D at most (concurrency)
//	try N [K]          request N, now or not at all (concurrency)
//	do N [D]           request N as a handler (concurrency)
//	release N [K]      request N is done; if there is no request N, K slots are released that
//	                   nobody holds (concurrency)
//	panic N            the handler of request N panics (concurrency)
//	exit N             the handler of request N calls runtime.Goexit (concurrency)
//	resize N           the limit becomes N (concurrency)
//
//	now                asks Now, Since and Until (clock)
//	timer N D          makes timer N (clock)
//	after N D          makes channel N (clock)
//	ticker N D         (clock)
//	afterfunc N D      arms function N (clock)
//	sleep N D          goroutine N sleeps (clock)
//	consume N K        goroutine N receives from timer, channel or ticker K (clock)
//	nap D              the function, sleeper or consumer in which it stands sleeps for D (clock)
//	halt N             Stop of timer, ticker or function N (clock)
//	rearm N D          Reset of timer, ticker or function N (clock)
//	read N             receives from timer, channel or ticker N if there is a value (clock)
//	chan N             asks for the channel of timer or function N (clock)
//	armed              asks how many timers are armed (clock)
//	timeout N D [K]    context N ends in D, under context K (clock)
//	deadline N D [K]   context N ends D after the start (clock)
//	err N              asks context N for its Err (clock)
//	within N [K]       makes context N by context.WithCancelCause, under context K (clock)
type Op string

// idle is the operation that has no instant of its own.
const idle Op = "idle"

// operation is a row of the grammar: what a contract with operations of its own adds.
type operation struct {
	// arguments are 'n' and 'k' for the numbers, 'd' for the duration, 'r' for the rate; an
	// upper-case letter is optional.
	arguments string
	second    string // what its second number is
	counts    bool   // its number counts from 1: see Op.Counts
	amount    bool   // its number says how many: see Op.Amount
	ends      bool   // nothing is expected to work after it: see Op.Ends
}

var operations = map[Op]operation{
	idle: {arguments: "d"},

	"call":    {arguments: "nK", second: "key", counts: true},
	"fault":   {arguments: "n"},
	"cancel":  {arguments: "N"},
	"flush":   {arguments: "N"},
	"drop":    {},
	"pending": {},
	"stop":    {ends: true},
	"reset":   {arguments: "N"},
	"close":   {},
	"wall":    {arguments: "d"},

	"allow":    {arguments: "nK", second: "key", amount: true},
	"reserve":  {arguments: "n", amount: true},
	"wait":     {arguments: "nD", amount: true},
	"tokens":   {},
	"setlimit": {arguments: "r"},
	"setburst": {arguments: "n", amount: true},

	"put": {arguments: "n", counts: true},

	"acquire": {arguments: "nKD", second: "weight"},
	"try":     {arguments: "nK", second: "weight"},
	"do":      {arguments: "nD"},
	"release": {arguments: "nK", second: "weight"},
	"panic":   {arguments: "n"},
	"exit":    {arguments: "n"},
	"resize":  {arguments: "n", amount: true},

	"now":       {},
	"timer":     {arguments: "nd"},
	"after":     {arguments: "nd"},
	"ticker":    {arguments: "nd"},
	"afterfunc": {arguments: "nd"},
	"sleep":     {arguments: "nd"},
	"consume":   {arguments: "nk"},
	"nap":       {arguments: "d"},
	"halt":      {arguments: "n"},
	"rearm":     {arguments: "nd"},
	"read":      {arguments: "n"},
	"chan":      {arguments: "n"},
	"armed":     {},
	"timeout":   {arguments: "ndK", second: "under"},
	"deadline":  {arguments: "ndK", second: "under"},
	"within":    {arguments: "nK", second: "under"},
	"err":       {arguments: "n"},
}

// Arguments says which arguments an operation takes: 'n' and 'k' for its numbers, 'd' for
// its duration, 'r' for its rate; an upper-case letter is optional.
func (op Op) Arguments() string { return operations[op].arguments }

// Second says in a word what the second number of an operation is, if it may have one: a key or a
// weight, or what it is under.
func (op Op) Second() string { return operations[op].second }

// Written reports whether schedules can have the operation as a step. Names of what only some
// implementations can do, such as to take a key, are operations too.
func (op Op) Written() bool {
	_, ok := operations[op]
	return ok
}

// Counts reports whether the number of an operation is a payload or an item, which the
// schedules of the suite count from 1.
func (op Op) Counts() bool { return operations[op].counts }

// Amount reports whether the number of an operation says how many, rather than which.
func (op Op) Amount() bool { return operations[op].amount }

// Ends reports whether nothing is expected to work after an operation.
func (op Op) Ends() bool { return operations[op].ends }

// String returns the step's text form.
func (s Step) String() string { return string(s.append(nil)) }

// append appends the text form to b.
func (s Step) append(b []byte) []byte {
	b = append(b, s.Op...)
	for _, kind := range s.Op.Arguments() {
		switch {
		case kind == 'n', kind == 'N' && s.N != 0:
			b = strconv.AppendInt(append(b, ' '), int64(s.N), 10)
		case kind == 'k', kind == 'K' && s.K != 0:
			b = strconv.AppendInt(append(b, ' '), int64(s.K), 10)
		case kind == 'd', kind == 'D' && s.D != 0:
			b = append(append(b, ' '), timeline.Duration(s.D)...)
		case kind == 'r':
			b = append(append(b, ' '), s.Rate.String()...)
		}
	}
	switch {
	case s.Op == idle:
	case s.In != 0:
		b = strconv.AppendInt(append(b, " @f"...), int64(s.In), 10)
	default:
		b = append(append(b, " @"...), timeline.Duration(s.At)...)
	}
	if s.Racing {
		b = append(b, '~')
	}
	return b
}

// String returns the schedule's text form.
func (s Schedule) String() string {
	b := make([]byte, 0, 256) // one buffer for all, as an exploration asks for 100,000 texts
	if len(s.Config.set) > 0 || len(s.Steps) == 0 {
		b = s.Config.append(b)
	}
	for _, st := range s.Steps {
		if len(b) > 0 {
			b = append(b, " | "...)
		}
		b = st.append(b)
	}
	return string(b)
}

// GoString is String, so that a property test prints a drawn schedule in the
// form in which it can be replayed.
func (s Schedule) GoString() string { return s.String() }

// RacingSteps reports how many steps are marked racing.
func (s Schedule) RacingSteps() int {
	n := 0
	for _, st := range s.Steps {
		if st.Racing {
			n++
		}
	}
	return n
}

// gaps reports how many different times lie between two successive steps.
func (s Schedule) gaps() int {
	seen := make([]time.Duration, 0, 8)
	for i := 1; i < len(s.Steps); i++ {
		if d := s.Steps[i].At - s.Steps[i-1].At; !slices.Contains(seen, d) {
			seen = append(seen, d)
		}
	}
	return len(seen)
}

// Compare orders schedules as failures are reported: fewer steps first, then none racing,
// then plain configurations, fewer different gaps, and text order.
func (s Schedule) Compare(other Schedule) int {
	if order := cmp.Or(
		cmp.Compare(len(s.Steps), len(other.Steps)),
		cmp.Compare(s.RacingSteps(), other.RacingSteps()),
		cmp.Compare(len(s.Config.set), len(other.Config.set)),
		cmp.Compare(s.gaps(), other.gaps()),
	); order != 0 {
		return order
	}
	return cmp.Compare(s.String(), other.String())
}
