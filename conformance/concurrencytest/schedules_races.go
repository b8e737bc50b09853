package concurrencytest

import (
	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// races are schedules in which a slot comes free, or is asked for, at the instant at which a
// wait ends.
func (f *families) races() []conformance.Schedule {
	var out []conformance.Schedule
	for _, backlog := range []int{1, 2} {
		out = append(out, f.ties(backlog)...)
		out = append(out, f.atOnce(backlog)...)
	}
	if f.tr.weighs() {
		out = append(out, f.heavyTies()...)
	}
	if f.s.Accepts(verb.Resize) && f.contexts {
		out = append(out, f.with(1, 2, "1h", onesTurn+" | resize 2 @0 | cancel 2 @0~")...)
	}
	return out
}

const (
	onesTurn = "acquire 1 @0 | acquire 2 @0"
	twosTurn = "acquire 1 @0 | acquire 2 @0 | acquire 3 @0"
)

// with returns the schedules of these steps in one configuration.
func (f *families) with(limit, backlog int, timeout string, texts ...string) []conformance.Schedule {
	cfg := f.tr.bounded(limit, backlog, timeout).String()
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = cfg + " | " + text
	}
	return suite.ParseAll(all...)
}

// ties let steps race with the timeouts of requests that wait.
func (f *families) ties(backlog int) []conformance.Schedule {
	if !f.timeout {
		return nil
	}
	texts := []string{
		onesTurn + " | release 1 @100ms~",
		twosTurn + " | release 1 @100ms~",
		onesTurn + " | acquire 3 @50ms | release 1 @100ms~",
		onesTurn + " | acquire 3 @100ms~",
		onesTurn + " | release 1 @100ms~ | acquire 3 @100ms~",
		onesTurn + " | acquire 3 @100ms~ | release 1 @100ms~",
	}
	if f.contexts {
		texts = append(texts,
			onesTurn+" | cancel 2 @100ms~",
			onesTurn+" | release 1 @100ms~ | cancel 2 @100ms~",
			"acquire 1 @0 | acquire 2 100ms @0 | release 1 @100ms~")
	}
	if f.s.Accepts(verb.Try) { // 2 is woken, and finds that the slot is gone
		texts = append(texts, onesTurn+" | release 1 @50ms | try 3 @50ms~ | release 3 @200ms")
	}
	if f.s.Accepts(verb.Resize) {
		texts = append(texts, onesTurn+" | resize 2 @100ms~")
	}
	return f.with(1, backlog, "100ms", texts...)
}

// atOnce are steps without a pause between them, and contexts that end by themselves.
func (f *families) atOnce(backlog int) []conformance.Schedule {
	texts := []string{
		onesTurn + " | release 1 @0 | acquire 3 @0~",
		onesTurn + " | acquire 3 @0 | release 1 @0~",
	}
	if f.contexts {
		texts = append(texts,
			onesTurn+" | release 1 @0 | cancel 2 @0~",
			onesTurn+" | cancel 2 @0 | release 1 @0~",
			twosTurn+" | release 1 @0 | cancel 2 @0~",
			twosTurn+" | cancel 2 @0 | release 1 @0~",
			onesTurn+" | cancel 2 @0 | acquire 3 @0~",
			onesTurn+" | acquire 3 @0 | cancel 3 @0~",
			"acquire 1 @0 | cancel 1 @0~",
			"acquire 1 @0 | acquire 2 100ms @0 | release 1 @100ms~",
			"acquire 1 @0 | acquire 2 100ms @0 | acquire 3 @0 | release 1 @100ms~")
	}
	if f.s.Accepts(verb.Do) {
		texts = append(texts, "do 1 @0 | do 2 @0 | release 1 @0 | do 3 @0~")
		if f.contexts {
			texts = append(texts, "do 1 @0 | do 2 @0 | release 1 @0 | cancel 2 @0~")
		}
	}
	return f.with(1, backlog, "1h", texts...)
}

// heavyTies are ties of requests for several slots.
func (f *families) heavyTies() []conformance.Schedule {
	var out []conformance.Schedule
	if f.contexts {
		const heavy = "acquire 1 3 @0 | acquire 2 2 @0 | acquire 3 3 @0"
		out = f.with(3, 2, "1h", heavy+" | release 1 @0 | cancel 2 @0~", heavy+" | cancel 2 @0 | release 1 @0~")
	}
	if f.timeout {
		out = append(out, f.with(3, 2, "100ms",
			"acquire 1 3 @0 | acquire 2 2 @0 | acquire 3 3 @50ms | release 1 @100ms~")...)
	}
	if f.resized { // which may reject 2
		const full = "acquire 1 3 @0 | acquire 2 3 @0 | acquire 3 @0"
		if f.contexts {
			out = append(out, f.with(3, 1, "1h", full+" | cancel 2 @0 | resize 2 @0~")...)
		}
		if f.timeout {
			out = append(out, f.with(3, 1, "100ms", full+" | resize 2 @100ms~")...)
		}
	}
	return out
}
