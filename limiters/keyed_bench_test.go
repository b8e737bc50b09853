package limiters

import (
	"fmt"
	"testing"
	"time"
)

// Claim: a key costs two turns of a lock and a look into a map.
func BenchmarkKeyed_Do(b *testing.B) {
	k := NewKeyed(1000, func(int) *SlidingLog { return NewSlidingLog(100, time.Hour) }, (*SlidingLog).Fresh)
	b.ReportAllocs()
	for b.Loop() {
		_ = k.Do(1, func(l *SlidingLog) { l.Allow() })
	}
}

// Claim: a new key costs the same however many there are, when the room is full of
// idle ones.
func BenchmarkKeyed_newKey(b *testing.B) {
	for _, room := range []int{100, 100_000} {
		b.Run(fmt.Sprint(room), func(b *testing.B) {
			k := NewKeyed(room, func(int) *FixedWindow { return NewFixedWindow(1, time.Hour) }, (*FixedWindow).Fresh)
			for key := range room {
				_ = k.Do(key, func(*FixedWindow) {})
			}
			b.ReportAllocs()
			key := room
			for b.Loop() {
				_ = k.Do(key, func(*FixedWindow) {})
				key++
			}
		})
	}
}
