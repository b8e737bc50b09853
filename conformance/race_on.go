//go:build race

package conformance

const (
	raceDetector = true
	places       = 40 // see meet
)
