package limiters

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// What each exported function and constructor does with arguments that make no sense: a panic on the goroutine of
// the caller that begins with the package and the function and has the value and the way out, or "" for a result.
func TestArguments(t *testing.T) {
	var none context.Context
	ctx, nan := context.Background(), Limit(math.NaN())
	first := func(string) *GCRA { return NewGCRA(1, 1) }
	keyed := NewKeyed(1, first, (*GCRA).Fresh)
	for _, tt := range []struct {
		want string
		call func()
	}{
		{"NewTokenBucket: rate NaN/s must be a number: use 0", func() { NewTokenBucket(nan, 1) }},
		{"", func() { NewTokenBucket(Limit(math.Inf(1)), math.MinInt, nil).Allow() }},
		{"", func() { NewTokenBucket(Limit(math.Inf(-1)), math.MaxInt).Allow() }},
		{"", func() { NewTokenBucket(1, 1).SetLimit(nan) }},
		{"", func() { NewTokenBucket(1, 1).SetBurst(math.MinInt) }},
		{"", func() { _, _ = Every(0).String(), Every(math.MinInt64) }},
		{"NewGCRA: interval 0s must be >= 1ns: use", func() { NewGCRA(0, 1) }},
		{"NewGCRA: interval -2562047h47m16.854775808s must be", func() { NewGCRA(math.MinInt64, 1) }},
		{fmt.Sprintf("NewGCRA: %d intervals of 2562047h", math.MaxInt), func() { NewGCRA(math.MaxInt64, math.MaxInt) }},
		{"", func() { NewGCRA(1, math.MinInt, nil).Allow() }},
		{"NewKeyedGCRA: maxKeys 0 must be >= 1: without", func() { NewKeyedGCRA[int](0, 1, 1) }},
		{"NewKeyedGCRA: interval -1ns must be", func() { NewKeyedGCRA[int](1, -1, 1) }},
		{"", func() { NewKeyedGCRA[int](math.MaxInt, 1, 1, nil).Allow(1) }},
		{"NewFixedWindow: limit -1 must be >= 0: use", func() { NewFixedWindow(-1, 1) }},
		{"NewFixedWindow: window 0s must be > 0: use", func() { NewFixedWindow(1, 0) }},
		{"NewSlidingLog: limit -1 must be >= 0: use", func() { NewSlidingLog(-1, 1) }},
		{"NewSlidingLog: window -1ns must be > 0: use", func() { NewSlidingLog(1, -1) }},
		{"NewSlidingCounter: limit -1 must be >= 0: use", func() { NewSlidingCounter(-1, 1) }},
		{"NewSlidingCounter: window 0s must be > 0: use", func() { NewSlidingCounter(1, 0) }},
		{"", func() { NewSlidingLog(math.MaxInt, math.MaxInt64, nil).Allow() }},
		{"NewThrottle: interval -1ns must be >= 0: use", func() { NewThrottle(-1) }},
		{"PerWindow: k 0 must be >= 1: to", func() { PerWindow(0) }},
		{"", func() { NewThrottle(math.MaxInt64, nil, WithClock(nil), Option(nil)).Allow() }},
		{"NewThrottleFunc: interval -1ns must be >= 0: use", func() { NewThrottleFunc(-1, func(int) {}) }},
		{"NewThrottleFunc: f must not be nil: pass", func() { NewThrottleFunc[int](1, nil) }},
		{"NewThrottleFunc: edges 0: use", func() { NewThrottleFunc(1, func(int) {}, Edges(0)) }},
		{"ThrottleFunc.Call: no function to run: use", func() { new(ThrottleFunc[int]).Call(1) }},
		{"NewLeakyBucket: interval -1ns must be >= 0: use", func() { NewLeakyBucket[int](-1, 1, nil) }},
		{"NewLeakyBucket: size -1 must be >= 0: use", func() { NewLeakyBucket[int](1, -1, nil) }},
		{"LeakyBucket.Put: no function to leave to: give", func() { _, _ = NewLeakyBucket[int](1, 1, nil).Put(1) }},
		{"NewConcurrency: limit 0 must be >= 1: to", func() { NewConcurrency(0) }},
		{"Backlog: n -1 must be >= 0: for", func() { Backlog(-1) }},
		{"Timeout: d -1ns must be >= 0: for", func() { Timeout(-1) }},
		{"", func() { NewConcurrency(math.MaxInt, Backlog(math.MaxInt), Timeout(math.MaxInt64), nil).TryAcquire(1) }},
		{"Concurrency.Do: f must not be nil: pass", func() { _ = NewConcurrency(1).Do(ctx, nil) }},
		{"NewKeyed: maxKeys 0 must be >= 1: without", func() { NewKeyed(0, first, (*GCRA).Fresh) }},
		{"NewKeyed: make and fresh must not be nil: pass", func() { NewKeyed(1, first, nil) }},
		{"Keyed.Do(ann, nil): f must not be nil: pass", func() { _ = keyed.Do("ann", nil) }},
		{"Sometimes.Do: f must not be nil: pass", func() { new(Sometimes).Do(nil) }},
		{"ThrottleStream: ctx is nil: use", func() { ThrottleStream(none, NewThrottle(1), make(chan Item[int])) }},
		{"ThrottleStream: h must not be nil: use", func() { ThrottleStream(ctx, nil, make(chan Item[int])) }},
		{"ThrottleFuncStream: ctx is nil: use", func() { ThrottleFuncStream(none, make(chan Item[int]), 1) }},
		{"ThrottleFuncStream: interval -1ns must be", func() { ThrottleFuncStream(ctx, make(chan Item[int]), -1) }},
		{"ThrottleFuncStream: edges 8: use", func() { ThrottleFuncStream(ctx, make(chan Item[int]), 1, Edges(8)) }},
		{"TokenBucket.Take: ctx is nil: use", func() { _, _ = NewTokenBucket(1, 1).Take(none, "", 1) }},
		{"TokenBucket.WaitN: ctx is nil: use", func() { _ = NewTokenBucket(1, 1).Wait(none) }},
		{"GCRA.Take: ctx is nil: use", func() { _, _ = NewGCRA(1, 1).Take(none, "", 1) }},
		{"KeyedGCRA.Take: ctx is nil: use", func() { _, _ = NewKeyedGCRA[int](1, 1, 1).Take(none, 1, 1) }},
		{"Keyed.Take: ctx is nil: use", func() { _, _ = keyed.Take(none, "", 1) }},
		{"FixedWindow.Take: ctx is nil: use", func() { _, _ = NewFixedWindow(1, 1).Take(none, "", 1) }},
		{"SlidingLog.Take: ctx is nil: use", func() { _, _ = NewSlidingLog(1, 1).Take(none, "", 1) }},
		{"SlidingCounter.Take: ctx is nil: use", func() { _, _ = NewSlidingCounter(1, 1).Take(none, "", 1) }},
		{"ThrottleFunc.Close: ctx is nil: use", func() { _ = NewThrottleFunc(1, func(int) {}).Close(none) }},
		{"Concurrency.Acquire: ctx is nil: use", func() { _ = NewConcurrency(1).Acquire(none, 1) }},
		{"LeakyBucket.Wait: ctx is nil: use", func() { _ = NewLeakyBucket[int](1, 1, nil).Wait(none) }},
		{"LeakyBucket.Close: ctx is nil: use", func() { _ = NewLeakyBucket[int](1, 1, nil).Close(none) }},
	} {
		got := panicText(tt.call)
		if tt.want == "" && got != "" || tt.want != "" && !strings.HasPrefix(got, "limiters: "+tt.want) {
			t.Errorf("panicked with %q, want %q", got, tt.want)
		}
	}
}

// A nil channel is one from which nothing comes.
func TestArguments_nilChannels(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	plain, edges := ThrottleStream[int](ctx, NewThrottle(1), nil), ThrottleFuncStream[int](ctx, nil, time.Second)
	cancel()
	if _, ok := <-plain; ok {
		t.Error("ThrottleStream sent an item of nothing")
	}
	if _, ok := <-edges; ok {
		t.Error("ThrottleFuncStream sent an item of nothing")
	}
}

// panicText returns what call panics with, "" if it does not.
func panicText(call func()) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
		}
	}()
	call()
	return ""
}
