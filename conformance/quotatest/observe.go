package quotatest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// observations are what TRAITS works the choices out from: runs of a few schedules. A choice
// fits if the model that makes it agrees with all of them. Where several fit, no schedule can
// tell, and where none does, the limiter is none of its kind.
type observations struct {
	c      *contract
	kind   Kind
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
	o := &observations{c: c, kind: c.spec.Kind, fitted: map[Traits]int{}}
	c.seen = o
	whole := asked("rate=10/1s burst=1", "0 99.999999ms 100ms 199.999999ms 200ms")
	o.floats = o.kind == GCRA && decisions(s, whole) == "ynyny"
	texts := telling(o.kind)
	if o.single, o.panics = single(s); !o.single && o.kind != GCRA {
		texts = append(texts, "rate=3/28s | allow 2 @0 | allow 2 @1s | allow 1 @2s") // one that is denied, and room
	}
	for _, text := range texts {
		for _, rec := range s.TryText(text, inside.OrderSettled) {
			whole := rec.LeftOut == "" && len(rec.Done) == len(rec.Schedule.Steps)
			if whole && c.Exam(&Traits{}, rec, suite.Job{}).complete() {
				o.runs = append(o.runs, rec)
			}
		}
	}
	return o
}

// telling lists schedules in which each choice makes a difference. Bubbles begin at a whole
// second, but a window of 28s on the clock begins 8s before they do.
func telling(kind Kind) (all []string) {
	const w = 28 * time.Second
	for _, g := range grains[1:] { // an event and the one after it fall into other parts of a grain
		all = append(all, asked("rate=1/28s burst=1", "%v %v", g*7/10, w+g/10),
			asked("rate=1/28s burst=1", "%v %v", g*3/10, w+g*7/10))
		if kind == FixedWindow { // whose first window may begin when the limiter is made
			all = append(all, asked("rate=1/28s", "0 %v %v", w+g*7/10, 2*w+g/10))
		}
	}
	if kind == GCRA {
		return append(all,
			asked("rate=10/1s burst=1", "0 99.999999ms 100ms 199.999999ms 200ms 300.0005ms 400ms"),
			asked("rate=10/1s burst=3", "4*0 99.999999ms 100ms 199ms 200ms 3*500ms"),
			asked("rate=1/1s burst=2", "3*0 999.999999ms 1s 1.999999999s 2s"), // floats show here
			polled("rate=10/1s burst=3", 30*time.Millisecond, 30),
			polled("rate=1/7s burst=2", 900*time.Millisecond, 20),
		)
	}
	all = append(all,
		asked("rate=1/28s", "5s 19.999999999s 20s 20.000000001s 21s 47s 48s 65s"),
		asked("rate=1/28s", "0 27.999999999s 28s 28.000000001s 47s 56.000000001s 65s"),
		asked("rate=1/28s", "5s 32.999999999s 33s 33.000000001s 47s 65s 93.5s"),
		asked("rate=1/28s", "0 20s 30s 40s 50s 60s 100s"),
		asked("rate=1/1s", "500ms 999.999999ms 1s 1.499999999s 1.5s 1.500000001s 2.1s 3s"),
		asked("rate=2/28s", "5s 6s 7s 34s 35s 36s 49s 63s 64s 91s"),
		polled("rate=3/28s", 3*time.Second, 24),
		// parts of windows show here
		asked("rate=2/28s", "0 5.5s 28s 31s 33.4s 36s 44s 56s 59s"),
		polled("rate=2/28s", 1300*time.Millisecond, 50),
		polled("rate=3/1s", 70*time.Millisecond, 30),
	)
	if kind == SlidingCounter { // events fit again when a part of the window before has faded
		for _, g := range grains[2:] { // of which a grain is so much that nobody can take it for a rounded estimate
			all = append(all, asked(fmt.Sprintf("rate=12/%s", 4*g), "12*%v 12*%v", g/5, 4*g+g*9/10))
		}
		const fades = " 8*14s 29s 2*34s 2*41s 45s 47s 2*50s 2*70s"
		all = append(all, asked("rate=20/28s", "20*200ms 20*35s"), // one that fades otherwise is no grain
			asked("rate=8/28s", "8*0"+fades), asked("rate=8/28s", "8*5s"+fades))
	}
	return all
}

// asked is a schedule of requests for one at these instants; of n of them at one instant where that is n*instant.
func asked(config, instants string, args ...any) string {
	for _, at := range strings.Fields(fmt.Sprintf(instants, args...)) {
		n := 1
		if times, instant, ok := strings.Cut(at, "*"); ok {
			n, _ = strconv.Atoi(times)
			at = instant
		}
		config += strings.Repeat(" | allow 1 @"+at, n)
	}
	return config
}

// polled is a schedule of n requests, so far apart.
func polled(config string, gap time.Duration, n int) string {
	return suite.Plan(suite.MustParse(config+" | allow 1 @0").Config, inARow(0, gap, n)...).String()
}

