package peers

import (
	"context"
	"testing"
	"time"

	"github.com/escapement-go/escapement/limiters"
	"golang.org/x/time/rate"
)

// tokenRows are a TokenBucket beside a GCRA, which has the same rate but no lock.
func tokenRows() (rows []costRow) {
	const plenty = 1 << 30
	for _, use := range []struct {
		name       string
		goroutines int
		interval   time.Duration
		burst      int
	}{
		{"full", 2, 1, plenty},
		{"never full", 1, time.Millisecond, plenty},
		{"never full", 8, time.Millisecond, plenty},
		{"denied", 1, time.Hour, 1},
		{"denied", 8, time.Hour, 1},
		{"one of some", 8, time.Microsecond, 10},
	} {
		rows = append(rows, costRow{
			name: "TokenBucket.Allow beside GCRA, " + use.name, goroutines: use.goroutines,
			sides: func(*testing.B) []side {
				own := limiters.NewTokenBucket(limiters.Every(use.interval), use.burst)
				odd := limiters.NewTokenBucket(limiters.Every(use.interval)/1.3, use.burst)
				gcra := limiters.NewGCRA(use.interval, use.burst)
				xtime := rate.NewLimiter(rate.Every(use.interval), use.burst)
				return []side{
					{name: "limiters.TokenBucket", loop: times(func() { own.Allow() })},
					{name: "limiters.GCRA", most: 1.3, loop: times(func() { gcra.Allow() })},
					{name: "TokenBucket, no whole nanoseconds", loop: times(func() { odd.Allow() })},
					{name: "x/time/rate", most: 1, loop: times(func() { xtime.Allow() })},
				}
			},
		})
	}
	return append(rows, mixedRow())
}

// mixedRow is a bucket of which a reservation is made between two events.
func mixedRow() costRow {
	return costRow{name: "TokenBucket, Allow and Reserve in turn", sides: func(*testing.B) []side {
		own, xtime := limiters.NewTokenBucket(1e7, 1<<30), rate.NewLimiter(1e7, 1<<30)
		return []side{
			{name: "limiters.TokenBucket", loop: times(func() { own.Allow(); own.Reserve() })},
			{name: "x/time/rate", most: 1, loop: times(func() { xtime.Allow(); xtime.Reserve() })},
		}
	}}
}

// gcraRows are a GCRA that is given the instant, and one that says how things stand.
func gcraRows() []costRow {
	const plenty = 1 << 30
	ctx := context.Background()
	return []costRow{
		{name: "GCRA.AllowAt, granted", most: 30, sides: func(*testing.B) []side {
			own, answer := limiters.NewGCRA(1, plenty), limiters.NewGCRA(1, plenty)
			bucket := limiters.NewTokenBucket(1e9, plenty)
			return []side{
				{name: "limiters.GCRA", loop: instants(func(at time.Time) { own.AllowAt(at, 1) })},
				{name: "GCRA.AllowN", loop: instants(func(at time.Time) { answer.AllowN(at, 1) })},
				{name: "TokenBucket.AllowN", loop: instants(func(at time.Time) { bucket.AllowN(at, 1) })},
				{name: "floor: the instant", loop: instants(func(time.Time) {})},
			}
		}},
		{name: "GCRA.Take, granted", sides: func(*testing.B) []side {
			own, answer := limiters.NewGCRA(1, plenty), limiters.NewGCRA(1, plenty)
			return []side{
				{name: "limiters.GCRA", loop: times(func() { _, _ = own.Take(ctx, "", 1) })},
				{name: "GCRA.Allow", most: 1.3, loop: times(func() { answer.Allow() })},
				{name: "floor: read the clock", loop: readClock},
			}
		}},
		{name: "GCRA.Take, granted, never full", sides: func(*testing.B) []side {
			own, answer := limiters.NewGCRA(time.Millisecond, plenty), limiters.NewGCRA(time.Millisecond, plenty)
			return []side{
				{name: "limiters.GCRA", loop: times(func() { _, _ = own.Take(ctx, "", 1) })},
				{name: "GCRA.Allow", most: 1.3, loop: times(func() { answer.Allow() })},
			}
		}},
		{name: "GCRA.AllowN(time.Now()), granted", sides: func(*testing.B) []side {
			own, answer := limiters.NewGCRA(1, plenty), limiters.NewGCRA(1, plenty)
			return []side{
				{name: "limiters.GCRA", loop: times(func() { own.AllowN(time.Now(), 1) })},
				{name: "floor: time.Now", most: 1.3, loop: times(func() { time.Now() })},
				{name: "GCRA.Allow", loop: times(func() { answer.Allow() })},
			}
		}},
	}
}

// times returns a loop of calls.
func times(call func()) func(n int) {
	return func(n int) {
		for range n {
			call()
		}
	}
}

// instants returns a loop of calls with instants ten nanoseconds apart.
func instants(call func(at time.Time)) func(n int) {
	at := time.Now()
	return func(n int) {
		for range n {
			at = at.Add(10)
			call(at)
		}
	}
}
