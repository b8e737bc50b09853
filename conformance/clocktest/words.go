package clocktest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// inGo puts what was seen of a clock into the words of package time: "halt 1: true" is "Stop of timer 1 reported true".
func inGo(text string, s conformance.Schedule) string {
	step, answer, ok := strings.Cut(text, ": ")
	if !ok {
		if did, found := strings.CutSuffix(text, " has returned"); found {
			return method(did, s) + " has returned"
		}
		return text
	}
	op, _, _ := strings.Cut(step, " ")
	panics := strings.HasPrefix(answer, "panics")
	switch conformance.Op(op) {
	case verb.Halt, verb.Rearm:
		if !panics {
			return method(step, s) + " reported " + answer
		}
	case verb.Read:
		if answer == "nothing" {
			return "nothing was received from " + subject(step, s)
		}
		return "the value received from " + subject(step, s) + " is " + answer
	case verb.Chan:
		return "the channel of " + subject(step, s) + " is nil: " + strings.TrimPrefix(answer, "nil is ")
	case verb.Err:
		return "Err of " + subject(step, s) + suite.If(answer != "blocks", " is") + " " + answer
	case verb.Now:
		return "Now is " + answer
	case verb.Armed:
		return "the number of armed timers is " + answer
	}
	if panics {
		return method(step, s) + " " + answer
	}
	return text
}

// missing says that something did not happen, up to the instant at which it was due.
func missing(text string, s conformance.Schedule) string {
	if who, ok := strings.CutSuffix(text, " runs"); ok {
		return who + " did not run, want it at "
	}
	if who, _, ok := strings.Cut(text, " wakes"); ok {
		return who + " did not wake, want it at "
	}
	if who, value, ok := strings.Cut(text, " receives "); ok {
		return who + " received nothing, want " + value + " at "
	}
	if call, ok := strings.CutSuffix(text, ": panics"); ok {
		return method(call, s) + " did not panic, want a panic at "
	}
	return "nothing happened, want that " + inGo(text, s) + " at "
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
func method(step string, s conformance.Schedule) string {
	words := strings.Fields(step)
	op, d := conformance.Op(words[0]), words[min(2, len(words)-1)]
	switch {
	case op == verb.Rearm:
		return "Reset(" + d + ") of " + subject(step, s)
	case makes[op] != "":
		return makes[op] + "(" + d + ")"
	case uses[op] != "":
		return uses[op] + subject(step, s)
	}
	return step
}

// subject is what a step is about: "timer 1".
func subject(step string, s conformance.Schedule) string {
	words := strings.Fields(step)
	n, err := strconv.Atoi(words[min(1, len(words)-1)])
	if err != nil {
		return step
	}
	return made(n, s)
}

// makers are what steps make, as it is called with its number.
var makers = map[conformance.Op]string{
	verb.Timer: "timer %d", verb.Ticker: "ticker %d", verb.After: "channel %d of After", verb.AfterFunc: "function %d",
	verb.Sleep: "sleeper %d", verb.Consume: "consumer %d",
	verb.Timeout: "context %d", verb.Deadline: "context %d", verb.Within: "context %d",
}

// made names what has a number in a schedule.
func made(n int, s conformance.Schedule) string {
	for _, m := range s.Steps {
		if m.N == n && makers[m.Op] != "" {
			return fmt.Sprintf(makers[m.Op], n)
		}
	}
	return strconv.Itoa(n)
}