// fits reports whether a limiter with these traits could have decided as the runs did.
func (o *observations) fits(tr Traits) bool { return len(o.runs) > 0 && o.agrees(tr) == len(o.runs) }

// agrees counts the runs in which a limiter with these traits could have decided as this one did.
func (o *observations) agrees(tr Traits) int {
	n, known := o.fitted[tr]
	if !known {
		for _, rec := range o.runs {
			all := o.c.Exam(&tr, rec, suite.Job{}).courses(&tr)
			if slices.ContainsFunc(all, func(c *course) bool { return c.bad < 0 }) {
				n++
			}
		}
		o.fitted[tr] = n
	}
	return n
}

// candidates are the traits with all that is undeclared of how the limiter decides set to each of its values, or to the
// first one if limiters of its kind have no choice.
func (o *observations) candidates(tr Traits) (all []Traits) {
	edges, aligns := EdgeHalfOpen, AlignEpoch
	switch o.kind {
	case FixedWindow:
		edges, aligns = EdgeClosed, AlignFirstUse
	case SlidingLog:
		edges = EdgeClosed
	case SlidingCounter:
		aligns = AlignCreation
	}
	for _, edge := range values(tr.Edge, edges) {
		for _, align := range values(tr.Align, aligns) {
			for _, denied := range values(tr.CountDenied, DeniedCounted) {
				all = append(all, Traits{Edge: edge, Align: align, CountDenied: denied, Resolution: tr.Resolution,
					Rounded: tr.Rounded, Buckets: tr.Buckets, Latency: tr.Latency})
			}
		}
	}
	return all
}

// values are those of a trait up to the last, or the declared one.
func values[T ~int](declared, last T) (all []T) {
	if declared != 0 {
		return []T{declared}
	}
	for v := T(1); v <= last; v++ {
		all = append(all, v)
	}
	return all
}

// best are the first traits that agree with the most runs, where open makes undeclared what is asked for.
func (o *observations) best(tr *Traits, open func(tr *Traits)) (best Traits) {
	with, most := *tr, 0
	open(&with)
	for _, c := range o.candidates(with) {
		if n := o.agrees(c); n > most {
			best, most = c, n
		}
		if most == len(o.runs) {
			break
		}
	}
	return best
}

// fit is best if these traits agree with all runs, and else none: a rule says why not.
func (o *observations) fit(tr *Traits, open func(tr *Traits)) Traits {
	if best := o.best(tr, open); o.fits(best) {
		return best
	}
	return Traits{}
}

// grains are those that limiters have, the finest first. The nanosecond is that of floating point, or else a mistake at
// boundaries.
var grains = []time.Duration{0, 1, time.Microsecond, time.Millisecond, 10 * time.Millisecond,
	100 * time.Millisecond, time.Second}

// parts are the numbers of parts into which limiters divide a window, the finest first.
var parts = []int{100, 60, 50, 20, 10, 5, 4}

// units are the Resolution or Buckets of the finest limiter that could have decided and answered as the runs did, and
// to what it has Rounded its answers, or else of the finest one that could have decided. They are none if there is no
// such, or if other choices than the declared ones explain all of it exactly.
func (o *observations) units(tr *Traits) (finest Traits) {
	all, declared := []Traits{{}}, *tr
	if tr = &declared; o.kind == GCRA { // or it is broken
		tr.CountDenied = DeniedFree
	}
	if tr.Resolution == 0 && tr.Buckets == 0 {
		if !slices.ContainsFunc(o.candidates(*tr), o.fits) &&
			slices.ContainsFunc(o.candidates(Traits{Latency: tr.Latency}), o.explains) {
			return Traits{}
		}
		for _, grain := range grains[1:] {
			all = append(all, Traits{Resolution: grain})
		}
		for _, n := range parts {
			all = append(all, Traits{Buckets: n})
		}
		s := suite.Plan(suite.Configured("rate", "1/28s")) // as most of what was asked
		slices.SortFunc(all, func(a, b Traits) int { return cmp.Compare(a.grain(o.kind, s), b.grain(o.kind, s)) })
	}
	found := false
	for _, unit := range all {
		with := *tr
		with.Resolution, with.Buckets = tr.Resolution+unit.Resolution, tr.Buckets+unit.Buckets
		fit := slices.DeleteFunc(o.candidates(with), func(tr Traits) bool { return !o.fits(tr) })
		switch {
		case len(fit) == 0:
		case unit.Resolution == 1 && !o.floats:
			return Traits{}
		case slices.ContainsFunc(fit, o.answer):
			return unit
		case slices.ContainsFunc(fit, o.explains):
			unit.Rounded = time.Second
			return unit
		case !found:
			finest, found = unit, true
		}
	}
	return finest
}

// explains reports whether a limiter with these traits could have decided as the runs did, and answered so, or in whole
// seconds.
func (o *observations) explains(tr Traits) bool {
	inSeconds := tr
	inSeconds.Rounded = time.Second
	return o.fits(tr) && (o.answer(tr) || o.answer(inSeconds))
}

