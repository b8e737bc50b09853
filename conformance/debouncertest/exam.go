package debouncertest

import (
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// exam is one run under judgement.
type exam struct {
	*suite.Recording
	traits   *Traits
	stops    bool               // the implementation has a Stop
	free     bool               // it was seen that a callback may call the implementation
	others   []conformance.Fire // those of other keys
	compares bool               // found is set
	found    []edge.Finding     // see differences
}

// Exam puts a trace in the terms of a debouncer.
func (c *contract) Exam(tr *Traits, rec *suite.Recording, _ suite.Job) *exam {
	return &exam{
		Recording: rec, traits: tr, stops: c.stops, free: c.spec.Traits.Reentrancy == ReentrancyAllowed,
	}
}

// configured reports whether an edge or a bound is configured: then the rules about the
// trailing edge alone do not judge.
func (x *exam) configured() bool {
	cfg := x.Schedule.Config
	return cfg.Has("edges") || cfg.Has("maxwait") || cfg.Has("k")
}

// told makes a violation with the lanes of a debouncer.
func (x *exam) told(at time.Duration, because, headline string, args ...any) *suite.Violation {
	return edge.Broken(x.Recording, at, because, headline, args...)
}
