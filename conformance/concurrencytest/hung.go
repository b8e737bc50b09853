package concurrencytest

import (
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// Hung looks for what a run without progress proves. A request may wait for a slot by
// waiting for a lock, so that a wait for a lock proves nothing; unless it is that of an
// operation that needs no slot, or requests were seen to wait for slots in another way.
func (c *contract) Hung(s *suite.Suite, h *suite.Hang) (rule string, broken *suite.Violation, done bool) {
	proof, where := h, c.waitsForEver(s, h)
	if where == "" { // it may be that nobody has asked yet for what must not wait
		beside := suite.MustParse("limit=1 backlog=2 timeout=1h | acquire 1 @0 | acquire 2 @0 | release 1 @0")
		if proof = s.Run([]suite.Job{{Schedule: beside}}, func(suite.Job, *suite.Recording) {}); proof != nil {
			where = c.waitsForEver(s, proof)
		}
	}
	if where != "" {
		v := s.Lost(where)
		v.Run = suite.Unrecorded(proof.Job)
		return "", v, true
	}
	return "", nil, true
}

// waitsForEver describes an operation that waits for a lock which nobody will give back, ""
// if that cannot be proved.
func (c *contract) waitsForEver(s *suite.Suite, h *suite.Hang) string {
	if where := s.LostPromptly(h); where != "" || !c.parked {
		return where
	}
	return s.LostLock(h)
}
