package clocktest

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// program returns the random schedule of n steps that belongs to a seed. Lengths are any number of nanoseconds, so
// that few instants coincide: package time promises no order for those that do.
func (c *contract) program(s *suite.Suite, seed uint64, n int) conformance.Schedule {
	random := rand.New(rand.NewPCG(seed, 0))
	pick := func(_ string, n int) int { return random.IntN(n) }
	length := func(_ string, most time.Duration) time.Duration { return time.Duration(random.Int64N(int64(most))) }
	return newProgram(s, &c.traits, pick, length).draw(n)
}

// measure chooses a duration below most. The label says what for, as that of a [suite.Pick] does.
type measure = func(label string, most time.Duration) time.Duration

// Labels of the choice of an operation, and of what is out of the ordinary if it is 0.
const (
	labelOperation = "operation"

	labelWithout = "without"
	labelOdd     = "odd length"
	labelLast    = "bad period at the end"
)

// program is a random schedule while it is drawn, which uses everything that the clock
// has.
type program struct {
	pick        suite.Pick
	length      measure
	suite       *suite.Suite
	traits      *Traits
	ops, nested []conformance.Op // the operations of the schedule, and those of functions
	flow        bool             // goroutines sleep and receive
	late        bool             // Go 1.24: bubbles fire timers of no duration that a function arms too late

	steps    []conformance.Step
	at       time.Duration
	kinds    []conformance.Op // of each id, from 1 on
	dues     []time.Duration  // of each id
	consumed map[int]bool     // channels that have a consumer
}

func newProgram(s *suite.Suite, tr *Traits, pick suite.Pick, length measure) *program {
	p := &program{
		pick: pick, length: length, suite: s, traits: tr, consumed: map[int]bool{}, flow: tr.Waits <= WaitsForAll,
		late: strings.HasPrefix(runtime.Version(), "go1.24"),
	}
	ops := []conformance.Op{
		verb.Timer, verb.Timer, verb.AfterFunc, verb.AfterFunc,
		verb.Ticker, verb.After,
		verb.Halt, verb.Halt, verb.Rearm, verb.Rearm,
		verb.Read, verb.Read, verb.Read, verb.Now,
		verb.Idle, verb.Idle, verb.Idle,
		verb.Timeout, verb.Deadline, verb.Within, verb.Cancel,
		verb.Err, verb.Armed, verb.Chan,
	}
	if p.flow {
		ops = append(ops, verb.Consume, verb.Sleep)
	}
	ops = s.Supported(ops...)
	nested := s.Supported(verb.Now, verb.Timer, verb.AfterFunc, verb.Ticker,
		verb.Halt, verb.Rearm, verb.Read, verb.Nap,
		verb.Cancel, verb.Timeout)
	// Each program leaves out some of the operations, so that a mistake in one cannot hide
	// a mistake in another.
	var without []conformance.Op
	for _, op := range slices.Compact(slices.Clone(ops)) {
		if op != verb.Idle && pick(labelWithout, 4) == 0 {
			without = append(without, op)
		}
	}
	dropped := func(op conformance.Op) bool { return slices.Contains(without, op) }
	p.ops = slices.DeleteFunc(ops, dropped)
	if !s.CannotReenter && tr.Waits != WaitsForNothing {
		p.nested = slices.DeleteFunc(nested, dropped)
	}
	return p
}

// drawsPerStep bounds the draws: the operations that are left may have nothing to do.
const drawsPerStep = 100

// draw draws n steps, or fewer if no operation can act, and maybe one more.
func (p *program) draw(n int) conformance.Schedule {
	for draws := 0; len(p.steps) < n && draws < drawsPerStep*n; draws++ {
		op := p.ops[p.pick(labelOperation, len(p.ops))]
		if op == verb.Idle {
			p.idle()
			continue
		}
		st, ok := p.step(op, 0)
		if !ok {
			continue
		}
		p.steps = append(p.steps, st)
		acts := op == verb.AfterFunc && p.traits.forbids() == "" ||
			op == verb.Sleep || op == verb.Consume
		if acts && len(p.nested) > 0 && p.pick("acts", 3) > 0 {
			for range 1 + p.pick("more", 2) {
				act := p.nested[p.pick("act", len(p.nested))]
				if p.traits.OnAdvance && op == verb.AfterFunc && act == verb.Nap {
					continue
				}
				if f, ok := p.step(act, st.N); ok {
					p.steps = append(p.steps, f)
				}
			}
		}
	}
	for i := range p.steps { // go.dev/issue/76052: Go 1.25.12 hangs for good
		if st := &p.steps[i]; st.Op == verb.Rearm && p.consumed[st.N] {
			st.D = max(st.D, 1)
		}
	}
	p.badPeriod()
	return conformance.Schedule{Steps: p.steps}
}

