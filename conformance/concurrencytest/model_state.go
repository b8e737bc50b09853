package concurrencytest

import (
	"fmt"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/model"
)

// fate is what has become of a request.
type fate byte

const (
	fateNone   fate = iota
	fateWaits       // in the backlog, or for ever
	fateRuns        // holds its slots
	fateLeft        // has released them
	fateFull        // rejected: the backlog was full
	fateLate        // rejected: the timeout ran out
	fateGone        // rejected: its context was done
	fateTooBig      // rejected: more than the limit
)

// outside returns the fate as it looks to those who see answers only.
func (f fate) outside() fate {
	switch f {
	case fateLeft:
		return fateRuns
	case fateLate, fateGone, fateTooBig:
		return fateFull
	}
	return f
}

// note is what else the model knows of a request.
type note uint16

const (
	keeps  note = 1 << iota // a place in the backlog, though it runs
	fresh                   // got its slots in this group, and may not have noticed yet
	done                    // its context was done before it came
	heavy                   // waited for more than the limit, after that was lowered
	never                   // came when the limit was lower than its weight: need not run at a higher one
	spared                  // another was rejected for what this one waits for
	lost                    // should have run, and waits: what becomes of it is open
	ghost                   // has given up, and is in the queue all the same
	robbed                  // another has given its slots back
)

// demand is what is known of a request beforehand.
type demand struct {
	*request
	weight  int
	at      time.Duration
	expires time.Duration // when its context is done by itself, never if 0
	try     bool
	gone    bool // its context was done before it came, and that matters
}

// occurrence is something that happens at some moment of a group.
type occurrence struct {
	kind occurrenceKind
	r    int
	op   conformance.Op // of the step
}

type occurrenceKind byte

const (
	arrives occurrenceKind = iota
	expires
	isCancelled
	releases
)

// state is one state that a concurrency limiter may be in, while a trace is followed. What was observed up
// to the end of the group under way is known: which requests run then, wait, or are rejected. When each of
// that happens within the group is open.
type state struct {
	*frame
	limit, used int
	least, most int // limits there were
	bias        int // how many more slots there are than the limit says
	backlog     int // -1: no bound
	places      int // those that were lost
	seatKept    bool
	hooked      bool // the hook is not judged any more
	fates       []fate
	notes       []note
	queue       []int // who waits, in the order of arrival

	at      time.Duration
	seen    *horizon
	pending []occurrence
	so      causes

	wrong []wrong // what should have become of requests
}

// causes are what has happened in a group.
type causes byte

const (
	hasReleased causes = 1 << iota
	hasPanicked
	hasLeft // a request has stopped waiting
	hasRejected
	hasResized
)

// wrong is what should have become of a request.
type wrong struct {
	r       int
	want    fate
	because string
}

// horizon is what is observed by the end of a group.
type horizon struct {
	*group
	fates   []fate
	cancels []bool // whose contexts are done in the group
	hooks   int    // how often the hook has been called, -1 if that is not looked at
}

// ties reports whether several things happen in the group at once.
func (h *horizon) ties() bool { return h.racing || len(h.steps) > 1 }

type ways = model.Ways[*state]

// clone returns a state that may be changed. What is a list is never changed, but replaced.
func (s *state) clone() *state {
	c := *s
	c.fates, c.notes = slices.Clone(s.fates), slices.Clone(s.notes)
	return &c
}

// pends returns a state with other things that will happen, which shares the rest with this one.
func (s *state) pends(pending []occurrence) *state {
	c := *s
	c.pending = pending
	return &c
}

// key tells states apart.
func (s *state) key() string {
	b := make([]byte, 0, 64)
	for _, n := range [...]int{s.limit, s.used, s.bias, s.backlog, s.places} {
		b = append(b, byte(n), byte(n>>8), byte(n>>16), byte(n>>24)) // the other limits follow from the trace
	}
	b = append(b, byte(s.so))
	if s.seatKept {
		b = append(b, 1)
	}
	for r, f := range s.fates {
		b = append(b, byte(f), byte(s.notes[r]), byte(s.notes[r]>>8))
	}
	for _, r := range s.queue {
		b = append(b, byte(r))
	}
	for _, o := range s.pending {
		b = append(b, 0xff, byte(o.kind), byte(o.r))
	}
	return string(b)
}

