package properties

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/stackmark"
	"github.com/escapement-go/escapement/internal/twins"
	"github.com/escapement-go/escapement/internal/verb"
)

// Laws checks metamorphic laws, which compare two runs, with one subtest for each law that applies;
// [AllLaws] lists them. The schedules avoid ties, whose outcome may be open. A contract without such
// laws skips the test.
func Laws(t *testing.T, spec conformance.Spec) {
	t.Helper()
	w := newTwin(spec.Judge(t))
	if len(w.Laws) == 0 {
		t.Skip("properties: no law of two runs applies to this implementation")
	}
	w.check(t)
}

// Law is a law that compares the outcomes of two runs.
type Law struct {
	// ID is its name and that of its subtest.
	ID string
	// Text is the law in one sentence.
	Text string

	broken func(w *twin, p pair) string
}

// AllLaws lists the laws of two runs.
func AllLaws() []Law {
	return []Law{replay, shift, scale, rename, query, iso, evict, insert, concat, split}
}

// pair is what a law compares on: a schedule, another one, and a number for whatever
// the law chooses.
type pair struct {
	first, second conformance.Schedule
	k             int
}

// GoString lists what was drawn, schedules in their text form.
func (p pair) GoString() string { return fmt.Sprintf("%s, %s, k=%d", p.first, p.second, p.k) }

// twin is an implementation as the laws of two runs see it.
type twin struct {
	twins.Judge
	twins.Terms

	partial bool // a run was ended early: there is nothing to compare
}

func newTwin(j conformance.Judge) *twin {
	own := j.(twins.Judge)
	return &twin{Judge: own, Terms: own.Twins()}
}

// pairs draws two schedules of one configuration.
func (w *twin) pairs() *rapid.Generator[pair] {
	return rapid.Custom(func(t *rapid.T) pair {
		cfg, pick := rapid.SampledFrom(w.Configs).Draw(t, "config"), picker(t)
		return pair{w.Terms.Draw(cfg, pick), w.Terms.Draw(cfg, pick), rapid.IntRange(0, 1000).Draw(t, "k")}
	})
}

// check checks each law in a subtest.
func (w *twin) check(t *testing.T) {
	t.Helper()
	for _, law := range AllLaws() {
		if !slices.Contains(w.Laws, law.ID) {
			continue
		}
		t.Run(law.ID, func(t *testing.T) {
			if law.ID == query.ID && !w.Accepts(w.Question) {
				t.Skip("properties: the implementation has no " + string(w.Question))
			}
			pairs, compared := w.pairs(), false
			rapid.Check(t, func(rt *rapid.T) {
				w.partial = false
				why := law.broken(w, pairs.Draw(rt, "schedules"))
				if w.partial {
					return
				}
				compared = true
				if why != "" {
					stackmark.Call(stackmark.Of(law.ID), func() { rt.Fatalf("%s: %s\n%s", law.ID, why, law.Text) })
				}
			})
			if !compared {
				t.Skip("properties: no run of the law finished")
			}
		})
	}
}

// outcome is what a run showed: what was fired or granted, and when.
type outcome struct {
	at    time.Duration
	value int
}

// String is "2@187.5ms".
func (o outcome) String() string { return fmt.Sprintf("%d@%v", o.value, o.at) }

// outcomes lists what came out of a run: the fires of a callback, or the
// numbers of the requests that were granted; of requests that may wait, those that were
// rejected too, as negative numbers.
func outcomes(tr *conformance.Trace) []outcome {
	var out []outcome
	for _, f := range tr.Fires {
		out = append(out, outcome{f.Began.At, f.Value})
	}
	asked := 0
	for _, d := range tr.Done {
		switch d.Op {
		case verb.Allow:
			if asked++; d.OK {
				out = append(out, outcome{d.At, asked})
			}
		case verb.Acquire, verb.Try, verb.Do:
			if !d.OK {
				d.N = -d.N
			}
			out = append(out, outcome{d.Ended.At, d.N})
		}
	}
	return out
}

// outcomes runs a schedule and lists what came out.
func (w *twin) outcomes(s conformance.Schedule) []outcome { return w.whole(w.Trace(s)) }

// whole lists what came out of a run, and notes whether it was ended early.
func (w *twin) whole(tr *conformance.Trace) []outcome {
	w.partial = w.partial || tr.LeftOut != ""
	return outcomes(tr)
}

