package quota

import (
	"math"
	"time"

	qt "github.com/escapement-go/escapement/conformance/quotatest"
)

// inWholeSeconds are limiters that know the time to the second, as those do that keep Unix times, and take no window
// that is shorter.
func inWholeSeconds() []qt.Spec {
	return []qt.Spec{untilExpiry(), logOfSeconds(), counterOfSeconds()}
}

// toTheSecond is a serial limiter whose instants and window are whole seconds.
func toTheSecond(name string, kind qt.Kind, tr qt.Traits,
	make func(limit int, window int64) func(now int64, n int) bool) qt.Spec {
	tr.Grain = time.Second
	return serial(name+" in whole seconds", kind, tr, func(cfg qt.Config) takeAt {
		if cfg.Window%time.Second != 0 {
			panic("the window must be whole seconds")
		}
		take := make(cfg.Limit, int64(cfg.Window/time.Second))
		return func(t time.Time, n int) qt.Answer { return qt.Answer{OK: take(t.Unix(), n)} }
	})
}

// untilExpiry is a fixed window that begins with the first request after the last one has expired.
func untilExpiry() qt.Spec {
	return toTheSecond("a count that expires", qt.FixedWindow,
		qt.Traits{Edge: qt.EdgeHalfOpen, Align: qt.AlignFirstUse, Denied: qt.DeniedFree},
		func(limit int, window int64) func(now int64, n int) bool {
			hits, until := 0, int64(math.MinInt64)
			return func(now int64, n int) bool {
				if now >= until {
					hits, until = 0, now+window
				}
				if hits+n > limit {
					return false
				}
				hits += n
				return true
			}
		})
}

// logOfSeconds is a sliding log.
func logOfSeconds() qt.Spec {
	return toTheSecond("a log", qt.SlidingLog, qt.Traits{Edge: qt.EdgeHalfOpen, Denied: qt.DeniedFree},
		func(limit int, window int64) func(now int64, n int) bool {
			var log []int64
			return func(now int64, n int) bool {
				for len(log) > 0 && now-log[0] >= window {
					log = log[1:]
				}
				if len(log)+n > limit {
					return false
				}
				for range n {
					log = append(log, now)
				}
				return true
			}
		})
}

// counterOfSeconds is a sliding counter whose windows are whole multiples since 1970.
func counterOfSeconds() qt.Spec {
	return toTheSecond("a counter", qt.SlidingCounter, qt.Traits{Align: qt.AlignUnix, Denied: qt.DeniedFree},
		func(limit int, window int64) func(now int64, n int) bool {
			var number, before, hits int64
			return func(now int64, n int) bool {
				since := (now%window + window) % window
				switch current := (now - since) / window; {
				case current == number+1:
					number, before, hits = current, hits, 0
				case current != number:
					number, before, hits = current, 0, 0
				}
				if before*(window-since)+(hits+int64(n))*window > int64(limit)*window {
					return false
				}
				hits += int64(n)
				return true
			}
		})
}
