package debounce

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/escapement-go/escapement/synctestcompat"
)

type ending struct {
	name string
	end  func(*Debouncer[int])
}

// endings are what the callback may call without waiting for itself.
var endings = []ending{
	{"Stop", (*Debouncer[int]).Stop},
	{"Close", func(d *Debouncer[int]) { _ = d.Close(context.Background()) }},
	{"Flush", func(d *Debouncer[int]) { d.Call(2); d.Flush() }},
}

//go:noinline
func deep(frames int, f func()) {
	if frames > 0 {
		deep(frames-1, f)
		return
	}
	f()
}

type way struct {
	name string
	call func(f func())
}

// ways lead from a callback to what it calls.
var ways = []way{
	{"straight", func(f func()) { f() }},
	{"deep", func(f func()) { deep(5_000, f) }},
	{"deferred", func(f func()) { defer f() }},
	{"deferred in a panic", func(f func()) {
		defer func() { recover() }()
		defer f()
		panic("in vain")
	}},
	{"after a panic", func(f func()) {
		defer func() { recover(); f() }()
		panic("in vain")
	}},
	{"leading edge of another", func(f func()) {
		New(time.Hour, func(int) { f() }, Leading()).Call(1)
	}},
	{"Flush of a key", func(f func()) {
		d := NewKeyed(time.Hour, func(string, int) { f() })
		_ = d.Call("a", 1)
		d.Flush("a")
	}},
}

type firing struct {
	name string
	opts []Option
	fire func(*Debouncer[int])
}

// firings make a Debouncer fire for 1, which is all that there is to fire.
var firings = []firing{
	{"leading", []Option{Leading()}, func(d *Debouncer[int]) { d.Call(1) }},
	{"timer", nil, func(d *Debouncer[int]) { d.Call(1); synctestcompat.Sleep(time.Second) }},
	{"Flush", nil, func(d *Debouncer[int]) { d.Call(1); d.Flush() }},
	{"Close", nil, func(d *Debouncer[int]) { d.Call(1); _ = d.Close(context.Background()) }},
	{"deep", []Option{Leading()}, func(d *Debouncer[int]) { deep(5_000, func() { d.Call(1) }) }},
}

// Stop, Close and Flush do not wait when the callback calls them, wherever it runs and
// however it comes to call them. If they did the bubble would report a deadlock.
func TestDebouncer_endedByCallback(t *testing.T) {
	for _, by := range firings {
		for _, w := range ways {
			for _, e := range endings {
				t.Run(by.name+"/"+w.name+"/"+e.name, func(t *testing.T) {
					synctestcompat.Run(t, func(t *testing.T) { endedByCallback(t, by, w, e) })
				})
			}
		}
	}
}

func endedByCallback(t *testing.T, by firing, w way, e ending) {
	returned := 0
	var d *Debouncer[int]
	d = New(time.Second, func(v int) {
		if v == 1 {
			w.call(func() { e.end(d); returned++ })
		}
	}, by.opts...)
	by.fire(d)
	if returned != 1 {
		t.Errorf("%s returned %d times in the callback, want once", e.name, returned)
	}
	d.Stop()
}

// A goroutine that the callback has started is not the callback.
func TestDebouncer_endedByChildOfCallback(t *testing.T) {
	for _, e := range endings {
		t.Run(e.name, func(t *testing.T) {
			synctestcompat.Run(t, func(t *testing.T) {
				j := newJournal()
				var d *Debouncer[int]
				d = New(100*ms, func(v int) {
					if v == 1 {
						go func() {
							e.end(d)
							j.log("ended")
						}()
						time.Sleep(time.Second)
					}
				})
				d.Call(1)
				synctestcompat.Sleep(time.Hour)
				j.check(t, "1.1s: ended")
				d.Stop()
			})
		})
	}
}

