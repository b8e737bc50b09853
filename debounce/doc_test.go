package debounce

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
)

// The table of states in the package comment, row by row, and that only what is unfired
// has a timer. What a call then does tells idle, where it fires on a leading edge, from burst.
func TestPackageComment_states(t *testing.T) {
	type does func(d *Debouncer[int], c *handClock)
	lead, both := []Option{Leading()}, []Option{LeadingAndTrailing()}
	bound, boundBoth := []Option{MaxWait(60 * ms)}, []Option{LeadingAndTrailing(), MaxWait(60 * ms)}
	call := does(func(d *Debouncer[int], _ *handClock) { d.Call(1) })
	another := does(func(d *Debouncer[int], _ *handClock) { d.Call(2) })
	twoCalls := does(func(d *Debouncer[int], _ *handClock) { d.Call(1); d.Call(2) })
	later := does(func(d *Debouncer[int], c *handClock) { c.to(99 * ms); d.Call(3); c.to(99 * ms) })
	pass := func(by time.Duration) does { return func(_ *Debouncer[int], c *handClock) { c.to(by) } }
	flush := does(func(d *Debouncer[int], _ *handClock) { d.Flush() })
	cancel := does(func(d *Debouncer[int], _ *handClock) { d.Cancel() })
	end := does(func(d *Debouncer[int], _ *handClock) { _ = d.Close(context.Background()) })
	for _, tt := range []struct {
		row   string
		opts  []Option
		steps []does // the last one is that of the row
		fires []string
		next  string
	}{
		{"idle call, trailing", nil, []does{call}, nil, "unfired"},
		{"idle call, Leading", lead, []does{call}, []string{"1@0s"}, "burst"},
		{"idle call, both", both, []does{call}, []string{"1@0s"}, "burst"},
		{"idle call, twice", []Option{LeadingAndTrailingTwice()}, []does{call}, []string{"1@0s"}, "unfired"},
		{"burst call, both", both, []does{call, another}, []string{"1@0s"}, "unfired"},
		{"burst call, trailing", bound, []does{call, pass(60 * ms), another}, []string{"1@60ms"}, "unfired"},
		{"burst call, Leading", lead, []does{call, later}, []string{"1@0s"}, "burst"},
		{"burst deadline", both, []does{call, pass(100 * ms)}, []string{"1@0s"}, "idle"},
		{"burst Flush", both, []does{call, flush}, []string{"1@0s"}, "burst"},
		{"burst Cancel", both, []does{call, cancel}, []string{"1@0s"}, "idle"},
		{"unfired call", both, []does{twoCalls, later}, []string{"1@0s"}, "unfired"},
		{"unfired deadline", both, []does{twoCalls, pass(100 * ms)}, []string{"1@0s", "2@100ms"}, "idle"},
		{"unfired MaxWait", boundBoth, []does{twoCalls, pass(60 * ms)}, []string{"1@0s", "2@60ms"}, "burst"},
		{"unfired Flush", both, []does{twoCalls, flush}, []string{"1@0s", "2@0s"}, "idle"},
		{"unfired Cancel", both, []does{twoCalls, cancel}, []string{"1@0s"}, "idle"},
		{"unfired Stop", both, []does{twoCalls, func(d *Debouncer[int], _ *handClock) { d.Stop() }}, []string{"1@0s"}, "stopped"},
		{"unfired Close", both, []does{twoCalls, end}, []string{"1@0s", "2@0s"}, "stopped"},
	} {
		t.Run(tt.row, func(t *testing.T) {
			c := newHandClock()
			r := &recorder{c: c, start: c.now}
			d := New(100*ms, r.f, append(slices.Clone(tt.opts), WithClock(c))...)
			for _, do := range tt.steps {
				do(d, c)
			}
			r.check(t, tt.fires...)
			unfired := tt.next == "unfired"
			if armed := c.next() != nil; d.Pending() != unfired || armed != unfired {
				t.Errorf("pending %v, a timer is armed %v, want both %v", d.Pending(), armed, unfired)
			}
			d.Call(9)
			if got, want := len(r.fires) > len(tt.fires), tt.next == "idle"; got != want {
				t.Errorf("a call then fires at once: %v, want %v in state %s", got, want, tt.next)
			}
		})
	}
}

// What the package comment says that a call costs.
func TestPackageComment_cost(t *testing.T) {
	c := fakeclock.New()
	reads := &readsClock{Clock: c}
	d := New(100, func(int) {}, WithClock(reads))
	if d.Call(1); len(c.Timers()) != 1 {
		t.Errorf("%d timers are armed after the first call, want 1", len(c.Timers()))
	}
	for range 5 {
		c.Advance(50)
		before := reads.n
		if d.Call(2); reads.n != before+1 {
			t.Errorf("a call in a burst reads the clock %d times, want once", reads.n-before)
		}
	}

	// Calls that move the deadline by as little and as much as they can, in turn.
	hand := newHandClock()
	d = New(100*ms, func(int) {}, WithClock(hand))
	d.Call(1)
	const waits = 50
	for range waits {
		hand.to(1 * ms)
		d.Call(2)
		hand.to(98 * ms)
		d.Call(3)
		hand.to(1 * ms)
	}
	if hand.armed <= 1+waits || hand.armed > 1+2*waits {
		t.Errorf("armed %d times in a burst of %d waits, want more than once for each and no more than twice", hand.armed, waits)
	}

	made := New(time.Hour, func(int) {})
	made.Call(1)
	queued := New(0, func(int) {})
	queued.f = func(v int) { // What fires at once while the callback runs waits for it.
		for i := range v {
			queued.Call(-i)
		}
	}
	batch, next := NewBatch(0, func([]int) {}), 0
	held, letGo := NewKeyed(time.Hour, func(int, int) {}), NewKeyed(0, func(int, int) {})
	defer held.Stop()
	for k := range 2 * rests {
		_ = letGo.Call(-k, 1)
	}
	for name, tt := range map[string]struct {
		do   func()
		want bool
	}{
		"the first call":            {func() { d := New(time.Hour, func(int) {}); d.Call(1); d.Stop() }, true},
		"the first call of a burst": {func() { made.Call(1); made.Cancel() }, false},
		"one call waits":            {func() { queued.Call(1) }, false},
		"two calls wait":            {func() { queued.Call(2) }, true},
		"Batch":                     {func() { batch.Call(1) }, true},
		"Keyed, all keys held":      {func() { next++; _ = held.Call(next, 1) }, true},
		"Keyed, others let go":      {func() { next++; _ = letGo.Call(next, 1) }, false},
	} {
		if got := testing.AllocsPerRun(100, tt.do) > 0; got != tt.want {
			t.Errorf("%s allocates: %v, want %v", name, got, tt.want)
		}
	}
}

