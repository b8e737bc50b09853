package edge

import (
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// manyKeys is more than the places of a table that a number of keys or instances may share, or
// that holds the newest ones only.
const manyKeys = 40

// ManyKeys are calls with many keys: one with each key at one instant, and after each of the gaps
// another one with each, the last key first.
func ManyKeys(cfg conformance.Config, gaps ...time.Duration) conformance.Schedule {
	s := suite.Plan(cfg)
	at := time.Duration(0)
	for i := range len(gaps) + 1 {
		if i > 0 {
			at += gaps[i-1]
		}
		for k := 1; k <= manyKeys; k++ {
			key := k
			if i%2 == 1 {
				key = manyKeys + 1 - k
			}
			s.Steps = append(s.Steps, conformance.Step{Op: conformance.OpCall, N: len(s.Steps) + 1, K: key, At: at})
		}
	}
	return s
}
