package edge

import (
	"fmt"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
)

// Text is fmt.Sprintf with durations as schedules write them.
func Text(format string, args ...any) string {
	args = slices.Clone(args)
	for i, arg := range args {
		if d, ok := arg.(time.Duration); ok {
			args[i] = timeline.Duration(d)
		}
	}
	return fmt.Sprintf(format, args...)
}

// Broken makes a violation of a run, with durations as schedules write them. Its timeline shows what fired, also
// where nothing did.
func Broken(rec *suite.Recording, at time.Duration, because, headline string, args ...any) *suite.Violation {
	return &suite.Violation{Headline: Text(headline, args...), Because: because, At: at, Lanes: []suite.Lane{rec.Got()}}
}
