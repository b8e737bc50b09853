package clocktest

import (
	"context"
	"sync"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// ledger keeps account of the timers of a world on package time, which cannot be asked
// what is armed: how many timers are armed, what state each is in, and whether the outcome
// of the schedule depends on an order that package time leaves open.
type ledger struct {
	now func() time.Duration // since the start

	mu      sync.Mutex
	open    string // why the outcome depends on an order that is open; "" if it does not
	met     []meeting
	objects map[int]*object
	all     []*object // naps, and those whose number was used again, too
	actedAt time.Duration
	turn    int
}

// meeting is an operation on a timer, and the state in which the timer was.
type meeting struct {
	kind, op conformance.Op
	state    string
}

// object is a timer of any kind.
type object struct {
	kind   conformance.Op
	due    time.Duration // the deadline; of a ticker the first tick that nobody has received
	period time.Duration
	halted bool
	ctx    context.Context // of a context
	idle   bool            // of a context whose parent's deadline is no later: it may do without a timer
	taken  bool            // the value was received, or the function ran
	served time.Duration   // when
}

func newLedger(now func() time.Duration) *ledger {
	return &ledger{now: now, objects: map[int]*object{}, actedAt: -1}
}

// States of a timer.
const (
	stateArmed   = "armed"
	stateUnread  = "unread" // fired, its value not received
	stateSpent   = "spent"  // fired and received, or run
	stateStopped = "stopped"
)

func (o *object) state(now time.Duration) string {
	switch {
	case o.halted:
		return stateStopped
	case o.due > now:
		return stateArmed
	case o.kind == verb.AfterFunc || o.kind != verb.Ticker && o.taken:
		return stateSpent
	}
	return stateUnread
}

// takes notes that its value was received, or that its function ran.
func (o *object) takes(now time.Duration) {
	o.taken, o.served = true, now
	if o.kind == verb.Ticker {
		o.due += ((now-o.due)/o.period + 1) * o.period
	}
}

// fires reports whether a timer is due at this very instant, be it for a tick that is dropped.
func (o *object) fires(now time.Duration) bool {
	return o.due == now || o.period > 0 && o.due < now && (now-o.due)%o.period == 0
}

// before notes a step that is about to be done, and returns the state of the timer that it stops, resets or reads,
// "" for other steps.
func (l *ledger) before(s conformance.Step) (state string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	o := l.objects[s.N]
	made := func(o object) {
		o.kind, o.served = s.Op, -1
		l.all = append(l.all, &o)
		if s.Op != verb.Nap {
			l.objects[s.N] = &o
		}
	}
	switch s.Op {
	case verb.Timer, verb.After, verb.AfterFunc, verb.Timeout, verb.Sleep, verb.Nap:
		made(object{due: suite.Sum(now, max(s.D, 0))})
	case verb.Deadline:
		made(object{due: max(s.D, now)})
	case verb.Ticker:
		if s.D > 0 {
			made(object{due: suite.Sum(now, s.D), period: s.D})
		}
	case verb.Halt, verb.Rearm, verb.Read:
		if o == nil {
			return ""
		}
		state = o.state(now)
		l.met = append(l.met, meeting{o.kind, s.Op, state})
		switch {
		case s.Op == verb.Read && state == stateUnread:
			o.takes(now)
		case s.Op == verb.Halt:
			o.halted = true
		case s.Op == verb.Rearm && (o.kind != verb.Ticker || s.D > 0):
			o.halted, o.taken, o.due = false, false, suite.Sum(now, max(s.D, 0))
			if o.kind == verb.Ticker {
				o.period = s.D
			}
		}
	}
	return state
}

// context notes the context that was made under the number n, and its parent.
func (l *ledger) context(n int, ctx, parent context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o := l.objects[n]; o != nil {
		o.ctx = ctx
		end, ends := parent.Deadline()
		own, _ := ctx.Deadline()
		o.idle = ends && own.Equal(end)
	}
}

// took notes that a consumer has received the value of timer n.
func (l *ledger) took(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o := l.objects[n]; o != nil {
		o.takes(l.now())
	}
}

// acts notes that function, sleeper or consumer id is about to do s in its turn. The
// outcome is open if another turn may come at the same instant, or if a timer that s uses
// may fire at it.
func (l *ledger) acts(id, turn int, s conformance.Step) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if o := l.objects[id]; o != nil && o.kind == verb.AfterFunc && o.due == now {
		o.takes(now)
	}
	if l.actedAt == now && l.turn != turn {
		l.open = "two goroutines act at one instant"
	}
	l.actedAt, l.turn = now, turn
	switch s.Op {
	case verb.Halt, verb.Rearm, verb.Read:
		if o := l.objects[s.N]; o != nil && !o.halted && o.fires(now) && o.served != now {
			l.open = "a timer is due at the instant at which another goroutine touches it"
		}
	case verb.Cancel, verb.Timeout, verb.Deadline, verb.Within, verb.Armed:
		for _, o := range l.objects {
			if !o.halted && o.due == now && o.served != now {
				l.open = "something is due at the instant at which another goroutine observes everything"
			}
		}
	}
}

// armed counts the timers whose deadline is still to come. A context that its parent ends in time
// needs none, and may have one, so that between least and most are right.
func (l *ledger) armed() (least, most int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	for _, o := range l.all {
		switch {
		case o.kind == verb.Timeout || o.kind == verb.Deadline:
			if o.ctx.Err() == nil {
				most++
				least += suite.Number(!o.idle)
			}
		case !o.halted && (o.kind == verb.Ticker || o.due > now):
			least, most = least+1, most+1
		}
	}
	return least, most
}
