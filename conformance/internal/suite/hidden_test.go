package suite

import (
	"testing"

	"github.com/escapement-go/escapement/conformance"
)

// A broken rule about an operation explains nothing in a run that does not have the operation; one about
// what only some implementations can do, or about nothing in particular, explains all.
func TestHidden(t *testing.T) {
	rule := func(id string, ops ...conformance.Op) Rule[int, int] {
		return Rule[int, int]{Rule: conformance.Rule{ID: id}, Ops: ops}
	}
	beyond := rule("beyond")
	beyond.Beyond = []string{"reset", "keys", "law"}
	for _, c := range []struct{ broken, schedule, want string }{
		{"", "call 1 @0 | reset @1s", ""},
		{"reset", "call 1 @0 | reset @1s", "reset"},
		{"reset", "inside=reset | call 1 @0", "reset"},
		{"reset", "call 1 @0 | call 2 @1s", ""},
		{"keys", "call 1 @0", "keys"},
		{"law", "call 1 @0", "law"},
		{"other", "call 1 @0", ""},
	} {
		e := &engine[int, int]{
			rules: []Rule[int, int]{rule("reset", conformance.OpReset), rule("keys", "call with key"),
				rule("law"), rule("other"), beyond},
			findings: map[string]*finding{c.broken: {worst: &Violation{}}},
		}
		if got := e.hidden(&beyond, Job{Schedule: ParseAll(c.schedule)[0]}); got != c.want {
			t.Errorf("with %q broken, %q is explained by %q, want %q", c.broken, c.schedule, got, c.want)
		}
	}
}
