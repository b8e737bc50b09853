package clock

import (
	"context"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/jonboulle/clockwork"
)

func TestContexts(t *testing.T) {
	ctx := context.Background()
	clock := fakeclock.New()
	_, cancel := clockwork.WithTimeout(ctx, clock, time.Second) // want `this context runs on real time`
	cancel()
	_, cancel = clockwork.WithTimeout(ctx, new(clockwork.FakeClock), time.Second)
	cancel()
	go func() {
		_, cancel := clockwork.WithTimeout(ctx, clock, time.Second) // want `this context runs on real time`
		cancel()
	}()
	var any clockwork.Clock = clock
	_, cancel = clockwork.WithTimeout(ctx, any, time.Second) // want `this context runs on real time`
	cancel()
}

func TestAdvance(t *testing.T) {
	clock := fakeclock.New()
	for range 10 {
		clock.Advance(time.Second) // want `Advance in a loop: one Advance stops at each deadline`
	}
	for clock.Now().IsZero() { // until something is so
		clock.Advance(time.Second)
	}
	for i := range 10 { // by another duration each time
		clock.Advance(time.Duration(i) * time.Second)
	}
	go func() { // beside what the test does
		for range 10 {
			clock.Advance(time.Second)
		}
	}()
	for i := 0; i < 10; i++ {
		clock.BlockUntil(1)
		clock.Advance(time.Second)
	}
}
