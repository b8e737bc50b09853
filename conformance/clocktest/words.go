package clocktest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/escapement-go/escapement/conformance"
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
	case conformance.OpHalt, conformance.OpRearm:
		if !panics {
			return method(step, s) + " reported " + answer
		}
	case conformance.OpRead:
		if answer == "nothing" {
			return "nothing was received from " + subject(step, s)
		}
		return "the value received from " + subject(step, s) + " is " + answer
	case conformance.OpChan:
		return "the channel of " + subject(step, s) + " is nil: " + strings.TrimPrefix(answer, "nil is ")
	case conformance.OpErr:
		if answer == "blocks" {
			return "Err of " + subject(step, s) + " blocks"
		}
		return "Err of " + subject(step, s) + " is " + answer
	case conformance.OpNow:
		return "Now is " + answer
	case conformance.OpArmed:
		return "the number of armed timers is " + answer
	}
	if panics {
		return method(step, s) + " " + answer
	}
	return text
}

// missing says that something did not happen, up to the instant at which it was due.
func missing(text string, s conformance.Schedule) string {
	who, did := text, ""
	for _, verb := range []string{" runs", " wakes", " receives "} {
		if before, after, ok := strings.Cut(text, verb); ok {
			who, did = before, strings.TrimSpace(verb+after)
			break
		}
	}
	switch verb, value, _ := strings.Cut(did, " "); verb {
	case "runs":
		return who + " did not run, want it at "
	case "wakes":
		return who + " did not wake, want it at "
	case "receives":
		return who + " received nothing, want " + value + " at "
	}
	if call, ok := strings.CutSuffix(text, ": panics"); ok {
		return method(call, s) + " did not panic, want a panic at "
	}
	return "nothing happened, want that " + inGo(text, s) + " at "
}

// makes are the calls of package time, by the steps that make something with a duration, or let it pass.
var makes = map[conformance.Op]string{
	conformance.OpTimer: "NewTimer", conformance.OpTicker: "NewTicker", conformance.OpAfter: "After",
	conformance.OpAfterFunc: "AfterFunc", conformance.OpTimeout: "WithTimeout", conformance.OpDeadline: "WithDeadline",
	conformance.OpIdle: "Advance", conformance.OpSleep: "Sleep", conformance.OpNap: "Sleep",
}

// uses are those of steps that are about what was made before.
var uses = map[conformance.Op]string{
	conformance.OpHalt: "Stop of ", conformance.OpCancel: "cancel of ", conformance.OpRead: "a receive from ",
	conformance.OpChan: "Chan of ",
}

// method is the call of package time that a step makes.
func method(step string, s conformance.Schedule) string {
	words := strings.Fields(step)
	op, d := conformance.Op(words[0]), words[min(2, len(words)-1)]
	switch {
	case op == conformance.OpRearm:
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

// made names what has a number in a schedule.
func made(n int, s conformance.Schedule) string {
	for _, m := range s.Steps {
		if m.N != n {
			continue
		}
		switch m.Op {
		case conformance.OpTimer, conformance.OpTicker:
			return fmt.Sprintf("%s %d", m.Op, n)
		case conformance.OpAfter:
			return fmt.Sprintf("channel %d of After", n)
		case conformance.OpAfterFunc:
			return fmt.Sprintf("function %d", n)
		case conformance.OpSleep:
			return fmt.Sprintf("sleeper %d", n)
		case conformance.OpConsume:
			return fmt.Sprintf("consumer %d", n)
		case conformance.OpTimeout, conformance.OpDeadline, conformance.OpWithin:
			return fmt.Sprintf("context %d", n)
		}
	}
	return strconv.Itoa(n)
}
