package clocktest

import (
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

func contexts() []conformance.Schedule {
	gaps := []time.Duration{0, 1, second - 1, second, 3 * second}
	return append(following("timeout 1 1s @0", "cancel 1 @0 | err 1 @0", gaps, 2, idle(2*second)), suite.ParseAll(
		"timeout 1 "+longest+" @0 | idle 1h | cancel 1 @1h",
		"timeout 1 "+longest+" @1s | idle 1h | cancel 1 @2h",
		"deadline 1 "+longest+" @1s | idle 1h | cancel 1 @2h",
		"timeout 1 0 @0 | idle 1s",
		"afterfunc 1 1s @0 | timeout 2 0 @f1 | idle 1s | idle 1s",
		"deadline 1 0 @0 | idle 1s",
		"timeout 1 -1s @0 | cancel 1 @0 | err 1 @0",
		"deadline 1 1s @0 | idle 1s",
		"deadline 1 1s @400ms | idle 1s",
		"deadline 1 1s @2s | idle 1s",
		"timeout 1 1s @0 | timeout 2 3s @0 | idle 2s | cancel 2 @2.5s",
		"afterfunc 1 1s @0 | timeout 2 1s @f1 | idle 1s | idle 1s",
		"timeout 1 3s @0 | afterfunc 2 1s @0 | cancel 1 @f2 | idle 1s | idle 4s",
	)...)
}

func contextTrees() []conformance.Schedule {
	return suite.ParseAll(
		"timeout 1 1s @0 | timeout 2 10s 1 @0 | idle 500ms | idle 1s",
		"timeout 1 10s @0 | timeout 2 1s 1 @0 | idle 1s | cancel 1 @2s",
		"timeout 1 10s @0 | timeout 2 1s 1 @0 | cancel 1 @500ms | idle 1s",
		"timeout 1 10s @0 | timeout 2 1s 1 @0 | cancel 2 @500ms | cancel 1 @600ms",
		"timeout 1 1s @0 | timeout 2 1s 1 @0 | idle 1s",
		"timeout 1 2s @0 | timeout 2 1s 1 @1s | idle 1s | idle 1s",
		"within 1 @0 | timeout 2 1s 1 @0 | cancel 1 @500ms | idle 1s",
		"within 1 @0 | timeout 2 1s 1 @0 | idle 1s | cancel 1 @2s",
		"within 1 @0 | timeout 2 10s 1 @0 | timeout 3 20s 2 @0 | cancel 1 @1s",
		"within 1 @0 | timeout 2 10s 1 @0 | timeout 3 5s 2 @0 | cancel 1 @1s",
		"within 1 @0 | deadline 2 10s 1 @0 | deadline 3 20s 2 @0 | timeout 4 5s 3 @0 | cancel 1 @1s | idle 1s",
		"within 1 @0 | cancel 1 @0 | timeout 2 1s 1 @0 | idle 1s",
		"timeout 1 1s @0 | within 2 1 @0 | idle 1s | cancel 2 @2s",
		"timeout 1 1s @0 | within 2 1 @0 | cancel 2 @500ms | idle 1s",
		"timeout 1 2s @0 | within 2 1 @0 | timeout 3 1s 2 @0 | timeout 4 5s 3 @0 | idle 1s | idle 1s",
		"timeout 1 2s @0 | within 2 1 @0 | timeout 3 3s 2 @0 | cancel 2 @1s | idle 5s",
		"deadline 1 2s @0 | deadline 2 1s 1 @0 | deadline 3 3s 1 @0 | idle 1s | idle 1s | idle 1s",
		"timeout 1 1s @0 | idle 1s | timeout 2 1s 1 @1s | idle 1s",
	)
}
