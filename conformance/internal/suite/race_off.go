//go:build !race

package suite

const (
	// RaceDetector says whether the race detector is there.
	RaceDetector = false
	// convincing is the share of runs in which a finding must turn up to count.
	convincing = Chance
	// Places is how many instances meetings use.
	Places = 300
)
