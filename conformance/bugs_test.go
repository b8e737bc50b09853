package conformance_test

import (
	"fmt"
	"strings"
	"testing"
)

// bug is a defect that published implementations have had, with the mutant that has it.
type bug struct {
	id, what, mutant string
	outside          string // why nothing judges it
}

// bugs are the defects of debouncers and throttles, with the ids that they have in the
// catalogue.
var bugs = []bug{
	{"D01", "a timer that has expired fires for an event that a newer one has superseded", "no generation check", ""},
	{"D02", "fires after cancel has returned", "cancel only stops the timer", ""},
	{"D04", "the last event is lost if it comes while the callback runs", "clears after the callback", ""},
	{"D05", "an event from the callback is swallowed", "clears after the callback", ""},
	{"D07", "later events do not move the deadline", "not reset by later events", ""},
	{"D08", "old timers are not stopped and pile up", "old timers go on", ""},
	{"D10", "a single event never fires", "no fire at all for one event", ""},
	{"D11", "fires again when idle", "fires again when idle", ""},
	{"D13", "leads only once in its life", "leads only once", ""},
	{"D14", "leads again within a long burst", "the burst counts from its leading fire", ""},
	{"D16", "with both edges the trailing one never comes", "never trails what it has led", ""},
	{"D17", "both edges are trailing timers", "leads a wait late", ""},
	{"D19", "the bound slides with each event", "the bound counts from the newest event", ""},
	{"D20", "the bound is looked at only when an event comes", "the bound waits for an event", ""},
	{"D22", "events after a fire of the bound are lost", "drops what follows a fire of the bound", ""},
	{"D23", "a fire of the bound makes later events lead", "a fire of the bound makes the next event lead", ""},
	{"D25", "wait and bound end together and both fire", "both deadlines fire", ""},
	{"D26", "the bound fires with both edges off", "the bound needs no edge", ""},
	{"D28", "dead after cancel", "cancel is final", ""},
	{"D29", "cancel leaves the burst open, and the next event does not lead", "cancel leaves the burst open", ""},
	{"D31", "flush fires the leading event again", "flush fires again what has led", ""},
	{"D32", "flush without an event fires", "flush fires without an event", ""},
	{"D34", "the callback runs under the lock", "callback under the lock", ""},
	{"D35", "a data race on the state", "counts before it locks", ""},
	{"D37", "a change of the wall clock stops it for good", "waits for the clock to come back", ""},
	{"D38", "a wait of zero never fires", "zero wait never fires", ""},
	{"D40", "a panic in the callback wedges it", "a panic leaves it running", ""},
	{"D41", "simultaneous events lead several times", "checks the burst without the lock", ""},
	{"D43", "callbacks overlap although declared serial", "callbacks overlap", ""},
	{"D44", "the timer of a batch fires the next one early", "a timer outlives its batch", ""},

	{"T01", "the last event is never delivered", "drops what came last", ""},
	{"T02", "a single event is emitted on both edges", "emits a single event twice", ""},
	{"T04", "the trailing edge has the first payload", "emits the first payload", ""},
	{"T05", "a trailing emission opens no interval", "a trailing emission opens nothing", ""},
	{"T07", "with the trailing edge alone it leads from the second interval on",
		"a trailing throttle leads after its first interval", ""},
	{"T08", "the pending value is lost at the end of the input", "drops what is pending at the end", ""},
	{"T10", "an event at exactly the end is dropped", "an event at the end waits", ""},
	{"T11", "an event during the callback follows at its end", "what came during the callback follows at once", ""},
	{"T13", "keys share one interval", "keys share an interval", ""},
	{"T14", "the callback runs under the mutex", "callback under the lock", ""},
	{"T16", "an event at exactly the end passes by chance", "",
		"schedules settle before each step, so that a timer of that instant goes first; " +
			"that it may go second is no broken promise unless the docs make one"},
	{"T17", "nothing passes on a clock that starts at the zero time", "the zero time is the last emission", ""},
	{"T19", "emits an old value without a new event", "emits without an event", ""},
	{"T20", "a zero payload counts as no event", "a zero payload is no event", ""},
	{"T22", "an interval of zero drops events of the same instant", "zero interval blocks", ""},
	{"T23", "emits with both edges off", "no edge is the leading one", ""},
	{"T25", "concurrent callers pass each once", "checks without the lock", ""},
	{"T26", "with k per interval one reset serves all keys", "keys share an interval", ""},
}

// Every defect of the catalogue is caught by a rule, or has a reason why not. That the
// rule does catch the mutant is what the contracts' tests of mutants show; -v prints the
// table.
func TestBugs(t *testing.T) {
	rules := map[string]string{} // by kind of bug and mutant
	for _, c := range contracts() {
		for _, m := range c.mutants {
			if key := kindOfBug(c.kind) + m.Name; rules[key] == "" {
				rules[key] = m.Rule
			}
		}
	}
	var b strings.Builder
	seen := map[string]bool{}
	for _, bug := range append(bugs[:len(bugs):len(bugs)], limiterBugs...) {
		kind := bug.id[:1]
		if kind != "D" && kind != "T" {
			kind = ""
		}
		rule := rules[kind+bug.mutant]
		if seen[bug.id] || (rule == "") == (bug.outside == "") {
			t.Errorf("%s (%s): mutant %q, rule %q, outside %q: want a mutant with a rule, or a reason",
				bug.id, bug.what, bug.mutant, rule, bug.outside)
		}
		seen[bug.id] = true
		if bug.outside != "" {
			rule = "-"
		}
		fmt.Fprintf(&b, "%-4s %-13s %-50s %s\n", bug.id, rule, bug.mutant+bug.outside, bug.what)
	}
	t.Log("\n" + b.String())
}

// kindOfBug returns the catalogue's letter for the defects of a contract, "" for contracts
// that share their letters.
func kindOfBug(contract string) string {
	return map[string]string{"debouncer": "D", "throttle": "T"}[contract]
}
