package inside

import "time"

// Picture is one run as data, for drawing it: the lanes of the timeline that a failure text
// shows, and what took time. Its fields may change until version 1 of the module.
type Picture struct {
	// Order says in words how racing steps met their timers; empty if none raced.
	Order string `json:"order,omitempty"`
	// Lanes are the lines of the timeline: one for each kind of operation, then the rule's.
	Lanes []Lane `json:"lanes"`
	// Spans are the calls and the callbacks, in the order in which they began.
	Spans []Span `json:"spans,omitempty"`
	// At is the instant of the first difference, negative if there is none.
	At time.Duration `json:"at"`
}

// LaneWindow is the name of the lane that shows where windows begin, with "[", and end, with ")".
const LaneWindow = "window"

// Lane is a line of a [Picture].
type Lane struct {
	Name  string     `json:"name"`
	Marks []LaneMark `json:"marks,omitempty"`
}

// LaneMark is a text at an instant of a lane.
type LaneMark struct {
	At   time.Duration `json:"at"`
	Text string        `json:"text"`
	// Of and Says are the mark in words, as in "callback 1" and "ran", for headlines.
	Of   string `json:"-"`
	Says string `json:"-"`
}

// Span is a call or a callback, from its start to its end. First and Last are its places in
// the order of all that was recorded; Last is 0 if it never ended.
type Span struct {
	// Lane is the operation, or "callback". Text is as in the lane's mark.
	Lane  string        `json:"lane"`
	Text  string        `json:"text"`
	From  time.Duration `json:"from"`
	To    time.Duration `json:"to"`
	First int           `json:"first"`
	Last  int           `json:"last,omitempty"`
	// Inside says that a callback made the call.
	Inside bool `json:"inside,omitempty"`
}
