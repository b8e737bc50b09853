//go:build !race

package suite

const (
	raceDetector = false
	// Places is how many instances meetings use.
	Places = 300
)
