package debounce_test

import (
	"testing"

	"github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/properties"
	"github.com/escapement-go/escapement/synctestcompat"
)

func TestProperties_Debouncer(t *testing.T) {
	everyTime(t, func(t *testing.T, source debouncertest.TimeSource) {
		t.Run("Check", func(t *testing.T) { properties.Check(t, debouncerSpec(source)) })
		t.Run("Laws", func(t *testing.T) { properties.Laws(t, debouncerSpec(source)) })
	})
}

func TestProperties_DebouncerTwice(t *testing.T) {
	everyTime(t, func(t *testing.T, source debouncertest.TimeSource) { properties.Check(t, twiceSpec(source)) })
}

func TestProperties_Batch(t *testing.T) {
	everyTime(t, func(t *testing.T, source debouncertest.TimeSource) { properties.Check(t, batchSpec(source)) })
}

func TestProperties_Keyed(t *testing.T) {
	everyTime(t, func(t *testing.T, source debouncertest.TimeSource) { properties.Check(t, keyedSpec(source)) })
}

func TestProperties_Stream(t *testing.T) {
	synctestcompat.Require(t)
	everyTime(t, func(t *testing.T, source debouncertest.TimeSource) { properties.Check(t, streamSpec(source)) })
}

func FuzzDebouncer(f *testing.F) { properties.Fuzz(f, debouncerSpec(debouncertest.Injected)) }
