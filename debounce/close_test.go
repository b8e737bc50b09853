package debounce

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/escapement-go/escapement/synctestcompat"
)

func TestDebouncer_Close(t *testing.T) {
	d, c, r := newHand(100 * ms)
	d.Call(1)
	c.to(50 * ms)
	if err := d.Close(context.Background()); err != nil {
		t.Errorf("Close() = %v, want nil", err)
	}
	r.check(t, "1@50ms")
	d.Call(2)
	if err := d.Close(context.Background()); err != nil {
		t.Errorf("a second Close() = %v, want nil", err)
	}
	c.to(time.Hour)
	r.check(t, "1@50ms")
	if d.Pending() {
		t.Error("pending after Close")
	}
}

// slow returns a debouncer whose callback takes a second, and the journal of what
// happens to it, from the instant at which the callback for 1 has begun.
func slow() (*Debouncer[int], *journal) {
	j := newJournal()
	d := New(100*ms, func(v int) {
		j.log("f(%d) begins", v)
		time.Sleep(time.Second)
		j.log("f(%d) ends", v)
	})
	d.Call(1)
	synctestcompat.Sleep(100 * ms)
	return d, j
}

func TestDebouncer_CloseWaits(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		d, j := slow()
		d.Call(2)
		j.log("closed: %v", d.Close(context.Background()))
		j.check(t, "100ms: f(1) begins", "1.1s: f(1) ends", "1.1s: f(2) begins", "2.1s: f(2) ends", "2.1s: closed: <nil>")
	})
}

// When ctx is done first, the call still runs.
func TestDebouncer_CloseGivesUp(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		d, j := slow()
		d.Call(2)
		ctx, cancel := context.WithTimeout(context.Background(), 300*ms)
		defer cancel()
		j.log("closed: %v", d.Close(ctx))
		j.log("again: %v", d.Close(ctx))
		j.log("and again: %v", d.Close(context.Background()))
		j.check(t, "100ms: f(1) begins", "400ms: closed: context deadline exceeded", "400ms: again: context deadline exceeded",
			"1.1s: f(1) ends", "1.1s: f(2) begins", "2.1s: f(2) ends", "2.1s: and again: <nil>")
	})
}

func TestDebouncer_CloseStopped(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		d, j := slow()
		d.Call(2)
		closed := make(chan error, 1)
		go func() { closed <- d.Close(context.Background()) }()
		synctestcompat.Sleep(100 * ms)
		d.Stop()
		if err := <-closed; !errors.Is(err, ErrStopped) {
			t.Errorf("Close() = %v after Stop dropped the call, want ErrStopped", err)
		}
		j.check(t, "100ms: f(1) begins", "1.1s: f(1) ends")
	})
}

func TestDebouncer_CloseFromCallback(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		j := newJournal()
		var d *Debouncer[int]
		d = New(100*ms, func(v int) {
			d.Call(v + 1)
			j.log("f(%d), closed: %v", v, d.Close(context.Background()))
		})
		d.Call(1)
		synctestcompat.Sleep(time.Hour)
		j.check(t, "100ms: f(1), closed: <nil>", "100ms: f(2), closed: <nil>")
	})
}

// Cancel drops what a Close waits for, as Stop does.
func TestDebouncer_CloseCancelled(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		d, j := slow()
		d.Call(2)
		closed := make(chan error, 1)
		go func() { closed <- d.Close(context.Background()) }()
		synctestcompat.Sleep(100 * ms)
		if !d.Cancel() {
			t.Error("Cancel() = false, want true: the call has not fired")
		}
		if err := <-closed; !errors.Is(err, ErrStopped) {
			t.Errorf("Close() = %v after Cancel dropped the call, want ErrStopped", err)
		}
		j.check(t, "100ms: f(1) begins", "1.1s: f(1) ends")
	})
}
