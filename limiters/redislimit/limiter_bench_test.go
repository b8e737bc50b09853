package redislimit_test

import (
	"context"
	"testing"
	"time"

	"github.com/escapement-go/escapement/limiters/redislimit"
	"github.com/redis/go-redis/v9"
)

// immediate grants whatever it is sent.
type immediate struct{}

var granted = []any{int64(1), int64(0)}

func (immediate) Process(_ context.Context, cmd redis.Cmder) error {
	cmd.(interface{ SetVal(v any) }).SetVal(granted)
	return nil
}

// Claim: what a Limiter adds to the client and the round trip, its goroutine and timer included,
// is a few microseconds.
func BenchmarkLimiter_Take(b *testing.B) {
	l := redislimit.New(immediate{}, "q", time.Second, 1)
	b.Run("one", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := l.Take(ctx, "a", 1); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				_, _ = l.Take(ctx, "a", 1)
			}
		})
	})
}
