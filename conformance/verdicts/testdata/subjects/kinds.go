package subjects

import "time"

// SlidingStamps grants so many in any window.
type SlidingStamps struct{ stamps []time.Time }

// NewSlidingStamps makes one.
func NewSlidingStamps(limit int, window time.Duration) *SlidingStamps {
	return &SlidingStamps{stamps: make([]time.Time, 0, limit)}
}

func (s *SlidingStamps) Allow() bool { return len(s.stamps) == 0 }

// SlidingWindow implements the sliding window log algorithm.
type SlidingWindow struct{}

// NewSlidingWindow makes one; NewSlidingWindowCounter, which is not here, would need less memory.
func NewSlidingWindow(limit int, window time.Duration) *SlidingWindow { return nil }

func (*SlidingWindow) Allow() bool { return true }

// SlidingMute does not tell.
type SlidingMute struct{}

// NewSlidingMute makes one.
func NewSlidingMute(limit int, window time.Duration) *SlidingMute { return nil }

func (*SlidingMute) Allow() bool { return true }