// differ says how the outcomes of two schedules differ, if they do.
func differ(what string, s conformance.Schedule, got, want []outcome) string {
	if slices.Equal(got, want) {
		return ""
	}
	return fmt.Sprintf("%s\n    %s\n  came to %v, want %v", what, s, got, want)
}

// later is the schedule d later.
func later(s conformance.Schedule, d time.Duration) conformance.Schedule {
	s.Steps = slices.Clone(s.Steps)
	for i := range s.Steps {
		s.Steps[i].At += d
	}
	return s
}

// moved are outcomes d later.
func moved(all []outcome, d time.Duration) []outcome {
	all = slices.Clone(all)
	for i := range all {
		all[i].at += d
	}
	return all
}

// number counts the calls, or the items, of a schedule from 1.
func number(s conformance.Schedule) conformance.Schedule {
	s.Steps = slices.Clone(s.Steps)
	n := 0
	for i := range s.Steps {
		if op := s.Steps[i].Op; op == verb.Call || op == verb.Put {
			n++
			s.Steps[i].N = n
		}
	}
	return s
}

var replay = Law{
	ID: "X-REPLAY", Text: "The same schedule on a fresh instance MUST have the same outcome.",
	broken: func(w *twin, p pair) string {
		return differ("a second run of", p.first, w.outcomes(p.first), w.outcomes(p.first))
	},
}

var shift = Law{
	ID: "X-SHIFT", Text: "The same schedule at another time, and in another year, MUST have the same outcome then.",
	broken: func(w *twin, p pair) string {
		want := w.outcomes(p.first)
		shifts := []time.Duration{time.Second, time.Minute, 1, 10*time.Hour + 3}
		years := []string{
			"0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2200-01-01T00:00:00Z", "1969-12-31T23:59:59.999999999Z",
		}
		if w.Windows {
			shifts, years = shifts[:2], years[:3]
		}
		d := shifts[p.k%len(shifts)]
		s := later(p.first, d)
		why := differ(fmt.Sprintf("%v later:", d), s, w.outcomes(s), moved(want, d))
		if why != "" || w.Time() == conformance.PackageTime {
			return why
		}
		s = p.first
		s.Config = s.Config.With("epoch", years[p.k%len(years)])
		return differ("in another year:", s, w.outcomes(s), want)
	},
}

var scale = Law{
	ID: "X-SCALE", Text: "With all durations k times as long, the same output MUST come k times as late.",
	broken: func(w *twin, p pair) string {
		k := []time.Duration{2, 3, 10, 1000}[p.k%4]
		s := conformance.Schedule{Config: scaled(p.first.Config, k), Steps: slices.Clone(p.first.Steps)}
		for i := range s.Steps {
			s.Steps[i].At *= k
		}
		want := w.outcomes(p.first)
		for i := range want {
			want[i].at *= k
		}
		return differ(fmt.Sprintf("%d times as long:", k), s, w.outcomes(s), want)
	},
}

var rename = Law{
	ID: "X-RENAME", Text: "Other payloads MUST change only the payloads of the output.",
	broken: func(w *twin, p pair) string {
		other := func(n int) int { return 3 - 7*n }
		s := conformance.Schedule{Config: p.first.Config, Steps: slices.Clone(p.first.Steps)}
		for i := range s.Steps {
			if st := &s.Steps[i]; st.N != 0 || st.Op.Counts() { // a flush without a key has no number
				st.N = other(st.N)
			}
		}
		want := w.outcomes(p.first)
		for i := range want {
			if !w.Nameless && want[i].value != 0 { // 0 is no payload, but that of an empty batch
				want[i].value = other(want[i].value)
			}
		}
		return differ("with other payloads:", s, w.outcomes(s), want)
	},
}

var query = Law{
	ID: "X-QUERY", Text: "A query MUST NOT change later outcomes.",
	broken: func(w *twin, p pair) string {
		s := conformance.Schedule{Config: p.first.Config}
		for i, st := range p.first.Steps {
			if i > 0 && (p.k>>(i%8))&1 == 0 {
				middle := (s.Steps[len(s.Steps)-1].At + st.At) / 2
				s.Steps = append(s.Steps, conformance.Step{Op: w.Question, At: middle})
			}
			s.Steps = append(s.Steps, st, conformance.Step{Op: w.Question, At: st.At})
		}
		return differ("with questions between:", s, w.outcomes(s), w.outcomes(p.first))
	},
}

