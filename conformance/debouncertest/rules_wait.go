package debouncertest

import (
	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// waitRules are those of a wait that is 0 or negative.
func waitRules() []rule {
	return onTrailing(
		rule{
			Rule: core("DB-ZERO", "With a wait of 0 every event MUST fire at its own instant, as declared, "+
				"unless the constructor refuses 0."),
			Declared: []string{"ZeroWait"},
			About: func(j suite.Job) bool {
				return j.Schedule.Config.Has("wait") && j.Schedule.Config.Wait == 0
			},
			Check: (*exam).zeroWait,
		},
		rule{
			Rule:     core("DB-NEG", "The constructor MUST refuse a negative wait, or take it as 0."),
			Declared: []string{"ZeroWait"},
			About:    func(j suite.Job) bool { return j.Schedule.Config.Wait < 0 },
			Check:    (*exam).negativeWait,
		},
	)
}

func (x *exam) zeroWait() *suite.Violation {
	if x.Schedule.Config.Wait != 0 || !x.Schedule.Config.Has("wait") || x.Stuck {
		return nil
	}
	want := x.traits.ZeroWait
	if (x.Refused != "") != (want == ZeroRefused) {
		if want == ZeroRefused {
			return x.told(0, "ZeroRefused is declared", "the constructor accepted a wait of 0")
		}
		return x.told(0, "ZeroRefused is not declared", "the constructor refused a wait of 0: %s", x.Refused)
	}
	v := x.view()
	for n, c := range v.calls {
		if x.Refused != "" || x.silent(c.Began.Seq) {
			return nil
		}
		var f *conformance.Fire
		if n < len(x.Fires) {
			f = &x.Fires[n]
		}
		switch {
		case f == nil || f.Began.At != c.Began.At:
			return x.told(c.Began.At, "with a wait of 0 each event is a burst of its own",
				"call %d at %s did not fire at its instant", c.N, c.Began.At)
		case want == ZeroSync && f.Began.Seq > c.Ended.Seq && !c.Inside: // the callback may have to end first
			return x.told(c.Began.At, "ZeroSync is declared",
				"call %d at %s returned before its callback started", c.N, c.Began.At)
		}
	}
	if x.Refused == "" && len(x.Fires) > len(v.calls) && v.lastOf(afterAll, verb.Cancel, verb.Stop) == nil {
		f := x.Fires[len(v.calls)]
		return x.told(f.Began.At, "every event had fired", "fired at %s, want no fire", f.Began.At)
	}
	return nil
}

func (x *exam) negativeWait() *suite.Violation {
	if x.Schedule.Config.Wait >= 0 || x.Stuck || x.Refused != "" {
		return nil
	}
	if x.traits.ZeroWait == ZeroRefused {
		return x.told(0, "ZeroRefused is declared", "the constructor accepted a wait of %s", x.Schedule.Config.Wait)
	}
	for n, c := range x.view().calls {
		if n >= len(x.Fires) || x.Fires[n].Began.At != c.Began.At {
			return x.told(c.Began.At, "a negative wait was accepted, so it counts as 0",
				"call %d at %s did not fire at its instant", c.N, c.Began.At)
		}
	}
	return nil
}
