package debounce

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"
)

// What each exported function and constructor does with arguments that make no sense: a panic on the goroutine of
// the caller that begins with the package and the function and has the value and the way out, or "" for a result.
func TestArguments(t *testing.T) {
	var none context.Context
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	const longest, shortest = time.Duration(math.MaxInt64), time.Duration(math.MinInt64)
	f, batch, keyed := func(int) {}, func([]int) {}, func(int, int) {}
	for _, tt := range []struct {
		want string
		call func()
	}{
		{"New: f must not be nil: pass", func() { New[int](1, nil) }},
		{"New: wait -1ns must be >= 0: use 0", func() { New(-1, f) }},
		{"", func() { New(longest, f, nil, WithClock(nil)).Call(1) }},
		{"NewBatch: f must not be nil: pass", func() { NewBatch[int](1, nil) }},
		{"NewBatch: wait -2562047h47m16.854775808s must be >= 0: use 0", func() { NewBatch(shortest, batch) }},
		{"", func() { NewBatch(longest, batch, MaxSize(math.MaxInt), MaxDelay(longest)).Call(1) }},
		{"NewKeyed: f must not be nil: pass", func() { NewKeyed[int, int](1, nil) }},
		{"NewKeyed: wait -1ns must be >= 0: use 0", func() { NewKeyed(-1, keyed) }},
		{"", func() { _ = NewKeyed(0, keyed, MaxKeys(math.MaxInt)).Call(1, 1) }},
		{"Stream: ctx is nil: use", func() { Stream(none, make(chan int), 1, nil) }},
		{"Stream: wait -1ns must be >= 0: use 0", func() { Stream(ctx, make(chan int), -1, nil) }},
		{"MaxWait: 0s must be > 0; leave", func() { MaxWait(0) }},
		{"MaxSize: -1 must be > 0; leave", func() { MaxSize(-1) }},
		{"MaxDelay: -1ns must be > 0; leave", func() { MaxDelay(-1) }},
		{"MaxKeys: 0 must be > 0; leave", func() { MaxKeys(0) }},
		{"Call: zero Debouncer: use New", func() { new(Debouncer[int]).Call(1) }},
		{"Call: zero Keyed: use NewKeyed", func() { _ = new(Keyed[int, int]).Call(1, 1) }},
		{"Close: ctx is nil: use", func() { _ = New(1, f).Close(none) }},
		{"Close: ctx is nil: use", func() { _ = NewBatch(1, batch).Close(none) }},
		{"Close: ctx is nil: use", func() { _ = NewKeyed(1, keyed).Close(none) }},
	} {
		got := panicText(tt.call)
		if tt.want == "" && got != "" || tt.want != "" && !strings.HasPrefix(got, "debounce: "+tt.want) {
			t.Errorf("panicked with %q, want %q", got, tt.want)
		}
	}
	out := Stream[int](ctx, nil, 1, nil) // a nil channel is one from which nothing comes
	cancel()
	if _, ok := <-out; ok {
		t.Error("Stream sent a value of nothing")
	}
}

func panicText(call func()) (text string) {
	defer func() { text, _ = recover().(string) }()
	call()
	return ""
}
