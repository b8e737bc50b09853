package quotatest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// observations are what TRAITS works the choices out from: runs of a few schedules. A choice
// fits if the model that makes it agrees with all of them. Where several fit, no schedule can
// tell, and where none does, the limiter is none of its kind.
type observations struct {
	kind   Kind
	source TimeSource
	runs   []*suite.Recording
	single bool
	panics bool // it says itself that events are taken one at a time
	floats bool // an exact bucket where numbers are whole, which may round elsewhere
	fitted map[Traits]int
}

// observations returns what is observed, and observes it the first time.
func (c *contract) observations(s *suite.Suite) *observations {
	if c.seen != nil {
		return c.seen
	}
	o := &observations{kind: c.spec.Kind, source: c.spec.Time, fitted: map[Traits]int{}}
	c.seen = o
	whole, _ := decisions(s, asked("rate=10/1s burst=1", "0", "99.999999ms", "100ms", "199.999999ms", "200ms"))
	o.floats = o.kind == GCRA && slices.Equal(whole, []bool{true, false, true, false, true})
	texts := telling(o.kind)
	if o.single, o.panics = single(s); !o.single && o.kind != GCRA {
		texts = append(texts, "rate=3/28s | allow 2 @0 | allow 2 @1s | allow 1 @2s") // one that is denied, and room
	}
	for _, text := range texts {
		for _, rec := range s.TryText(text, inside.OrderSettled) {
			if x := o.exam(rec, &Traits{}); x.complete() && rec.LeftOut == "" &&
				len(rec.Done) == len(rec.Schedule.Steps) {
				o.runs = append(o.runs, rec)
			}
		}
	}
	return o
}

// exam is a run in the terms of a quota with these traits.
func (o *observations) exam(rec *suite.Recording, tr *Traits) *exam {
	return &exam{Recording: suite.AsBegun(rec), traits: tr, kind: o.kind, source: o.source}
}

// telling lists schedules in which each choice makes a difference. Bubbles begin at a whole
// second, but a window of 28s on the clock begins 8s before they do.
func telling(kind Kind) []string {
	var all []string
	for _, g := range grains[1:] { // an event and the one after it fall into other parts of a grain
		all = append(all,
			asked("rate=1/28s burst=1", fmt.Sprint(g*7/10), fmt.Sprint(28*time.Second+g/10)),
			asked("rate=1/28s burst=1", fmt.Sprint(g*3/10), fmt.Sprint(28*time.Second+g*7/10)))
		if kind == FixedWindow { // whose first window may begin when the limiter is made
			second, third := fmt.Sprint(28*time.Second+g*7/10), fmt.Sprint(56*time.Second+g/10)
			all = append(all, asked("rate=1/28s", "0", second, third))
		}
	}
	if kind == GCRA {
		return append(all,
			asked("rate=10/1s burst=1", "0", "99.999999ms", "100ms", "199.999999ms", "200ms", "300.0005ms", "400ms"),
			asked("rate=10/1s burst=3", "0", "0", "0", "0",
				"99.999999ms", "100ms", "199ms", "200ms", "500ms", "500ms", "500ms"),
			asked("rate=1/1s burst=2", "0", "0", "0", "999.999999ms", "1s", "1.999999999s", "2s"), // floats show here
			polled("rate=10/1s burst=3", 30*time.Millisecond, 30),
			polled("rate=1/7s burst=2", 900*time.Millisecond, 20),
		)
	}
	all = append(all,
		asked("rate=1/28s", "5s", "19.999999999s", "20s", "20.000000001s", "21s", "47s", "48s", "65s"),
		asked("rate=1/28s", "0", "27.999999999s", "28s", "28.000000001s", "47s", "56.000000001s", "65s"),
		asked("rate=1/28s", "5s", "32.999999999s", "33s", "33.000000001s", "47s", "65s", "93.5s"),
		asked("rate=1/28s", "0", "20s", "30s", "40s", "50s", "60s", "100s"),
		asked("rate=1/1s", "500ms", "999.999999ms", "1s", "1.499999999s", "1.5s", "1.500000001s", "2.1s", "3s"),
		asked("rate=2/28s", "5s", "6s", "7s", "34s", "35s", "36s", "49s", "63s", "64s", "91s"),
		polled("rate=3/28s", 3*time.Second, 24),
		// parts of windows show here
		asked("rate=2/28s", "0", "5.5s", "28s", "31s", "33.4s", "36s", "44s", "56s", "59s"),
		polled("rate=2/28s", 1300*time.Millisecond, 50),
		polled("rate=3/1s", 70*time.Millisecond, 30),
	)
	if kind == SlidingCounter { // events fit again when a part of the window before has faded
		for _, g := range grains[2:] { // of which a grain is so much that nobody can take it for a rounded estimate
			first, faded := fmt.Sprint(g/5), fmt.Sprint(4*g+g*9/10)
			at := append(slices.Repeat([]string{first}, 12), slices.Repeat([]string{faded}, 12)...)
			all = append(all, asked(fmt.Sprintf("rate=12/%s", 4*g), at...))
		}
		// and one that fades otherwise is no grain
		all = append(all, asked("rate=20/28s",
			append(slices.Repeat([]string{"200ms"}, 20), slices.Repeat([]string{"35s"}, 20)...)...))
		for _, start := range []string{"0", "5s"} {
			first := slices.Repeat([]string{start}, 8)
			all = append(all, asked("rate=8/28s", append(first, "14s", "14s", "14s", "14s", "14s", "14s", "14s", "14s",
				"29s", "34s", "34s", "41s", "41s", "45s", "47s", "50s", "50s", "70s", "70s")...))
		}
	}
	return all
}

