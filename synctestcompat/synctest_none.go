//go:build !go1.25 && !goexperiment.synctest

package synctestcompat

import "testing"

const (
	available = false
	reason    = "Go 1.24 has bubbles only with GOEXPERIMENT=synctest; set it, or use Go 1.25 or later"
)

func run(*testing.T, func(*testing.T)) { panic("synctestcompat: Run: " + reason) }
