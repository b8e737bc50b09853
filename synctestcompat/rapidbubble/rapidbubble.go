package rapidbubble

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/escapement-go/escapement/synctestcompat"
)

// Check runs a property as rapid.Check does, each time in a bubble of its own. Where
// bubbles are missing it skips t and says why.
//
// It must not be called inside a bubble or from a Cleanup function. Different tests
// may check at the same time.
func Check(t rapid.TB, prop func(*T), opts ...Option) {
	t.Helper()
	if !synctestcompat.Available {
		t.Skip("rapidbubble: " + synctestcompat.Reason)
	}
	r := newRunner(opts)
	defer r.close()
	rapid.Check(t, r.bubbled(prop))
}

// MakeCheck returns [Check] of a property as the function of a subtest.
func MakeCheck(prop func(*T), opts ...Option) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		Check(t, prop, opts...)
	}
}

// Fuzz makes a property the target of a native fuzz test. The input is what the
// property draws from.
func Fuzz(f *testing.F, prop func(*T), opts ...Option) {
	f.Helper()
	f.Fuzz(MakeFuzz(prop, opts...))
}

// MakeFuzz returns the fuzz target of [Fuzz].
func MakeFuzz(prop func(*T), opts ...Option) func(*testing.T, []byte) {
	r := newRunner(opts)
	return func(t *testing.T, input []byte) {
		t.Helper()
		synctestcompat.Require(t)
		rapid.MakeFuzz(r.bubbled(prop))(t, input)
	}
}

// Option changes how properties run.
type Option func(*runner)

// Horizon sets how much bubble time a property may take, 1000 hours unless it is set. A
// property that is blocked then, other than in time.Sleep, fails: it waits in vain,
// while timers hide the deadlock. It panics if d is not positive.
func Horizon(d time.Duration) Option {
	if d <= 0 {
		panic(fmt.Sprintf("rapidbubble: Horizon(%v): a property needs time to run; use a duration > 0", d))
	}
	return func(r *runner) { r.horizon = d }
}