var iso = Law{
	ID: "X-ISO", Text: "Another instance MUST NOT change the outcome.",
	broken: func(w *twin, p pair) string {
		return differ("with another instance beside:", p.first, w.whole(w.Beside(p.first)), w.outcomes(p.first))
	},
}

var evict = Law{
	ID: "X-EVICT", Text: "After a long idle time an instance MUST behave as a new one.",
	broken: func(w *twin, p pair) string {
		d := p.first.Steps[len(p.first.Steps)-1].At + w.Long(p.first.Config)
		if w.Windows {
			d = d.Truncate(unit)
		}
		return w.after("after a long idle:", p, d)
	},
}

var concat = Law{
	ID: "DB-CONCAT", Text: "Events more than the wait after all others MUST have the outcome that they have alone.",
	broken: func(w *twin, p pair) string {
		d := p.first.Steps[len(p.first.Steps)-1].At + p.first.Config.Wait + time.Microsecond
		return w.after("one after the other:", p, d)
	},
}

// after says how the outcomes of the second schedule, done d later than the first one, differ
// from what they are alone.
func (w *twin) after(what string, p pair, d time.Duration) string {
	s := p.first
	s.Steps = slices.Concat(s.Steps, later(p.second, d).Steps)
	s = number(s)
	return differ(what, s, w.outcomes(s), w.joined(p, d))
}

// joined are the outcomes of the first schedule, then those of the second one, d later
// and numbered on.
func (w *twin) joined(p pair, d time.Duration) []outcome {
	n := 0
	for _, st := range p.first.Steps {
		if st.Op == verb.Call || st.Op == verb.Put || st.Op == verb.Allow {
			n++
		}
	}
	out := w.outcomes(p.first)
	for _, o := range w.outcomes(number(p.second)) {
		if !w.Nameless {
			o.value += n
		}
		out = append(out, outcome{o.at + d, o.value})
	}
	return out
}

var insert = Law{
	ID: "DB-INSERT", Text: "One more event inside a burst MUST change neither how often nor when it fires.",
	broken: func(w *twin, p pair) string {
		var calls []int // of those that a call follows in the same burst
		for i := 0; i+1 < len(p.first.Steps); i++ {
			a, b := p.first.Steps[i], p.first.Steps[i+1]
			if a.Op == verb.Call && b.Op == verb.Call && b.At-a.At < p.first.Config.Wait {
				calls = append(calls, i)
			}
		}
		if len(calls) == 0 {
			return ""
		}
		i := calls[p.k%len(calls)]
		s := conformance.Schedule{Config: p.first.Config, Steps: slices.Clone(p.first.Steps)}
		more := s.Steps[i]
		more.N, more.At = 400, (more.At+s.Steps[i+1].At)/2
		s.Steps = slices.Insert(s.Steps, i+1, more)
		return differ("with one more call inside a burst:", s, w.outcomes(s), w.outcomes(p.first))
	},
}

var split = Law{
	ID:   "RL-SPLIT",
	Text: "A granted request MUST also be granted as two at the same instant, with the same balance left.",
	broken: func(w *twin, p pair) string {
		granted := map[int]bool{} // by number of the request
		for _, o := range w.outcomes(p.first) {
			granted[o.value] = true
		}
		s := conformance.Schedule{Config: p.first.Config}
		asked, added := 0, 0
		var want []outcome
		for _, st := range p.first.Steps {
			if st.Op != verb.Allow {
				s.Steps = append(s.Steps, st)
				continue
			}
			asked++
			if st.N > 1 && granted[asked] {
				part := st
				part.N = 1 + p.k%(st.N-1)
				s.Steps = append(s.Steps, part)
				want = append(want, outcome{st.At, asked + added})
				st.N -= part.N
				added++
			}
			s.Steps = append(s.Steps, st)
			if granted[asked] {
				want = append(want, outcome{st.At, asked + added})
			}
		}
		return differ("with grants split in two:", s, w.outcomes(s), want)
	},
}

// scaled makes all durations of a configuration k times as long.
func scaled(c conformance.Config, k time.Duration) conformance.Config {
	c.Wait *= k
	c.Interval *= k
	c.Delay *= k
	c.Rate.Per *= k
	c.Timeout *= k
	return c
}

// unit is the wait, the interval, and so on, of schedules that keep clear of ties.
const unit = 100 * time.Millisecond
