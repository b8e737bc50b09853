//go:build race

package suite

const (
	// RaceDetector says whether the race detector is there.
	RaceDetector = true
	// convincing is the share of runs in which a finding must turn up to count: the runtime draws
	// who is next, and honest code is overtaken in one run in seven or so.
	convincing = 0.35
	// Places is how many instances meetings use.
	Places = 40
)
