//go:build race

package suite

const (
	raceDetector = true
	chance       = 0.35 // see Chance
	// Places is how many instances meetings use.
	Places = 40
)
