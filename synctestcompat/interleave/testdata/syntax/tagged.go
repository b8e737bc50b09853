//go:build !never

package syntax

import . "sync"

var mu Mutex

// Dotted uses a dot import.
func Dotted() int {
	var once Once
	n := 0
	for range 2 {
		once.Do(func() { mu.Lock(); defer mu.Unlock(); n++ })
	}
	return n
}
