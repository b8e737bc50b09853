package certain_test

import (
	"context"
	"testing"
	"time"

	"example.com/go125/certain"
)

func TestFromOutside(t *testing.T) {
	m := certain.NewMeter(context.Background())
	defer m.Stop()
	time.Sleep(25 * time.Millisecond) // want `the test sleeps 25ms`
}

func TestFromOutsideLeavesBehind(t *testing.T) { // no fix: nobody stops it
	certain.NewMeter(context.Background())
	time.Sleep(25 * time.Millisecond) // want `the test sleeps 25ms`
}

func TestOutlives(t *testing.T) { // no fix: a goroutine may still wait at the end
	var a certain.Answerer = new(certain.Breaker)
	go a.Answer()
	time.Sleep(25 * time.Millisecond) // want `the test sleeps 25ms`
}
