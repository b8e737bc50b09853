package guide

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/debounce"
	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/synctestcompat"
)

func debounceBefore(t testing.TB, clock clockwork.Clock) {
	var saves atomic.Int32
	d := debounce.New(20*time.Millisecond, func(string) { saves.Add(1) }, debounce.WithClock(clock))
	for _, text := range []string{"a", "ab", "abc"} {
		d.Call(text)
		time.Sleep(10 * time.Millisecond) // still typing
	}
	time.Sleep(20 * time.Millisecond) // quiet
	if n := saves.Load(); n != 1 {
		t.Errorf("saved %d times, want once", n)
	}
}

func TestDebounce_bubble(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		var saves atomic.Int32
		d := debounce.New(time.Second, func(string) { saves.Add(1) })
		for _, text := range []string{"a", "ab", "abc"} {
			d.Call(text)
			synctestcompat.Sleep(time.Second - 1) // as slow as typing can be
		}
		if n := saves.Load(); n != 0 {
			t.Errorf("saved %d times while somebody typed", n)
		}
		synctestcompat.Sleep(1)
		if n := saves.Load(); n != 1 {
			t.Errorf("saved %d times after a second of quiet, want once", n)
		}
	})
}

func TestDebounce_fakeClock(t *testing.T) {
	clock := fakeclock.NewTest(t)
	saved := "" // no lock: Advance orders it
	d := debounce.New(time.Second, func(text string) { saved += text + "." }, debounce.WithClock(clock))
	for _, text := range []string{"a", "ab", "abc"} {
		d.Call(text)
		clock.Advance(time.Second - 1)
	}
	if saved != "" {
		t.Errorf("saved %q while somebody typed", saved)
	}
	clock.Advance(1)
	if saved != "abc." {
		t.Errorf("saved %q after a second of quiet, want the last text, once", saved)
	}
}
