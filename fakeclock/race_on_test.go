//go:build race

package fakeclock_test

const raceEnabled = true
