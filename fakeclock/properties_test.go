package fakeclock_test

import (
	"testing"

	"github.com/escapement-go/escapement/conformance/clocktest"
	"github.com/escapement-go/escapement/properties"
)

func TestProperties_Clock(t *testing.T) { properties.Check(t, clock(clocktest.WaitsForFunctions)) }
