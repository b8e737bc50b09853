//go:build !race

package suite

const (
	raceDetector = false
	// convincing is the share of runs in which a finding must turn up to count.
	convincing = Chance
	// Places is how many instances meetings use.
	Places = 300
)