// idle lets time pass: some time, or until a deadline, or just before or after it.
func (p *program) idle() {
	d := p.length("idle", 40*time.Minute)
	if len(p.dues) > 0 && p.pick("to a deadline", 2) == 0 {
		d = p.dues[p.pick("deadline", len(p.dues))] + time.Duration(p.pick("around", 3)-1) - p.at
	}
	if d <= 0 {
		return
	}
	p.at += d
	p.steps = append(p.steps, conformance.Step{Op: verb.Idle, D: d, At: p.at})
}

// badPeriod ends some programs with a period that must panic. It comes last, as a clock
// that accepts it may spin when it moves.
func (p *program) badPeriod() {
	id := p.one(verb.Ticker)
	if p.pick(labelLast, 4) != 0 || id == 0 {
		return
	}
	bad := conformance.Step{Op: verb.Ticker, N: p.made(verb.Ticker, 0), At: p.at}
	bad.D = -time.Duration(p.pick("below zero", 2))
	if p.pick("Reset", 2) == 0 && p.suite.Accepts(opResetTicker) {
		bad.Op, bad.N = verb.Rearm, id
	}
	p.steps = append(p.steps, bad)
}

// one returns the id of something that one of these operations made, 0 if there is none.
func (p *program) one(of ...conformance.Op) int {
	for range 8 {
		if len(p.kinds) == 0 {
			return 0
		}
		id := 1 + p.pick("id", len(p.kinds))
		if slices.Contains(of, p.kinds[id-1]) {
			return id
		}
	}
	return 0
}

// made returns a new id.
func (p *program) made(op conformance.Op, d time.Duration) int {
	p.kinds, p.dues = append(p.kinds, op), append(p.dues, p.at+d)
	return len(p.kinds)
}

// wait returns the duration of a timer: an hour at most, often close to zero, and
// sometimes zero or negative.
func (p *program) wait(op conformance.Op, in int) time.Duration {
	switch p.pick(labelOdd, 12) {
	case 0:
		if in == 0 && (op != verb.AfterFunc || p.flow && !p.traits.OnAdvance) || in != 0 && !p.late {
			return -time.Duration(p.pick("below zero", 2))
		}
	case 1:
		return 1 + p.length("short", 1000)
	}
	return 1 + p.length("length", time.Hour)
}

// contextKinds are the operations that make contexts, which may be parents of others.
var contextKinds = []conformance.Op{verb.Timeout, verb.Deadline, verb.Within}

// step draws one step of the schedule, or of function, sleeper or consumer in, and reports
// whether it can be done.
func (p *program) step(op conformance.Op, in int) (st conformance.Step, ok bool) {
	st = conformance.Step{Op: op, At: p.at, In: in}
	switch op {
	case verb.Timer, verb.After, verb.AfterFunc, verb.Ticker, verb.Sleep,
		verb.Timeout, verb.Deadline, verb.Within:
		p.make(&st)
		return st, true
	case verb.Consume:
		st.K = p.one(verb.Timer, verb.Ticker, verb.After)
		if st.K == 0 || p.consumed[st.K] {
			return st, false
		}
		p.consumed[st.K] = true
		st.N = p.made(op, 0)
	case verb.Rearm:
		return st, p.rearm(&st)
	case verb.Halt:
		st.N = p.one(verb.Timer, verb.Ticker, verb.AfterFunc)
	case verb.Chan:
		st.N = p.one(verb.Timer, verb.AfterFunc)
	case verb.Read:
		st.N = p.one(verb.Timer, verb.Ticker, verb.After)
	case verb.Cancel, verb.Err:
		st.N = p.one(contextKinds...)
	case verb.Nap:
		st.D = 1 + p.length("nap", 10*time.Minute)
	}
	bare := op == verb.Now || op == verb.Armed || op == verb.Nap
	return st, bare || st.N != 0
}

// make completes a step that makes something.
func (p *program) make(st *conformance.Step) {
	switch st.Op {
	case verb.Within: // which has no end of its own
	case verb.Ticker:
		st.D = time.Minute + 1 + p.length("length", time.Hour) // so that there are few ticks
	case verb.Sleep:
		st.D = 1 + p.length("length", time.Hour)
	default:
		st.D = p.wait(st.Op, st.In)
	}
	st.N = p.made(st.Op, st.D)
	if st.Op == verb.Deadline {
		st.D += p.at
	}
	if slices.Contains(contextKinds, st.Op) {
		st.K = p.one(contextKinds...)
	}
}

// rearm completes a Reset, and reports whether there is something to reset.
func (p *program) rearm(st *conformance.Step) bool {
	st.N = p.one(verb.Timer, verb.Ticker, verb.AfterFunc)
	if st.N == 0 {
		return false
	}
	kind := p.kinds[st.N-1]
	st.D = p.wait(kind, st.In)
	if !resets(p.suite, kind == verb.Ticker) {
		return false
	}
	if kind == verb.Ticker {
		st.D = time.Minute + p.length("length", time.Hour)
	}
	p.dues[st.N-1] = p.at + st.D
	return true
}
