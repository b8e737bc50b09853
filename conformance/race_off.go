//go:build !race

package conformance

const (
	raceDetector = false
	places       = 300 // see meet
)
