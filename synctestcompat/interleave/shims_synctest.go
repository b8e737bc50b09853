//go:build go1.25 || goexperiment.synctest

package interleave

import _ "github.com/escapement-go/escapement/synctestcompat/interleave/shim/testing/synctest"
