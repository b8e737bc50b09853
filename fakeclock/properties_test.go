package fakeclock_test

import (
	"testing"

	"github.com/escapement-go/escapement/conformance/clocktest"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/properties"
)

func TestProperties_Clock(t *testing.T) {
	prove.SameSeed(t)
	properties.Check(t, clock(clocktest.WaitsForFunctions))
}
