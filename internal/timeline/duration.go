package timeline

import (
	"fmt"
	"strings"
	"time"
)

// Duration is d.String() with a plain 0 and without zero tails ("1m", not "1m0s"): how
// schedules and pictures write instants.
func Duration(d time.Duration) string {
	if d == 0 {
		return "0"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Count says how many there are of what: "1 token", "0.5 tokens", "just under 1 token".
func Count[N int | string](n N, what string) string {
	text := fmt.Sprint(n)
	if text != "1" && !strings.HasSuffix(text, " 1") {
		what += "s"
	}
	return text + " " + what
}
