//go:build race

package suite

const (
	raceDetector = true
	// Places is how many instances meetings use.
	Places = 40
)
