// Package assert has the part of the real one that the tests call.
package assert

import "time"

type TestingT interface{ Errorf(string, ...any) }

func Equal(t TestingT, want, got any) bool                                      { return true }
func Eventually(t TestingT, cond func() bool, waitFor, tick time.Duration) bool { return true }
