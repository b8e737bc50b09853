package suite

import (
	"testing"

	"github.com/escapement-go/escapement/conformance"
)

// What a rule finds is hidden only where the same run breaks a more basic one.
func TestHidden(t *testing.T) {
	rule := func(id string) *law { return &law{Rule: conformance.Rule{ID: id}} }
	beyond := rule("beyond")
	beyond.Beyond = []string{"reset", "law"}
	for _, tt := range []struct{ broken, want string }{
		{"beyond", ""}, {"law", "law"}, {"other", ""},
	} {
		broken := []breach{{rule: rule(tt.broken)}, {rule: beyond}}
		if got := hidden(beyond, broken); got != tt.want {
			t.Errorf("in a run that breaks %s, it is hidden by %q, want %q", tt.broken, got, tt.want)
		}
	}
}