// readsClock counts how often it is read.
type readsClock struct {
	*fakeclock.Clock
	n int
}

func (c *readsClock) Now() time.Time                  { c.n++; return c.Clock.Now() }
func (c *readsClock) Since(t time.Time) time.Duration { c.n++; return c.Clock.Since(t) }

// The zero values have no function to run, and find nothing to do.
func TestPackageComment_zeroValues(t *testing.T) {
	var d Debouncer[int]
	var b Batch[int]
	var k Keyed[string, int]
	ctx := context.Background()
	for name, err := range map[string]error{"Debouncer": d.Close(ctx), "Batch": b.Close(ctx), "Keyed": k.Close(ctx)} {
		if err != nil {
			t.Errorf("Close of a zero %s = %v, want nil", name, err)
		}
	}
	if b.Cancel() || b.Flush() || b.Pending() || k.Cancel("a") || k.Flush("a") || k.Pending("a") || k.Len() != 0 {
		t.Error("a zero Batch or Keyed has something pending")
	}
	b.Stop()
	k.Stop()
	defer func() {
		if got, want := recover(), "debounce: Call: zero Debouncer: use New"; got != want {
			t.Errorf("Call on a zero Batch panicked with %v, want %q", got, want)
		}
	}()
	b.Call(1)
}

// A panic of the function goes to whoever runs it, and the Debouncer stays usable.
func TestDebouncer_panicGoesToTheRunner(t *testing.T) {
	for name, tt := range map[string]struct {
		wait time.Duration
		opts []Option
		run  func(d *Debouncer[int], c *handClock)
	}{
		"Call, leading": {100 * ms, []Option{Leading()}, func(d *Debouncer[int], _ *handClock) { d.Call(1) }},
		"Call, wait 0":  {0, nil, func(d *Debouncer[int], _ *handClock) { d.Call(1) }},
		"Flush":         {100 * ms, nil, func(d *Debouncer[int], _ *handClock) { d.Call(1); d.Flush() }},
		"Close":         {100 * ms, nil, func(d *Debouncer[int], _ *handClock) { d.Call(1); _ = d.Close(context.Background()) }},
		"timer":         {100 * ms, nil, func(d *Debouncer[int], c *handClock) { d.Call(1); c.to(100 * ms) }},
	} {
		c := newHandClock()
		d := New(tt.wait, func(int) { panic("from f") }, append(tt.opts, WithClock(c))...)
		func() {
			defer func() {
				if got := recover(); got != "from f" {
					t.Errorf("%s: panicked with %v, want %q", name, got, "from f")
				}
			}()
			tt.run(d, c)
		}()
		if c.next() != nil || d.Pending() {
			t.Errorf("%s: after the panic a timer is armed, or something is pending", name)
		}
		ran := 0
		d.f = func(int) { ran++ }
		c.to(time.Hour)
		d.Call(2)
		c.to(time.Hour)
		if want := map[bool]int{true: 0, false: 1}[name == "Close"]; ran != want {
			t.Errorf("%s: after the panic a call ran %d times, want %d", name, ran, want)
		}
	}
}

// A clock that goes back delays a firing by MaxWait at most, if that is less than wait.
func TestMaxWait_clockGoesBack(t *testing.T) {
	c := newHandClock()
	r := &recorder{c: c, start: c.now}
	d := New(100*ms, r.f, WithClock(c), MaxWait(60*ms))
	d.Call(1)
	c.to(50 * ms)
	c.now = c.now.Add(-time.Hour)
	c.next().at = c.now.Add(10 * ms)
	c.to(time.Second)
	r.check(t, "1@-59m59.88s") // 120ms after the call, which is 60ms late
}

// Options are applied in order, and a nil one changes nothing.
func TestOptions_inOrder(t *testing.T) {
	for _, tt := range []struct {
		opts []Option
		want []string
	}{
		{[]Option{Leading(), nil, LeadingAndTrailing(), nil}, []string{"1@0s", "2@100ms"}},
		{[]Option{LeadingAndTrailing(), nil, Leading()}, []string{"1@0s"}},
		{[]Option{MaxWait(60 * ms), MaxWait(80 * ms)}, []string{"2@80ms"}},
		{[]Option{MaxKeys(1), DropOnClose()}, []string{"2@100ms"}}, // they are not for a Debouncer
	} {
		c := newHandClock()
		r := &recorder{c: c, start: c.now}
		d := New(100*ms, r.f, append([]Option{WithClock(nil)}, append(tt.opts, WithClock(c))...)...)
		d.Call(1)
		d.Call(2)
		c.to(time.Hour)
		r.check(t, tt.want...)
	}
}
