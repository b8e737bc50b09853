package redislimit_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/limiters/redislimit"
	"github.com/redis/go-redis/v9"
)

// What each exported function does with arguments that make no sense: a panic on the goroutine of the caller that
// begins with the package and the function and has the value and the way out, or "" for a result.
func TestArguments(t *testing.T) {
	var none context.Context
	rdb := new(redis.Client)
	l := redislimit.New(immediate{}, "q", time.Second, 1)
	for _, c := range []struct {
		want string
		call func()
	}{
		{"New: client is nil: use", func() { redislimit.New(nil, "q", 1, 1) }},
		{"New: client is nil: use", func() { redislimit.New((*redis.ClusterClient)(nil), "q", 1, 1) }},
		{`New: name "" must not be empty or have a brace: use`, func() { redislimit.New(rdb, "", 1, 1) }},
		{`New: name "a{" must not be empty or have a brace: use`, func() { redislimit.New(rdb, "a{", 1, 1) }},
		{"New: interval 0s must be > 0: use", func() { redislimit.New(rdb, "q", 0, 1) }},
		{"New: interval -1ns must be > 0: use", func() { redislimit.New(rdb, "q", -1, 1) }},
		{"New: 2147483647 intervals of 1h0m0s are more than 73 years: use", func() {
			redislimit.New(rdb, "q", time.Hour, math.MaxInt32)
		}},
		{"", func() { redislimit.New(rdb, "q", math.MaxInt64, math.MinInt, nil) }},
		{"Timeout: d 0s must be > 0: for", func() { redislimit.Timeout(0) }},
		{"Pause: d -1ns must be >= 0: use", func() { redislimit.Pause(-1) }},
		{"FailTo: l is nil: for", func() { redislimit.FailTo(nil) }},
		{"FailTo: l is nil: for", func() { redislimit.FailTo((*limiters.GCRA)(nil)) }},
		{"", func() {
			redislimit.New(rdb, "q", 1, 1, redislimit.OnFailure(nil), redislimit.PerKey(nil), redislimit.WithClock(nil))
		}},
		{"Take: the zero Limiter has no server: use", func() { _, _ = new(redislimit.Limiter).Take(ctx, "", 1) }},
		{"Reset: the zero Limiter has no server: use", func() { _ = new(redislimit.Limiter).Reset(ctx, "") }},
		{"Take: ctx is nil: use", func() { _, _ = l.Take(none, "", 1) }},
		{"Take: ctx is nil: use", func() { _, _ = l.TakeAt(none, time.Time{}, "", 1) }},
		{"Take: ctx is nil: use", func() { _, _ = l.TakePlan(none, redislimit.Plan{Interval: 1}, "", 1) }},
		{"Reset: ctx is nil: use", func() { _ = l.Reset(none, "") }},
	} {
		func() {
			defer func() {
				got := ""
				if r := recover(); r != nil {
					got = fmt.Sprint(r)
				}
				if c.want == "" && got != "" || c.want != "" && !strings.HasPrefix(got, "redislimit: "+c.want) {
					t.Errorf("panicked with %q, want %q", got, c.want)
				}
			}()
			c.call()
		}()
	}
}
