// Package sleep has tests that sleep.
package sleep

import "time"

// Nap is no test.
func Nap() { time.Sleep(time.Minute) }