// asked is a schedule of requests for one at these instants.
func asked(config string, at ...string) string {
	return config + " | allow 1 @" + strings.Join(at, " | allow 1 @")
}

// polled is a schedule of n requests, so far apart.
func polled(config string, gap time.Duration, n int) string {
	var at []string
	for i := range n {
		at = append(at, fmt.Sprint(time.Duration(i)*gap))
	}
	return asked(config, at...)
}

// fits reports whether a limiter with these traits could have decided as the runs did.
func (o *observations) fits(tr Traits) bool { return len(o.runs) > 0 && o.agrees(tr) == len(o.runs) }

// agrees counts the runs in which a limiter with these traits could have decided as this one did.
func (o *observations) agrees(tr Traits) int {
	n, known := o.fitted[tr]
	if !known {
		for _, rec := range o.runs {
			if slices.ContainsFunc(o.exam(rec, &tr).courses(&tr), func(c *course) bool { return c.bad < 0 }) {
				n++
			}
		}
		o.fitted[tr] = n
	}
	return n
}

// candidates are the traits with all that is undeclared of how the limiter decides set to each
// of its values.
func (o *observations) candidates(tr Traits) []Traits {
	all := []Traits{{Edge: tr.Edge, Align: tr.Align, CountDenied: tr.CountDenied, Resolution: tr.Resolution,
		Rounded: tr.Rounded, Buckets: tr.Buckets, Latency: tr.Latency}}
	vary := func(open bool, values int, set func(tr *Traits, v int)) {
		if !open {
			return
		}
		var next []Traits
		for _, tr := range all {
			for v := range values {
				set(&tr, v+1)
				next = append(next, tr)
			}
		}
		all = next
	}
	windows := o.kind == FixedWindow || o.kind == SlidingCounter
	aligns := int(AlignFirstUse)
	if o.kind == SlidingCounter {
		aligns = int(AlignCreation)
	}
	edged := o.kind == FixedWindow || o.kind == SlidingLog
	vary(tr.Edge == 0 && edged, 2, func(tr *Traits, v int) { tr.Edge = Edge(v) })
	vary(tr.Align == 0 && windows, aligns, func(tr *Traits, v int) { tr.Align = Align(v) })
	vary(tr.CountDenied == 0 && o.kind != GCRA, 2, func(tr *Traits, v int) { tr.CountDenied = CountDenied(v) })
	return all
}

// first returns the first of so many values of a choice with which traits agree with all runs, 0 if none does.
func (o *observations) first(tr *Traits, values int, set func(tr *Traits, v int)) int {
	v, all := o.best(tr, values, set)
	return v * suite.Number(all)
}

// best returns the first of so many values of a choice with which traits agree with the most runs, and whether they
// agree with all of them: if not, a rule says why not.
func (o *observations) best(tr *Traits, values int, set func(tr *Traits, v int)) (best int, all bool) {
	most := 0
	for v := 1; v <= values && !all; v++ {
		with := *tr
		set(&with, v)
		for _, c := range o.candidates(with) {
			if n := o.agrees(c); n > most {
				best, most = v, n
			}
		}
		all = most > 0 && most == len(o.runs)
	}
	return best, all
}

