package properties_test

import (
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/bundled"
	"github.com/escapement-go/escapement/properties"
)

// What a schedule costs, drawn, run and judged: 100 of them, the default of a check, take
// well under a second.
func BenchmarkSchedule(b *testing.B) {
	for _, source := range []conformance.TimeSource{conformance.Injected, conformance.PackageTime} {
		b.Run("Debouncer"+source.String(), func(b *testing.B) {
			spec := bundled.Debouncer(source)
			j := conformance.JudgeDebouncer(new(testing.T), spec)
			g := properties.Debouncers(j, spec)
			for i := 0; b.Loop(); i++ {
				j.Run(g.Example(i))
			}
		})
		b.Run("Limiter"+source.String(), func(b *testing.B) {
			spec := bundled.TokenBucket(source)
			j := conformance.JudgeLimiter(new(testing.T), spec)
			g := properties.Limiters(j, spec)
			for i := 0; b.Loop(); i++ {
				j.Run(g.Example(i))
			}
		})
	}
}
