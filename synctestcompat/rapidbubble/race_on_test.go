//go:build race

package rapidbubble

const raceDetector = true
