// Package batch has the zoo's batchers.
package batch

import (
	"fmt"

	bt "github.com/escapement-go/escapement/conformance/batchtest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// Mutants are mistakes, each with the rule that must catch it.
func Mutants() []zoo.Mutant {
	var all []zoo.Mutant
	for _, m := range []struct{ name, rule string }{
		{"drops every fourth item", "BT-ONCE"},
		{"a timer forgets an item", "BT-ONCE"},
		{"a batch keeps its last item for the next one too", "BT-ONCE"},
		{"the slice is used again", "BT-ONCE"},
		{"a batch that is old stays open", "BT-ONCE"},
		{"flush leaves the batch open", "BT-ONCE"},
		{"the newest item goes first", "BT-ORDER"},
		{"one more item than the size", "BT-FULL"},
		{"one item less than the size", "BT-FULL"},
		{"never full", "BT-FULL"},
		{"ten items are enough", "BT-FULL"},
		{"a nanosecond late", "BT-AGE"},
		{"a nanosecond early", "BT-AGE"},
		{"rounds the delay to milliseconds", "BT-AGE"},
		{"an item of 1970 has no age", "BT-AGE"},
		{"each item starts the delay anew", "BT-AGE"},
		{"the timer takes no more than two items", "BT-AGE"},
		{"close hands over an empty batch", "BT-EMPTY"},
		{"timers are left armed, and take nothing, too", "BT-EMPTY"},
		{"the delay is armed once only", "BT-REARM"},
		{"no delay after a full batch", "BT-REARM"},
		{"the delay counts from the last hand-over", "BT-REARM"},
		{"idle time counts as delay", "BT-REARM"},
		{"timers are left armed, and take what there is", "BT-STALE"},
		{"a late timer takes the next batch", "BT-STALE"},
		{"a late timer takes what came after a flush", "BT-STALE"},
		{"a late timer hands over nothing", "BT-MEET"},
		{"a late timer hands its batch over again", "BT-MEET"},
		{"flush does nothing", "BT-FLUSH"},
		{"flush drops what is there", "BT-FLUSH"},
		{"flush of nothing hands over nothing", "BT-FLUSH0"},
		{"flush of nothing starts a delay", "BT-FLUSH0"},
		{"close forgets what is there", "BT-CLOSE"},
		{"close forgets what came after a full batch", "BT-CLOSE"},
		{"close leaves what is there to the timer", "BT-CLOSE"},
		{"accepts after close", "BT-CLOSE"},
		{"hands over after close", "BT-CLOSE"},
		{"refuses every fourth item", "BT-BUSY"},
		{"a size of one is two", "BT-N1"},
		{"a delay of nothing is a millisecond", "BT-D0"},
		{"panics with the fourth item", "X-CALLS"},
		{"the consumer runs under the lock", "X-REENT"},
		{"goroutine left behind when it is full", "X-LEAK"},
		{"close leaves the timer armed", "X-LEAK"},
		{"the delay ends on package time too", "X-CLOCK1"},
		{"takes a full batch under another lock", "X-CONC"},
		{"counts without the lock", "X-RACE"},
	} {
		all = append(all, zoo.Mutant{
			Name: m.name, Rule: m.rule, Spec: timedSpec(bt.Injected, m.name),
			Hangs: m.rule == "X-REENT", Chance: m.rule == "X-CONC",
		})
	}
	for _, m := range []struct{ name, rule string }{
		{"two goroutines run the consumer", "BT-BUSY"},
		{"what is old while the consumer runs is forgotten", "BT-BUSY"},
		{"hands over one batch, whoever waits", "BT-BUSY"},
		{"flush is none while a batch waits", "BT-BUSY"},
		{"the newest batch goes first", "BT-ORDER"},
		{"a panic leaves it running", "X-PANIC"},
	} {
		all = append(all, zoo.Mutant{Name: m.name, Rule: m.rule, Spec: runnerSpec(bt.Injected, m.name)})
	}
	const keeps = "the loop keeps the timer of a full batch"
	waits := semaphore(bt.Injected)
	waits.Traits = firstItem(bt.BusyQueues)
	anew := loopSpec(bt.Injected, 100, "")
	anew.Traits = firstItem(bt.BusyQueues)
	return append(all, zoo.Mutant{Name: keeps, Rule: "BT-STALE", Spec: loopSpec(bt.Injected, 0, keeps)},
		zoo.Mutant{Name: "callers wait, though batches queue", Rule: "BT-BUSY", Spec: waits},
		zoo.Mutant{Name: "what waits for the consumer is young again", Rule: "BT-BUSY", Spec: anew})
}

// Designs are correct batchers of several kinds, on both clocks.
func Designs() []zoo.Design {
	var all []zoo.Design
	for _, source := range []bt.TimeSource{bt.Injected, bt.PackageTime} {
		for _, spec := range []bt.Spec{
			timedSpec(source, ""), lazy(source), underLock(source), timeOnly(underLock(source)), reuser(source),
			runnerSpec(source, ""),
			refuser(source), worker(source, 0), worker(source, 100), semaphore(source), beside(source),
			loopSpec(source, 0, ""), loopSpec(source, 100, ""), pipeline(source),
			ticker(source, ticked{}),
			ticker(source, ticked{anew: true}), ticker(source, ticked{anew: true, flushed: true}), closed(source),
			ticker(source, ticked{empty: true}), atOnce(source),
		} {
			all = append(all, zoo.Design{Name: fmt.Sprintf("%s %s", spec.Name, source), Spec: spec})
		}
	}
	return all
}
