//go:build !go1.25

package suite

import "runtime"

// processors lets the process run on n processors again.
func processors(n int) { runtime.GOMAXPROCS(n) }
