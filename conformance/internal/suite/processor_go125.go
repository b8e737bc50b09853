//go:build go1.25

package suite

import "runtime"

// processors lets the process run on n processors again, which follow the machine's limits
// if n is what these are.
func processors(n int) {
	if runtime.SetDefaultGOMAXPROCS(); runtime.GOMAXPROCS(0) != n {
		runtime.GOMAXPROCS(n)
	}
}
