// Package synctestcompat has the part of the real one that the tests call.
package synctestcompat

import (
	"testing"
	"time"
)

func Run(t *testing.T, f func(t *testing.T)) { f(t) }
func Wait()                                  {}
func Sleep(d time.Duration)                  {}
