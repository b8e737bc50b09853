package clocktest

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// inGo puts an event into the words of package time: that halt 1 has shown true is "Stop of timer 1 reported true".
func (e event) inGo(s conformance.Schedule) string {
	subject := made(e.step.N, s)
	switch op := e.step.Op; {
	case e.text == panics || e.text == hasReturned:
		return method(e.step, s) + " " + e.text
	case op == verb.Halt || op == verb.Rearm:
		return method(e.step, s) + " reported " + e.text
	case op == verb.Read && e.text == "nothing":
		return "nothing was received from " + subject
	case op == verb.Read:
		return "the value received from " + subject + " is " + e.text
	case op == verb.Chan:
		return "the channel of " + subject + " is nil: " + e.text
	case op == verb.Err:
		return "Err of " + subject + suite.If(e.text != "blocks", " is") + " " + e.text
	case op == verb.Now:
		return "Now is " + e.text
	case op == verb.Armed:
		return "the number of armed timers is " + e.text
	}
	return e.text
}

// missing says that an event did not come, up to the instant at which it was due.
func (e event) missing(s conformance.Schedule) string {
	if who, ok := strings.CutSuffix(e.text, " runs"); ok {
		return who + " did not run, want it at "
	}
	if who, _, ok := strings.Cut(e.text, " wakes"); ok {
		return who + " did not wake, want it at "
	}
	if who, value, ok := strings.Cut(e.text, " receives "); ok {
		return who + " received nothing, want " + value + " at "
	}
	if e.text == panics {
		return method(e.step, s) + " did not panic, want a panic at "
	}
	return "nothing happened, want that " + e.inGo(s) + " at "
}

// makes are the calls of package time, by the steps that make something with a duration, or let it pass.
var makes = map[conformance.Op]string{
	verb.Timer: "NewTimer", verb.Ticker: "NewTicker", verb.After: "After",
	verb.AfterFunc: "AfterFunc", verb.Timeout: "WithTimeout", verb.Deadline: "WithDeadline",
	verb.Idle: "Advance", verb.Sleep: "Sleep", verb.Nap: "Sleep",
}

// uses are those of steps that are about what was made before.
var uses = map[conformance.Op]string{
	verb.Halt: "Stop of ", verb.Cancel: "cancel of ", verb.Read: "a receive from ",
	verb.Chan: "Chan of ",
}

// method is the call of package time that a step makes.
func method(step conformance.Step, s conformance.Schedule) string {
	d := "(" + timeline.Duration(step.D) + ")"
	switch op := step.Op; {
	case op == verb.Rearm:
		return "Reset" + d + " of " + made(step.N, s)
	case makes[op] != "":
		return makes[op] + d
	case uses[op] != "":
		return uses[op] + made(step.N, s)
	}
	return call(step)
}

// makers are what steps make, as it is called with its number.
var makers = map[conformance.Op]string{
	verb.Timer: "timer %d", verb.Ticker: "ticker %d", verb.After: "channel %d of After", verb.AfterFunc: "function %d",
	verb.Sleep: "sleeper %d", verb.Consume: "consumer %d",
	verb.Timeout: "context %d", verb.Deadline: "context %d", verb.Within: "context %d",
}

// maker is the step of a schedule that first makes what has a number, without an operation if there is none.
func maker(n int, s conformance.Schedule) conformance.Step {
	for _, m := range s.Steps {
		if m.N == n && makers[m.Op] != "" {
			return m
		}
	}
	return conformance.Step{}
}

// made names what has a number in a schedule.
func made(n int, s conformance.Schedule) string {
	return fmt.Sprintf(cmp.Or(makers[maker(n, s).Op], "%d"), n)
}
