//go:build go1.25

package synctestcompat

import (
	"testing"
	"testing/synctest"
)

const (
	available = true
	reason    = ""
)

func run(t *testing.T, f func(t *testing.T)) {
	synctest.Test(t, f)
}