// grains are those that limiters have, the finest first. The nanosecond is that of floating point, or else a mistake at
// boundaries.
var grains = []time.Duration{0, 1, time.Microsecond, time.Millisecond, 10 * time.Millisecond,
	100 * time.Millisecond, time.Second}

// parts are the numbers of parts into which limiters divide a window, the finest first.
var parts = []int{100, 60, 50, 20, 10, 5, 4}

// exactness is the finest Resolution or Buckets with which traits fit and explain the answers as
// well, or else with which they fit; neither if one is declared, or none fits, or if other choices than the declared
// ones explain all of it exactly.
func (o *observations) exactness(tr *Traits) Traits {
	if tr.Resolution != 0 || tr.Buckets != 0 ||
		!o.exact(*tr, o.fits) && o.exact(Traits{Latency: tr.Latency}, o.explains) {
		return Traits{}
	}
	var all []Traits
	for _, grain := range grains {
		all = append(all, Traits{Resolution: grain})
	}
	for _, n := range parts {
		all = append(all, Traits{Buckets: n})
	}
	cfg := suite.Configured("rate", "1/28s") // of most of what was asked
	slices.SortFunc(all, func(a, b Traits) int { return cmp.Compare(a.grain(cfg), b.grain(cfg)) })
	var finest Traits
	for i, found := 0, false; i < len(all); i++ {
		with := *tr
		with.Resolution, with.Buckets = all[i].Resolution, all[i].Buckets
		for _, fit := range o.candidates(with) {
			switch {
			case !o.fits(fit):
			case all[i].Resolution == 1 && !o.floats:
				return Traits{}
			case o.explains(fit):
				return all[i]
			case !found:
				finest, found = all[i], true
			}
		}
	}
	return finest
}

// exact reports whether a limiter that is exact does with these traits.
func (o *observations) exact(tr Traits, does func(tr Traits) bool) bool {
	return slices.ContainsFunc(o.candidates(tr), does)
}

// explains reports whether a limiter with these traits could have decided and answered as the runs did.
func (o *observations) explains(tr Traits) bool {
	return o.fits(tr) && (o.answer(tr) || o.answer(inSeconds(tr)))
}

// rounded is a second if answers are in whole seconds, and decisions are finer.
func (o *observations) rounded(tr Traits) time.Duration {
	if !o.whole(time.Second) {
		return 0
	}
	if exact := o.exactness(&tr); tr.Resolution == 0 && tr.Buckets == 0 {
		tr.Resolution, tr.Buckets = exact.Resolution, exact.Buckets
	}
	for _, fit := range o.candidates(tr) {
		if o.fits(fit) && !o.answer(fit) && o.answer(inSeconds(fit)) {
			return time.Second
		}
	}
	return 0
}

// whole reports whether a field was always answered in whole numbers of a unit, but for times that stand for never.
func (o *observations) whole(unit time.Duration) bool {
	var parts Fields
	look := func(field Fields, d time.Duration) {
		if d >= 0 && d < century && d%unit != 0 {
			parts |= field
		}
	}
	for _, rec := range o.runs {
		for _, d := range rec.Done {
			look(FieldReset, d.Answer.ResetAfter)
			if !d.OK {
				look(FieldRetry, d.Answer.RetryAfter)
			}
		}
	}
	return o.answers()&(FieldRetry|FieldReset)&^parts != 0
}

// inSeconds are traits with answers in whole seconds.
func inSeconds(tr Traits) Traits {
	tr.Rounded = time.Second
	return tr
}

// latency is the most time that a request took.
func (o *observations) latency() (most time.Duration) {
	for _, rec := range o.runs {
		for _, d := range rec.Done {
			most = max(most, d.Ended.At-d.Began.At)
		}
	}
	return most
}

// answer reports whether a limiter with these traits could have answered as it did.
func (o *observations) answer(tr Traits) bool {
	fields := o.answers()
	if o.kind == SlidingCounter {
		fields = 0 // its estimates may be rounded
	}
	return !slices.ContainsFunc(o.runs, func(rec *suite.Recording) bool {
		x := o.exam(rec, &tr)
		return fields&FieldRetry != 0 && tr.CountDenied != DeniedCounted && x.retry() != nil ||
			fields&FieldReset != 0 && x.reset() != nil || fields&FieldRemaining != 0 && x.remain() != nil
	})
}

