package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// inWords says a schedule in sentences; "" for a text that is none.
func inWords(text string) string {
	s, err := conformance.ParseSchedule(text)
	if err != nil {
		return ""
	}
	var out []string
	if made := madeWith(s.Config); made != "" {
		out = append(out, made)
	}
	for i, st := range s.Steps {
		out = append(out, stepInWords(st, i > 0 && s.Steps[i-1].At == st.At && s.Steps[i-1].In == 0))
	}
	return strings.Join(out, " ")
}

// made are the words for what an implementation is made with, but for those that are "a wait of 100ms" and the like.
var made = map[string]string{
	"busy": "callbacks that take %s", "inside": "a first callback that calls %s", "epoch": "a clock that starts at %s",
	"maxwait": "a wait of at most %s", "interval": "an interval of %s", "k": "%s per interval",
	"edges": "the %s edge",
}

// madeWith says what the implementation is made with.
func madeWith(c conformance.Config) string {
	var parts []string
	for _, key := range strings.Fields(c.String()) {
		name, value, _ := strings.Cut(key, "=")
		part := fmt.Sprintf(cmp.Or(made[name], "a "+name+" of %s"), value)
		switch name {
		case "busyruns":
			parts = parts[:len(parts)-1]
			part = fmt.Sprintf("first callbacks, %s of them, that take %s", value, timeline.Duration(c.Busy))
		case "insiderun":
			part = fmt.Sprintf("a callback that calls %s when it runs for the %s time", c.Inside, ordinal(value))
		case "panics":
			part = "a callback that panics when it runs for the " + ordinal(value) + " time"
		case "edges":
			part = cmp.Or(map[string]string{"both": "both edges", "none": "no edge"}[value], part)
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return ""
	}
	return "Made with " + enumerated(parts) + "."
}

func ordinal(n string) string {
	return cmp.Or(map[string]string{"1": "first", "2": "second", "3": "third"}[n], n+"th")
}

// enumerated joins parts with commas and an and.
func enumerated(parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

// phrases say what a step does: %n and %k are its numbers, %d its duration, %r its rate.
var phrases = map[conformance.Op]string{
	verb.Call:     "event %n",
	verb.Fault:    "the error item %n",
	verb.Cancel:   "a cancel",
	verb.Flush:    "a flush",
	verb.Pending:  "the question whether something is pending",
	verb.Stop:     "a stop",
	verb.Reset:    "a reset",
	verb.Close:    "the end of the input",
	verb.Wall:     "the wall clock is set by %d",
	verb.Allow:    "a request for %n, now or not at all",
	verb.Reserve:  "a reservation of %n",
	verb.Wait:     "a wait for %n",
	verb.Tokens:   "the question how many tokens there are",
	verb.SetLimit: "the rate becomes %r",
	verb.SetBurst: "the burst becomes %n",
	verb.Put:      "item %n joins the queue",
	verb.Acquire:  "request %n waits for its slot",
	verb.Try:      "request %n, now or not at all",
	verb.Do:       "request %n comes to its handler",
	verb.Release:  "request %n is done",
	verb.Panic:    "the handler of request %n panics",
	verb.Exit:     "the handler of request %n exits its goroutine",
	verb.Resize:   "the limit becomes %n",
}

// stepInWords is a sentence on one step; same says that it comes at the instant of the one
// before it.
func stepInWords(s conformance.Step, same bool) string {
	if s.Op == verb.Idle {
		return "Then nothing for " + timeline.Duration(s.D) + "."
	}
	phrase, ok := phrases[s.Op]
	if !ok {
		at := strings.LastIndex(s.String(), " @")
		phrase = s.String()[:at]
	}
	numbers := strings.NewReplacer("%n", fmt.Sprint(s.N), "%d", timeline.Duration(s.D), "%r", s.Rate.String())
	phrase = numbers.Replace(phrase)
	if s.Op == verb.Cancel && s.N != 0 {
		phrase += fmt.Sprintf(" of number %d", s.N)
	}
	if (s.Op == verb.Flush || s.Op == verb.Reset) && s.N != 0 {
		phrase += fmt.Sprintf(" of key %d", s.N)
	}
	arguments := s.Op.Arguments()
	if ok && strings.ContainsAny(arguments, "kK") && s.K != 0 {
		keyed := s.Op == verb.Call || s.Op == verb.Allow
		phrase += map[bool]string{true: ", of key ", false: ", weight "}[keyed] + fmt.Sprint(s.K)
	}
	switch timed := ok && strings.Contains(arguments, "D"); {
	case timed && s.D < 0:
		phrase += " with a context that is done"
	case timed && s.D > 0:
		phrase += " for at most " + timeline.Duration(s.D)
	}
	when := "At " + timeline.Duration(s.At)
	switch {
	case s.In != 0:
		when = fmt.Sprintf("In function %d", s.In)
	case s.Racing && same:
		when = "At that instant too, in a race with its timers"
	case s.Racing:
		when += ", in a race with the timers of that instant"
	case same:
		when = "At the same instant"
	}
	return when + ": " + phrase + "."
}
