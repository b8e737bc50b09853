//go:build !race

package suite

const (
	raceDetector = false
	chance       = 0.15 // see Chance
	// Places is how many instances meetings use.
	Places = 300
)
