package batchtest

import (
	"fmt"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

const delay = suite.Wait

// sized is a configuration with a size and a delay, each left out if it is 0.
func sized(size string, delay time.Duration) conformance.Config {
	cfg := conformance.Config{}
	if size != "" {
		cfg = cfg.With("size", size)
	}
	if delay > 0 {
		cfg = cfg.With("delay", timeline.Duration(delay))
	}
	return cfg
}

// row is a family as data: all sequences of up to depth steps with the gaps between them, in each configuration.
type row struct {
	name  string
	cfgs  []conformance.Config
	steps []conformance.Op
	gaps  []time.Duration
	depth int
}

// Families lists what is explored, in constants.
func (c *contract) Families(s *suite.Suite) []suite.Family {
	if !s.Accepts(verb.Put) {
		return nil
	}
	var out []suite.Family
	for _, r := range c.rows(s) {
		f := suite.Family{Name: r.name, Look: r.name == suite.Leaks}
		var steps []conformance.Step
		for _, op := range s.Supported(r.steps...) {
			steps = append(steps, conformance.Step{Op: op})
		}
		if c.size == 0 {
			r.cfgs = []conformance.Config{r.cfgs[len(r.cfgs)-1].Without("size")}
		}
		for _, cfg := range r.cfgs {
			f.Schedules = append(f.Schedules, legal(suite.Sequences(cfg, steps, r.gaps, r.depth))...)
		}
		slices.SortStableFunc(f.Schedules, func(a, b conformance.Schedule) int { return len(a.Steps) - len(b.Steps) })
		out = append(out, f)
	}
	if s.Time == conformance.Injected && s.Accepts(verb.Close) { // only an injected clock tells what is armed
		soon := suite.ParseAll(sized("3", edge.Months).String() + " | put 1 @0 | close @50ms")
		out = append(out, suite.Family{Name: suite.Leaks, Look: true, Schedules: soon})
	}
	texts := func(name string, texts ...string) {
		lacks := func(st conformance.Step) bool { return !s.Accepts(st.Op) }
		all := slices.DeleteFunc(suite.ParseAll(texts...), func(s conformance.Schedule) bool {
			return slices.ContainsFunc(s.Steps, lacks)
		})
		out = append(out, suite.Family{Name: name, Schedules: all})
	}
	texts("racing", racing...)
	out = append(out, suite.Family{Name: "long", Schedules: longs()})
	texts("panics", panicking...)
	texts("meanwhile", c.meanwhile()...)
	slices.SortStableFunc(out, func(a, b suite.Family) int { // what may leave something behind comes last
		return suite.Number(a.Name == reentrant) - suite.Number(b.Name == reentrant)
	})
	return out
}

// reentrant is the family of operations in the consumer.
const reentrant = "inside"

func (c *contract) rows(s *suite.Suite) []row {
	const put, flush, closes = verb.Put, verb.Flush, verb.Close
	around := []time.Duration{0, 1, delay / 2, delay - 1, delay, delay + 1, 5 * delay / 2}
	halves := []time.Duration{0, delay / 2, delay, 5 * delay / 2}
	in := func(cfgs ...conformance.Config) []conformance.Config { return cfgs }
	all := []conformance.Op{put, flush, closes}
	out := []row{
		{suite.Leaks, in(sized("2", delay)), all, []time.Duration{0, delay / 2}, 3},
		{"items", in(sized("3", delay), sized("2", delay)), all[:1], around, 4},
		{"flushes", in(sized("3", delay)), all[:2], []time.Duration{0, delay / 2, delay}, 4},
		{"behind others", in(sized("2", delay)), all, []time.Duration{0, delay / 2}, 4},
		{"size of one", in(sized("1", delay)), all, halves[:2], 3},
		{"no size", in(sized("", delay)), all, halves, 3},
		{"no delay", in(sized("2", 0), sized("", 0), sized("1", 0)), all, []time.Duration{0, delay}, 3},
		{"a nanosecond", in(sized("3", 1)), all[:1], []time.Duration{0, 1, 2}, 3},
	}
	if c.spec.Traits.Busy != 0 {
		d := delay
		if c.spec.Traits.Anchor != AnchorFirstItem { // hand-overs that wait for the consumer are judged without a delay
			d = 0
		}
		gaps := []time.Duration{time.Millisecond, 20 * time.Millisecond, 110 * time.Millisecond}
		busy := row{"busy", nil, all[:2], gaps, 3}
		for _, long := range []string{"30ms", "250ms"} {
			busy.cfgs = append(busy.cfgs, sized("2", d).With("busy", long), sized("1", d).With("busy", long))
		}
		out = append(out, busy)
	}
	if edge.NoReentry(s, c.spec.Traits.Reentrancy) == "" {
		for _, op := range s.Supported(all[:2]...) {
			cfgs := in(sized("2", delay).With("inside", string(op)), sized("1", delay).With("inside", string(op)))
			out = append(out, row{reentrant, cfgs, all[:2], []time.Duration{0, delay / 2, delay}, 3})
		}
	}
	if s.Time != conformance.PackageTime {
		cfgs := suite.Each(sized("3", delay), "epoch", suite.Epochs...)
		out = append(out, row{"epochs", cfgs, all[:2], around[3:5], 3})
	}
	return out
}

// meanwhile flush and close what has come since the consumer began.
func (c *contract) meanwhile() (texts []string) {
	tr := c.spec.Traits
	if tr.Busy == 0 || tr.Anchor != AnchorFirstItem {
		return nil
	}
	for _, op := range []conformance.Op{verb.Flush, verb.Close} {
		if op != verb.Close || tr.CloseFlush == CloseFires {
			const begun = "size=2 delay=10s busy=50ms | put 1 @0 | put 2 @0 | put 3 @10ms"
			texts = append(texts, fmt.Sprintf("%s | %s @20ms", begun, op),
				fmt.Sprintf("%s | put 4 @20ms | put 5 @30ms | %s @40ms", begun, op))
		}
	}
	return texts
}

// legal numbers the items, and leaves out schedules without one, or with more than items behind a Close.
func legal(all []conformance.Schedule) []conformance.Schedule {
	all = slices.DeleteFunc(all, func(s conformance.Schedule) bool {
		closed := slices.IndexFunc(s.Steps, func(st conformance.Step) bool { return st.Op == verb.Close })
		other := func(st conformance.Step) bool { return st.Op != verb.Put }
		return closed >= 0 && slices.ContainsFunc(s.Steps[closed+1:], other) ||
			!slices.ContainsFunc(s.Steps, func(st conformance.Step) bool { return st.Op == verb.Put })
	})
	return suite.NumberedCalls(all)
}

const two, three = "size=2 delay=100ms | put 1 @0", "size=3 delay=100ms | put 1 @0"

// racing are schedules in which something is done at the instant when a delay ends.
var racing = []string{
	two + " | put 2 @100ms~",
	three + " | put 2 @100ms~",
	three + " | put 2 @50ms | put 3 @100ms~",
	two + " | put 2 @100ms~ | put 3 @100ms~",
	"size=1 delay=100ms | put 1 @0 | put 2 @100ms~",
	three + " | flush @100ms~",
	three + " | flush @100ms~ | put 2 @100ms~",
	three + " | put 2 @100ms~ | flush @100ms~",
	three + " | flush @100ms~ | put 2 @150ms",
	three + " | close @100ms~",
	two + " | put 2 @100ms~ | close @100ms~",
}

// longs hand in many items, faster and slower than a delay.
func longs() (out []conformance.Schedule) {
	for _, cfg := range []conformance.Config{sized("8", delay), sized("20", delay), sized("", delay)} {
		for _, gap := range []time.Duration{0, delay / 10, delay * 3 / 10, delay, delay * 13 / 10} {
			s := conformance.Schedule{Config: cfg}
			for i := range 40 {
				s.Steps = append(s.Steps, conformance.Step{Op: verb.Put, N: i + 1, At: time.Duration(i) * gap})
			}
			out = append(out, s)
		}
	}
	return out
}

// panicking let the consumer panic with the first batch, where that can be survived: within an
// operation, and in the function of an injected clock's timer.
var panicking = []string{
	"size=2 delay=100ms panics=1 | put 1 @0 | put 2 @0 | put 3 @0 | put 4 @0",
	"size=2 delay=100ms panics=1 | put 1 @0 | put 2 @150ms | put 3 @150ms",
	"size=2 delay=100ms panics=1 | put 1 @0 | put 2 @150ms",
	"size=2 delay=100ms panics=1 | put 1 @0 | flush @0 | put 2 @0",
}

// onPackageTime are the schedules that are run while package time moves on.
func onPackageTime(*suite.Suite) []conformance.Schedule {
	put := []conformance.Step{{Op: verb.Put}}
	return legal(suite.Sequences(sized("3", delay), put, suite.Around(delay), 3))
}
