package prove

import (
	"fmt"
	"testing"
)

// skipped is a TB that keeps why it was skipped.
type skipped struct {
	testing.TB
	why string
}

func (*skipped) Helper()            {}
func (s *skipped) Skip(args ...any) { s.why = fmt.Sprint(args...) }

func TestRequire_saysWhatRunsIt(t *testing.T) {
	const suite, all = "ESCAPEMENT_PROVE=1 runs it", "ESCAPEMENT_PROVE=all runs it"
	for _, tt := range []struct {
		value string
		want  [3]string // why a test of each level is skipped
		level int
	}{
		{"", [3]string{"", suite, all}, 1},
		{"1", [3]string{"", "", all}, 2},
		{"all", [3]string{"", "", ""}, 3},
	} {
		t.Setenv(Variable, tt.value)
		for l, want := range tt.want {
			s := &skipped{}
			if Require(s, Level(l)); s.why != want {
				t.Errorf("%s=%q: Require(t, %d) skips with %q, want %q", Variable, tt.value, l, s.why, want)
			}
		}
		if testing.Short() {
			tt.level = 0
		}
		if got := Number(0, 1, 2, 3); got != tt.level {
			t.Errorf("%s=%q: Number(0, 1, 2, 3) = %d, want %d", Variable, tt.value, got, tt.level)
		}
	}
}

// How many designs are drawn does not depend on the level, if it is said.
func TestDraws_takesWhatIsSaid(t *testing.T) {
	t.Setenv(Variable, "1")
	for _, tt := range []struct {
		value string
		want  int
	}{{"", Number(0, 1, 2, 3)}, {"48", 48}} {
		t.Setenv(Drawn, tt.value)
		if got := Draws(0, 1, 2, 3); got != tt.want {
			t.Errorf("%s=%q: Draws(0, 1, 2, 3) = %d, want %d", Drawn, tt.value, got, tt.want)
		}
	}
}

// A value that means nothing is not taken for none.
func TestReaches_refusesOtherValues(t *testing.T) {
	t.Setenv(Variable, "yes")
	defer func() {
		want := `prove: ESCAPEMENT_PROVE="yes"; use 1, or all for the long form`
		if got := recover(); got != want {
			t.Errorf("Reaches(Once) panicked with %v, want %q", got, want)
		}
	}()
	Reaches(Once)
}
