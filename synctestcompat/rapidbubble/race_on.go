//go:build race

package rapidbubble

import "runtime"

// races returns how many data races the process has reported.
func races() int { return runtime.RaceErrors() }
