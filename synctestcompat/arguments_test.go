package synctestcompat_test

import (
	"strings"
	"testing"

	"github.com/escapement-go/escapement/synctestcompat"
)

// What each exported function does with nil: a panic on the goroutine of the caller that has the way out.
func TestArguments(t *testing.T) {
	for want, call := range map[string]func(){
		"synctestcompat: Require: tb is nil: pass":               func() { synctestcompat.Require(nil) },
		"synctestcompat: Run: t and f must not be nil: pass":     func() { synctestcompat.Run(nil, func(*testing.T) {}) },
		"synctestcompat: Run: t and f must not be nil: pass the": func() { synctestcompat.Run(t, nil) },
		"synctestcompat: Advance(-1ns): time does not go back; use": func() {
			synctestcompat.NewClock().Advance(-1)
		},
	} {
		func() {
			defer func() {
				if got, _ := recover().(string); !strings.HasPrefix(got, want) {
					t.Errorf("panicked with %q, want %q", got, want)
				}
			}()
			call()
		}()
	}
}
