package edge

import (
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// At is a step at an instant.
func At(op conformance.Op, at time.Duration) conformance.Step {
	return conformance.Step{Op: op, At: at}
}

// Racing is a step that races with what is due at its instant.
func Racing(op conformance.Op, at time.Duration) conformance.Step {
	return conformance.Step{Op: op, At: at, Racing: true}
}

// InsideTrailing are schedules with both edges, whose first callback is that of the leading one. The
// second does what is configured.
func InsideTrailing(s *suite.Suite, cfg conformance.Config) []conformance.Schedule {
	calls := []conformance.Op{verb.Call}
	cfg = cfg.With("insiderun", "2")
	out := suite.Enumerate(cfg, calls, []time.Duration{1, suite.Wait + 1}, 3)
	for _, op := range s.Supported(verb.Flush, verb.Stop) {
		out = append(out, suite.Ending(suite.Enumerate(cfg, calls, []time.Duration{1}, 2), op,
			[]time.Duration{suite.Wait / 2})...)
	}
	return out
}
