package prove

import (
	"flag"
	"testing"
)

var seed = flag.String("rapid.seed", "0", "as rapid has it, which this package does not import")

func TestSameSeed(t *testing.T) {
	for _, tt := range []struct{ level, given, want string }{
		{"", "0", "1"},
		{"1", "0", "1"},
		{"1", "7", "7"},
		{"all", "0", "0"},
	} {
		t.Setenv(Variable, tt.level)
		*seed = tt.given
		t.Run("a test", func(t *testing.T) {
			if SameSeed(t); *seed != tt.want {
				t.Errorf("%s=%q, -rapid.seed=%s: drawn from %s, want %s", Variable, tt.level, tt.given, *seed, tt.want)
			}
		})
		if *seed != tt.given {
			t.Errorf("%s=%q, -rapid.seed=%s: it is %s after the test", Variable, tt.level, tt.given, *seed)
		}
	}
}
