package conformance

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// maxSteps bounds a schedule that comes from outside, such as a fuzz corpus.
const maxSteps = 10_000

// ParseSchedule reads the text form of a [Schedule]:
//
//	schedule = config { "|" step } | step { "|" step }
//	config   = { key "=" value }          separated by spaces
//	step     = op { argument } "@" ( instant [ "~" ] | "f" number )
//	         | "idle" duration
//
// Keys are the fields of [Config] in lower case; operations and their arguments
// are listed with [Op]. Instants and durations are written as Go durations
// ("1.5ms", "0"), rates as "10/1s". An instant counts from the schedule's start
// and is negative for a time before it; "~" marks a step that races the timers
// of its instant; "@f2" marks what function, sleeper or consumer 2 does when it
// runs; idle lets time pass after the step before it. White space
// around parts is free. The String of the result is the canonical form.
func ParseSchedule(text string) (Schedule, error) {
	parts := strings.Split(text, "|")
	if len(parts) > maxSteps {
		return Schedule{}, fmt.Errorf("schedule: %d steps, at most %d are read", len(parts)-1, maxSteps-1)
	}
	var s Schedule
	if first := strings.Fields(parts[0]); len(first) > 0 && Op(first[0]).Written() { // nothing is configured
		parts = append([]string{""}, parts...)
	}
	for _, field := range strings.Fields(parts[0]) {
		key, value, ok := strings.Cut(field, "=")
		if !ok {
			return Schedule{}, fmt.Errorf("schedule: part 1 (config): %q is not key=value", field)
		}
		if err := s.Config.put(key, value); err != nil {
			return Schedule{}, fmt.Errorf("schedule: part 1 (config): %w", err)
		}
	}
	at := time.Duration(0)
	for i, part := range parts[1:] {
		step, err := parseStep(part, at)
		if err != nil {
			return Schedule{}, fmt.Errorf("schedule: part %d (%q): %w", i+2, strings.TrimSpace(part), err)
		}
		at = step.At
		s.Steps = append(s.Steps, step)
	}
	return s, nil
}

// parseStep reads one step; after is the instant of the step before it.
func parseStep(text string, after time.Duration) (Step, error) {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return Step{}, fmt.Errorf("empty step")
	}
	step := Step{Op: Op(fields[0])}
	op, ok := operations[step.Op]
	if !ok {
		return Step{}, fmt.Errorf("unknown operation %q", fields[0])
	}
	args := fields[1:]
	if step.Op != idle {
		last := len(args) - 1
		if last < 0 || !strings.HasPrefix(args[last], "@") {
			return Step{}, fmt.Errorf("want an instant at its end, as in %s @100ms", step.Op)
		}
		if err := step.parseInstant(args[last][1:], after); err != nil {
			return Step{}, err
		}
		args = args[:last]
	}
	if err := step.parseArguments(op.arguments, args); err != nil {
		return Step{}, err
	}
	if step.Op == idle {
		if step.D < 0 || after+step.D < after {
			return Step{}, fmt.Errorf("idle wants a duration >= 0")
		}
		step.At = after + step.D
	}
	return step, nil
}

// parseInstant reads what follows the @: an instant, or the function that takes the step.
func (step *Step) parseInstant(text string, after time.Duration) (err error) {
	if actor, ok := strings.CutPrefix(text, "f"); ok {
		step.At = after
		step.In, err = strconv.Atoi(actor)
		if err != nil || step.In < 1 {
			return fmt.Errorf("%q is not the number of a function, as in @f1", text)
		}
		return nil
	}
	text, step.Racing = strings.CutSuffix(text, "~")
	step.At, err = parseDuration(text)
	return err
}

// parseArguments reads the arguments of an operation, of the kinds that it has: n, k, d and
// r for the fields of a step, in upper case those that may be left out.
func (step *Step) parseArguments(kinds string, args []string) error {
	for _, kind := range kinds {
		optional := unicode.IsUpper(kind)
		if len(args) == 0 {
			if optional {
				continue
			}
			return fmt.Errorf("an argument is missing")
		}
		with, err := *step, error(nil)
		switch unicode.ToLower(kind) {
		case 'n':
			with.N, err = strconv.Atoi(args[0])
		case 'k':
			with.K, err = strconv.Atoi(args[0])
		case 'd':
			with.D, err = parseDuration(args[0])
		case 'r':
			with.Rate, err = parseRate(args[0])
		}
		switch {
		case err == nil:
			*step, args = with, args[1:]
		case !optional:
			return fmt.Errorf("argument %q: %w", args[0], err)
		}
	}
	if len(args) > 0 {
		return fmt.Errorf("argument %q is not for %s", args[0], step.Op)
	}
	return nil
}

func parseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration", s)
	}
	return d, nil
}