// words describes the state.
func (s *state) words() string {
	return fmt.Sprintf("%d of %d slots are taken and %d wait", s.used, s.limit, len(s.queue))
}

// outcomes names what became of the requests, but of those that still wait.
func (s *state) outcomes() (out []string) {
	names := [...]string{fateRuns: "ran", fateLeft: "ran", fateFull: "full", fateLate: "late", fateGone: "gone",
		fateTooBig: "too big"}
	for _, f := range s.fates {
		if f != fateNone && f != fateWaits {
			out = append(out, names[f])
		}
	}
	return out
}

// due is the next instant at which a wait ends by itself.
func (s *state) due() (next time.Duration, ok bool) {
	for r, f := range s.fates {
		if f != fateWaits {
			continue
		}
		for _, at := range s.ends(r) {
			if at > s.at && (!ok || at < next) {
				next, ok = at, true
			}
		}
	}
	return next, ok
}

// ends are the instants at which the wait of a request ends by itself: by its context, and by the timeout.
func (f *frame) ends(r int) [2]time.Duration {
	q, out := &f.demands[r], [2]time.Duration{-1, -1}
	if q.expires > 0 && f.tr.Context != ContextIgnored {
		out[0] = q.expires
	}
	if f.cfg.Timeout >= 0 {
		out[1] = q.at + f.cfg.Timeout
	}
	return out
}

// fits reports whether the slots that a request asks for are free.
func (s *state) fits(r int) bool { return s.demands[r].weight <= s.limit+s.bias-s.used }

// exceeds reports whether a request asks for more than the limit.
func (s *state) exceeds(r int) bool { return s.demands[r].weight > s.limit }

// seats counts the places in the backlog that are taken, and those of which that is open.
func (s *state) seats() (taken, open int) {
	taken = len(s.queue) + s.places
	for r, f := range s.notes {
		switch {
		case f&keeps != 0:
			taken++
		case f&lost != 0 && s.fates[r] == fateWaits:
			open++
		}
	}
	for _, r := range s.queue {
		if s.notes[r]&heavy != 0 {
			taken, open = taken-1, open+1
		}
	}
	return taken, open
}

// full reports whether the backlog may be full, and whether it must be.
func (s *state) full() (may, must bool) {
	taken, open := s.seats()
	return s.backlog >= 0 && taken+open >= s.backlog, s.backlog >= 0 && taken >= s.backlog
}

// wants is what should become of a request that comes.
func (s *state) wants(r int) fate {
	q := &s.demands[r]
	_, full := s.full()
	switch {
	case s.gone(r), s.exceeds(r) && (q.try || s.tr.Oversize != OversizeBlocks):
		return fateFull
	case !s.exceeds(r) && s.fits(r) && len(s.queue) == 0:
		return fateRuns
	case q.try, s.cfg.Timeout == 0, full && !s.exceeds(r):
		return fateFull
	}
	return fateWaits
}

// gone reports whether the context of a request was done before it came.
func (s *state) gone(r int) bool {
	return s.demands[r].gone || s.notes[r]&done != 0 && !s.demands[r].try
}

// takes lets a request run.
func (s *state) takes(r int) {
	s.used += s.demands[r].weight
	s.fates[r] = fateRuns
	if !s.demands[r].try {
		s.notes[r] |= fresh
	}
}

// dequeue takes a request out of the queue.
func (s *state) dequeue(r int) {
	if i := slices.Index(s.queue, r); i >= 0 {
		s.queue = slices.Concat(s.queue[:i], s.queue[i+1:])
	}
}

// mayEnd reports whether something ends the wait of a request in this group.
func (s *state) mayEnd(r int) bool {
	return s.seen.cancels[r] || slices.ContainsFunc(s.pending, func(o occurrence) bool {
		return o.r == r && (o.kind == expires || o.kind == isCancelled)
	})
}