// answers are the fields that are filled in: some answer has more than 0, and none has less.
func (o *observations) answers() (fields Fields) {
	filled, wrong := Fields(0), Fields(0)
	look := func(field Fields, v int) {
		switch {
		case v > 0:
			filled |= field
		case v < 0:
			wrong |= field
		}
	}
	for _, rec := range o.runs {
		for _, d := range rec.Done {
			if !d.OK {
				look(FieldRetry, int(d.Answer.RetryAfter))
			}
			look(FieldReset, int(d.Answer.ResetAfter))
			look(FieldRemaining, d.Answer.Remaining)
		}
	}
	return filled &^ wrong
}

// single reports whether events can only be taken one at a time, and whether a panic says so: else each request takes
// one, however many it is for, or those for several are denied. A limiter that compares wrongly does neither.
func single(s *suite.Suite) (yes, panics bool) {
	if done := ran(s, "rate=3/1s burst=3 | allow 1 @0 | allow 2 @0"); done != nil && done[0].Panic == "" &&
		done[1].Panic != "" {
		return true, true
	}
	as := func(text string, want ...bool) bool {
		granted, ok := decisions(s, text)
		return ok && slices.Equal(granted, want)
	}
	const three, two = "rate=3/1s burst=3 | allow 3 @0 | ", "rate=3/1s burst=3 | allow 2 @0 | "
	one := as(three+"allow 1 @0 | allow 1 @0 | allow 1 @0", true, true, true, false) &&
		as(two+"allow 2 @0 | allow 2 @0 | allow 2 @0", true, true, true, false)
	none := as(three+"allow 1 @0", false, true) && as(two+"allow 1 @0", false, true)
	if _, ok := decisions(s, "rate=3/1s burst=3 | allow 1 @0"); !ok { // who takes no more than 1 shows it otherwise
		one = as("rate=1/1s burst=1 | allow 0 @0 | allow 1 @0", true, false)
	}
	return one || none, false
}

// observeTooLarge asks for one more than the limit, and observes the RetryAfter.
func observeTooLarge(s *suite.Suite) int {
	done := ran(s, "rate=3/1s burst=3 | allow 4 @0")
	if done == nil || done[0].OK || done[0].Panic != "" {
		return 0
	}
	switch d := done[0].Answer.RetryAfter; {
	case d < 0:
		return int(RetryNegative)
	case d >= century:
		return int(RetryForever)
	case d == 0:
		return int(RetryZero)
	}
	return 0
}

// observeBackTime observes what an instant before the newest one means: whether more is granted than if all had been
// asked at the newest, or less.
func observeBackTime(s *suite.Suite) int {
	const most, last = "rate=1/1s burst=1 | allow 1 @1h | allow 1 @", "rate=2/1s burst=2 | allow 1 @1h | allow 1 @"
	const again = " | allow 1 @1h | allow 1 @1h"
	for _, asked := range [][2]string{{most + "0", most + "1h"}, {last + "0" + again, last + "1h" + again}} {
		back, ok := decisions(s, asked[0])
		still, ok2 := decisions(s, asked[1])
		switch {
		case !ok || !ok2:
			return 0
		case count(back) > count(still):
			return int(BackRewind)
		}
	}
	return int(BackClamp) // or BackReject: how much less is granted is not judged
}

// count counts what was granted.
func count(granted []bool) (n int) {
	for _, ok := range granted {
		n += suite.Number(ok)
	}
	return n
}

// observeErrors observes what a request gets whose answer is an error.
func observeErrors(s *suite.Suite) int {
	if done := ran(s, "rate=3/1s burst=3 | fault 1 @0 | allow 1 @0"); done != nil && done[1].Answer.Err != nil {
		return int(map[bool]Errors{true: FailOpen, false: FailClosed}[done[1].OK])
	}
	return 0
}

// decisions runs a schedule and returns what was granted, and whether it was run to its end.
func decisions(s *suite.Suite, text string) (granted []bool, ok bool) {
	done := ran(s, text)
	for _, d := range done {
		granted = append(granted, d.OK)
	}
	return granted, done != nil
}

// ran runs a schedule and returns what was done, nil if it was not run to its end.
func ran(s *suite.Suite, text string) []conformance.Done {
	if rec := s.Settled(text); rec != nil {
		return rec.Done
	}
	return nil
}