// While a panic of the callback, or what ends its goroutine, goes through its caller,
// the callback's frames are still there, but it is not running. A later one is not
// the one that is over.
func TestDebouncer_endedBeyondPanic(t *testing.T) {
	for name, leave := range map[string]func(){"panic": func() { panic("from f") }, "Goexit": runtime.Goexit} {
		for _, e := range endings {
			t.Run(name+"/"+e.name, func(t *testing.T) {
				synctestcompat.Run(t, func(t *testing.T) { endedBeyond(t, leave, e) })
			})
		}
	}
}

func endedBeyond(t *testing.T, leave func(), e ending) {
	j := newJournal()
	d := New(0, func(v int) {
		if v == 1 {
			leave()
		}
		time.Sleep(time.Second)
		j.log("f ends")
	})
	go func() {
		defer func() { recover() }()
		defer func() {
			go d.Call(3)
			synctestcompat.Wait()
			e.end(d)
			j.log("ended")
		}()
		d.Call(1)
	}()
	time.Sleep(time.Hour)
	synctestcompat.Wait()
	if e.name == "Flush" { // for the call that it makes, too
		j.check(t, "1s: f ends", "2s: f ends", "2s: ended")
	} else {
		j.check(t, "1s: f ends", "1s: ended")
	}
}

// A callback of one key ends the others without waiting for them; a goroutine beside it
// waits for all.
func TestKeyed_endedWhileRunning(t *testing.T) {
	for name, end := range map[string]func(*Keyed[string, int]){
		"Stop":  (*Keyed[string, int]).Stop,
		"Close": func(d *Keyed[string, int]) { _ = d.Close(context.Background()) },
	} {
		for _, way := range ways {
			t.Run(name+"/"+way.name, func(t *testing.T) {
				synctestcompat.Run(t, func(t *testing.T) {
					j := newJournal()
					var d *Keyed[string, int]
					d = NewKeyed(100*ms, func(k string, _ int) {
						if k == "a" {
							way.call(func() { end(d); j.log("ended by a") })
							go func() { end(d); j.log("ended beside a") }()
						}
						time.Sleep(time.Second)
						j.log("%s ends", k)
					})
					_ = d.Call("b", 1)
					time.Sleep(50 * ms)
					_ = d.Call("a", 1)
					synctestcompat.Sleep(time.Hour)
					j.check(t, "150ms: ended by a", "1.1s: b ends", "1.15s: a ends", "1.15s: ended beside a")
				})
			})
		}
	}
}

// Flush of another key waits for that key's callback, also when a callback calls it.
func TestKeyed_flushAcrossKeys(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		j := newJournal()
		var d *Keyed[string, int]
		d = NewKeyed(100*ms, func(k string, v int) {
			j.log("%s%d", k, v)
			if k == "a" {
				_ = d.Call("a", 3)
				j.log("own %v", d.Flush("a"))
				_ = d.Call("b", 4)
				j.log("other %v", d.Flush("b"))
				d.Stop()
				return
			}
			time.Sleep(time.Second)
		})
		_ = d.Call("b", 1)
		time.Sleep(50 * ms)
		_ = d.Call("a", 2)
		synctestcompat.Sleep(time.Hour)
		j.check(t, "100ms: b1", "150ms: a2", "150ms: own true", "1.1s: b4", "2.1s: other true")
	})
}

// A firing on the caller's goroutine allocates nothing.
func TestDebouncer_firingDoesNotAllocate(t *testing.T) {
	var sum int
	for _, tt := range []struct {
		name string
		wait time.Duration
		opts []Option
		fire func(*Debouncer[int])
	}{
		{"leading", 1, []Option{Leading(), WithClock(newHandClock())}, func(d *Debouncer[int]) { d.Call(1); d.Cancel() }},
		{"wait 0", 0, nil, func(d *Debouncer[int]) { d.Call(1) }},
		{"Flush", time.Hour, nil, func(d *Debouncer[int]) { d.Call(1); d.Flush() }},
	} {
		d := New(tt.wait, func(v int) { sum += v }, tt.opts...)
		if got := testing.AllocsPerRun(100, func() { tt.fire(d) }); got != 0 {
			t.Errorf("%s: a firing allocates %v times, want 0", tt.name, got)
		}
		d.Stop()
	}
}
