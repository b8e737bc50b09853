package limitertest

import (
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// read are schedules of requests of an empty bucket around the instants at which tokens come.
func (c *contract) read(s *suite.Suite) (out []conformance.Schedule) {
	cfg := limited("10/1s", 2)
	if only := c.onlyConfigs(); len(only) > 0 {
		cfg = only[0]
	}
	ask, interval := conformance.Step{Op: verb.Allow, N: 1}, cfg.Rate.Interval()
	if cfg.Burst > suite.Many || !s.Accepts(opRequest) {
		return nil
	}
	for _, tail := range suite.Sequences(cfg, []conformance.Step{ask}, append(suite.Around(interval), interval/2), 4) {
		tail.Steps = slices.Concat(slices.Repeat([]conformance.Step{ask}, cfg.Burst-1), tail.Steps)
		out = append(out, tail)
	}
	return out
}