// rounded is a second if answers are in whole seconds, and decisions are finer.
func (o *observations) rounded(tr *Traits) time.Duration {
	var parts Fields
	o.each(func(f field, n int64) {
		if n >= 0 && n < int64(century) && n%int64(time.Second) != 0 { // else it stands for never
			parts |= f.is
		}
	})
	if o.answers()&(FieldRetry|FieldReset)&^parts == 0 {
		return 0
	}
	return o.units(tr).Rounded
}

// latency is the most time that a request took.
func (o *observations) latency() (most time.Duration) {
	for _, rec := range o.runs {
		most = max(most, edge.Longest(&rec.Trace))
	}
	return most
}

// answer reports whether a limiter with these traits could have answered as it did.
func (o *observations) answer(tr Traits) bool {
	if tr.Fields = o.answers(); o.kind == SlidingCounter {
		return true // its estimates may be rounded
	}
	return !slices.ContainsFunc(o.runs, func(rec *suite.Recording) bool {
		return o.c.Exam(&tr, rec, suite.Job{}).answers(tr.judged()) != nil
	})
}

// answers are the fields that are filled in: some answer has more than 0, and none has less.
func (o *observations) answers() Fields {
	filled, wrong := Fields(0), Fields(0)
	o.each(func(f field, n int64) {
		if n > 0 {
			filled |= f.is
		} else if n < 0 {
			wrong |= f.is
		}
	})
	return filled &^ wrong
}

// each looks at all fields of all answers.
func (o *observations) each(look func(f field, n int64)) {
	for _, rec := range o.runs {
		for _, d := range rec.Done {
			for _, f := range fields {
				if f.is != FieldRetry || !d.OK {
					look(f, f.of(d.Answer))
				}
			}
		}
	}
}

// single reports whether events can only be taken one at a time, and whether a panic says so: else each request takes
// one, however many it is for, or those for several are denied. A limiter that compares wrongly does neither.
func single(s *suite.Suite) (yes, panics bool) {
	if done := ran(s, "rate=3/1s burst=3 | allow 1 @0 | allow 2 @0"); done != nil && done[0].Panic == "" &&
		done[1].Panic != "" {
		return true, true
	}
	const three, two = "rate=3/1s burst=3 | allow 3 @0 | ", "rate=3/1s burst=3 | allow 2 @0 | "
	one := decisions(s, three+"allow 1 @0 | allow 1 @0 | allow 1 @0") == "yyyn" &&
		decisions(s, two+"allow 2 @0 | allow 2 @0 | allow 2 @0") == "yyyn"
	none := decisions(s, three+"allow 1 @0") == "ny" && decisions(s, two+"allow 1 @0") == "ny"
	if decisions(s, "rate=3/1s burst=3 | allow 1 @0") == "" { // who takes no more than 1 shows it otherwise
		one = decisions(s, "rate=1/1s burst=1 | allow 0 @0 | allow 1 @0") == "yn"
	}
	return one || none, false
}

// observeTooLarge asks for one more than the limit, and observes the RetryAfter.
func observeTooLarge(s *suite.Suite) int {
	done := ran(s, "rate=3/1s burst=3 | allow 4 @0")
	if done == nil || done[0].OK || done[0].Panic != "" {
		return 0
	}
	after := int64(done[0].Answer.RetryAfter)
	return 1 + slices.IndexFunc(neverAfter[1:], func(r struct{ least, most int64 }) bool {
		return after >= r.least && after <= r.most
	})
}

// observeBackTime observes what an instant before the newest one means: whether more is granted than if all had been
// asked at the newest, or less.
func observeBackTime(s *suite.Suite) int {
	const most, last = "rate=1/1s burst=1 | allow 1 @1h | allow 1 @", "rate=2/1s burst=2 | allow 1 @1h | allow 1 @"
	const again = " | allow 1 @1h | allow 1 @1h"
	for _, asked := range [][2]string{{most + "0", most + "1h"}, {last + "0" + again, last + "1h" + again}} {
		back, still := decisions(s, asked[0]), decisions(s, asked[1])
		switch {
		case back == "" || still == "":
			return 0
		case strings.Count(back, "y") > strings.Count(still, "y"):
			return int(BackRewind)
		}
	}
	return int(BackClamp) // or BackReject: how much less is granted is not judged
}

// observeErrors observes what a request gets whose answer is an error.
func observeErrors(s *suite.Suite) int {
	if done := ran(s, "rate=3/1s burst=3 | fault 1 @0 | allow 1 @0"); done != nil && done[1].Answer.Err != nil {
		return int(map[bool]Errors{true: FailOpen, false: FailClosed}[done[1].OK])
	}
	return 0
}

// decisions runs a schedule and returns what was granted, as the timeline shows it, "" if it was not run to its end.
func decisions(s *suite.Suite, text string) (granted string) {
	for _, d := range ran(s, text) {
		granted += suite.Granted[d.OK]
	}
	return granted
}

// ran runs a schedule and returns what was done, nil if it was not run to its end.
func ran(s *suite.Suite, text string) []conformance.Done {
	if rec := s.Settled(text); rec != nil {
		return rec.Done
	}
	return nil
}
