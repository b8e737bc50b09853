package peers

import (
	"os"
	"strings"
	"testing"

	withLimiters "github.com/escapement-go/escapement/conformance/peers/internal/dropin/escapement"
	withXTime "github.com/escapement-go/escapement/conformance/peers/internal/dropin/xtime"
)

// A program that uses all of golang.org/x/time/rate compiles with limiters after a
// change of the import and of the constructor, and then does the same.
func TestDropIn(t *testing.T) {
	source := func(name string) string {
		b, err := os.ReadFile("internal/dropin/" + name + "/program.go")
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	want := strings.NewReplacer(
		`"golang.org/x/time/rate"`, `rate "github.com/escapement-go/escapement/limiters"`,
		"rate.NewLimiter(", "rate.NewTokenBucket(",
	).Replace(source("xtime"))
	header := func(s string) string { return s[strings.Index(s, "package program"):] }
	if header(source("escapement")) != header(want) {
		t.Error("the two programs differ in more than the import and the constructor: make one from the other")
	}
	if got, want := withLimiters.Run(), withXTime.Run(); got != want {
		t.Errorf("with limiters:\n%s\nwith x/time/rate:\n%s", got, want)
	}
}
