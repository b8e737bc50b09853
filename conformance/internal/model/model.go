// Package model checks what was seen of an implementation against a model of all correct ones.
//
// A model is nondeterministic: it says in which states a correct implementation may begin, and to which
// states each event may lead. Where implementations have a choice, the model goes several ways. What no
// correct one does is refused by a law, which is a guard with a name: it marks the way. [Check] follows all
// ways at once, and of these the least marked say which laws a trace breaks.
//
// Some mistakes do not show when they are made: a place that is not given back shows when the next
// request is rejected. A model may list them as slips, which are followed only if a trace breaks a law. The
// explanation of such a trace is the smallest set of laws that, broken, make everything that was seen
// possible: of several the one that is broken least often, and then the one that was broken first, as it explains
// the most; where steps race, and no slip explains it, the one that was broken last.
//
// The package knows no contract. That operations overlap, and that decisions are seen some time after they were made,
// is up to the model: Free puts in every order what may happen in any between two points at which all has settled.
package model

import "time"

// Model is every correct implementation at once. S is a state, which is not changed once it was
// handed on, K what tells two states apart, T what the model is told of the implementation and the trace.
type Model[S any, K comparable, T any] struct {
	// Init goes to each state in which an implementation may begin.
	Init func(t *T, w *Ways[S])
	// Due returns the next instant at which something may happen by itself, ok = false if there is none.
	Due func(s S) (at time.Duration, ok bool)
	// Step goes to each state to which an event may lead. Of a settled event it also judges what
	// must have happened by then.
	Step func(s S, e Event, w *Ways[S])
	// Free, if it is set, goes to each state to which one thing may lead that happens unseen between two events. It is
	// asked again for these.
	Free func(s S, w *Ways[S])
	// Key tells states apart: those of one key are one.
	Key func(s S) K
	// Words describes a state in a few words.
	Words func(s S) string
	// Order lists laws, those first that are believed to be broken where others explain a trace as well.
	Order []string
	// Most is how many states there may be at once; 0 stands for 4096.
	Most int
}

// most is the number of states at once if a model does not say.
const most = 4096

// Kind is the kind of an event.
type Kind byte

// The kinds of events. A trace consists of groups, each of which ends with Settled: what is between two
// of these may have happened without a pause.
const (
	Call    Kind = iota // an operation began
	Return              // an operation ended
	Fire                // a callback began
	Instant             // time has come to an instant at which something may happen by itself
	Settled             // everything that could happen has happened
)

// Event is something that was seen.
type Event struct {
	Kind Kind
	At   time.Duration
	// N and I say which event it is, in the terms of the contract. An Instant that Check inserts, and
	// the Settled behind it, have those of the event before which they are inserted.
	N, I int
	// Racing says that what is due at this instant may happen before the event or after it.
	Racing bool
}

// Ways collects where a state may go. Guards and slips belong to the way that the next To ends.
type Ways[S any] struct {
	*guards
	out  []way[S]
	from way[S] // where the ways begin
	next way[S] // the one under way, without its state
}

// guards is what the ways of a pass share.
type guards struct {
	laws  []string // by bit
	group int      // the number of the group under way
	at    time.Duration
	most  int  // laws that a way may break
	slips bool // are followed
}

// way is a state and how it was reached.
type way[S any] struct {
	state   S
	marks   *mark // the newest first
	laws    uint64
	judged  uint64 // guards that were asked on the way
	marked  int    // how often a law was broken
	first   int    // the group in which a law was first broken
	slipped bool   // a law was broken by a slip
	open    string // why nothing is judged any more
	gone    bool   // another way to the same state is as good
}

// mark is a law that was broken on a way.
type mark struct {
	Mark
	before *mark
}

// Mark is a law that was broken.
type Mark struct {
	Law string
	At  time.Duration
	// Want is what should have happened; it is empty for a slip. Because says why, or what the slip is.
	Want, Because string
}

// Law is a guard. If it does not hold, the way is marked with the law and goes on, or ends here if it has
// broken too many: Law reports whether it goes on. The text says what is wanted, and why.
func (w *Ways[S]) Law(id string, holds bool, want, because string, args ...any) bool {
	bit := w.bit(id)
	w.next.judged |= bit
	return holds || w.mark(bit, id, want, because, args)
}

// Slip reports whether a way goes on that no correct implementation goes, and which need not show at
// once. The text says what is wrong, as a clause behind "as if".
func (w *Ways[S]) Slip(id, because string, args ...any) bool {
	if !w.slips {
		w.next = w.from
		return false
	}
	w.next.slipped = true
	return w.mark(w.bit(id), id, "", because, args)
}

// Marks reports whether ways go on against laws, and Slips whether slips are followed: where they are not a
// model need not say what is wrong.
func (w *Ways[S]) Marks() bool { return w.most > 0 }

// Slips reports whether slips are followed.
func (w *Ways[S]) Slips() bool { return w.slips }

// To ends a way at a state. What comes next is another way.
func (w *Ways[S]) To(s S) {
	w.next.state = s
	w.out = append(w.out, w.next)
	w.next = w.from
}

// Open ends a way at a state from which on nothing is judged.
func (w *Ways[S]) Open(why string) {
	w.next.open = why
	w.To(w.from.state)
}

// begin makes w collect the ways from one.
func (w *Ways[S]) begin(from way[S]) {
	w.from, w.next, w.out = from, from, w.out[:0]
}

func (w *Ways[S]) bit(id string) uint64 {
	for i, law := range w.laws {
		if law == id {
			return 1 << i
		}
	}
	if len(w.laws) == 64 {
		panic("model: more than 64 laws")
	}
	w.laws = append(w.laws, id)
	return 1 << (len(w.laws) - 1)
}
