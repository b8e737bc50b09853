package debouncertest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/internal/zoo/debouncer"
)

// bugs are defects that debouncers have had in life, in the order of the catalogue from
// which the numbers are, each with the mutant that has it.
var bugs = []struct{ id, what, mutant string }{
	{"D01", "a timer that has expired fires for an event that a newer one has superseded", "no generation check"},
	{"D02", "fires after cancel has returned", "cancel only stops the timer"},
	{"D04", "the last event is lost if it comes while the callback runs", "clears after the callback"},
	{"D05", "an event from the callback is swallowed", "clears after the callback"},
	{"D07", "later events do not move the deadline", "not reset by later events"},
	{"D08", "old timers are not stopped and pile up", "old timers go on"},
	{"D10", "a single event never fires", "no fire at all for one event"},
	{"D11", "fires again when idle", "fires again when idle"},
	{"D13", "leads only once in its life", "leads only once"},
	{"D14", "leads again within a long burst", "the burst counts from its leading fire"},
	{"D16", "with both edges the trailing one never comes", "never trails what it has led"},
	{"D17", "both edges are trailing timers", "leads a wait late"},
	{"D19", "the bound slides with each event", "the bound counts from the newest event"},
	{"D20", "the bound is looked at only when an event comes", "the bound waits for an event"},
	{"D22", "events after a fire of the bound are lost", "drops what follows a fire of the bound"},
	{"D23", "a fire of the bound makes later events lead", "a fire of the bound makes the next event lead"},
	{"D25", "wait and bound end together and both fire", "both deadlines fire"},
	{"D26", "the bound fires with both edges off", "the bound needs no edge"},
	{"D28", "dead after cancel", "cancel is final"},
	{"D29", "cancel leaves the burst open, and the next event does not lead", "cancel leaves the burst open"},
	{"D31", "flush fires the leading event again", "flush fires again what has led"},
	{"D32", "flush without an event fires", "flush fires without an event"},
	{"D34", "the callback runs under the lock", "callback under the lock"},
	{"D35", "a data race on the state", "counts before it locks"},
	{"D37", "a change of the wall clock stops it for good", "waits for the clock to come back"},
	{"D38", "a wait of zero never fires", "zero wait never fires"},
	{"D40", "a panic in the callback wedges it", "a panic leaves it running"},
	{"D41", "simultaneous events lead several times", "checks the burst without the lock"},
	{"D43", "callbacks overlap although declared serial", "callbacks overlap"},
	{"D44", "the timer of a batch fires the next one early", "a timer outlives its batch"},
}

// Every defect of the catalogue is caught by a rule. That the rule does catch the mutant is
// what TestMutants and TestMutants_thatRace show; -v prints the table.
func TestBugs(t *testing.T) {
	rules := map[string]string{}
	for _, m := range debouncer.Mutants() {
		rules[m.Name] = m.Rule
	}
	var b strings.Builder
	for _, bug := range bugs {
		if rules[bug.mutant] == "" {
			t.Errorf("%s (%s): no rule has a mutant %q", bug.id, bug.what, bug.mutant)
		}
		fmt.Fprintf(&b, "%-4s %-13s %-50s %s\n", bug.id, rules[bug.mutant], bug.mutant, bug.what)
	}
	t.Log("\n" + b.String())
}
