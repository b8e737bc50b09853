//go:build go1.25

package debounce

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jonboulle/clockwork"
)

func settle(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestDebouncer_inBubble(t *testing.T) {
	for _, tt := range []struct {
		name string
		opts func() []Option
	}{
		{"package time", func() []Option { return nil }},
		{"real clock", func() []Option { return []Option{WithClock(clockwork.NewRealClock())} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := New(100*ms, func(f func()) { f() }, tt.opts()...) // made outside
			synctest.Test(t, func(t *testing.T) {
				j := newJournal()
				call := func(v int) { d.Call(func() { j.log("%d", v) }) }
				call(1)
				settle(99 * ms)
				call(2)
				settle(99 * ms)
				call(3)
				settle(99 * ms)
				j.check(t)
				settle(1 * ms)
				j.check(t, "298ms: 3")
				call(4)
				settle(100 * ms)
				j.check(t, "298ms: 3", "398ms: 4")
				d.Stop()
			})
		})
	}
}

// A call at the very instant of the deadline either comes after the firing, or
// postpones it.
func TestDebouncer_tie(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			j := newJournal()
			d := New(100*ms, func(v int) { j.log("%d", v) })
			d.Call(1)
			time.Sleep(100 * ms)
			d.Call(2)
			settle(time.Hour)
			if len(j.lines) == 1 {
				j.check(t, "200ms: 2")
			} else {
				j.check(t, "100ms: 1", "200ms: 2")
			}
		})
	}
}

func TestDebouncer_StopWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		d := New(100*ms, func(v int) {
			j.log("f(%d) begins", v)
			time.Sleep(time.Second)
			j.log("f(%d) ends", v)
		})
		d.Call(0)
		d.Flush() // that this goroutine ran one makes it no runner of the next
		d.Call(1)
		settle(200 * ms)
		d.Call(2)
		d.Stop()
		j.log("stopped")
		d.Call(3)
		if d.Pending() || d.Cancel() || d.Flush() {
			t.Error("something is pending after Stop")
		}
		settle(time.Hour)
		j.check(t, "0s: f(0) begins", "1s: f(0) ends", "1.1s: f(1) begins", "2.1s: f(1) ends", "2.1s: stopped")
	})
}

func TestDebouncer_manyStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		d := New(100*ms, func(int) {
			time.Sleep(time.Second)
			j.log("f ends")
		})
		d.Call(1)
		settle(200 * ms)
		var wg sync.WaitGroup
		for range 3 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				d.Stop()
				j.log("stopped")
			}()
		}
		wg.Wait()
		j.check(t, "1.1s: f ends", "1.1s: stopped", "1.1s: stopped", "1.1s: stopped")
	})
}

// Stop in one Debouncer's callback waits for another one's.
func TestDebouncer_StopFromCallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		slow := New(100*ms, func(int) {
			time.Sleep(time.Second)
			j.log("slow ends")
		})
		var d *Debouncer[int]
		d = New(200*ms, func(int) {
			d.Stop()
			j.log("stopped itself")
			slow.Stop()
			j.log("stopped slow")
		})
		slow.Call(1)
		d.Call(1)
		settle(300 * ms)
		d.Stop() // waits for what is left of the callback
		j.log("end")
		j.check(t, "200ms: stopped itself", "1.1s: slow ends", "1.1s: stopped slow", "1.1s: end")
	})
}

func TestDebouncer_FlushWhileRunning(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(d *Debouncer[int]) // at 300ms
		want []string
	}{
		{"waits", func(*Debouncer[int]) {},
			[]string{"100ms: 1", "1.1s: 2", "2.1s: flush true", "2.1s: flush true"}},
		{"takes only what came before", func(d *Debouncer[int]) { d.Call(3) },
			[]string{"100ms: 1", "1.1s: 2", "2.1s: flush true", "2.1s: flush true", "2.1s: 3"}},
		{"cancelled", func(d *Debouncer[int]) { d.Cancel() },
			[]string{"100ms: 1", "300ms: flush false", "300ms: flush false"}},
		{"stopped", func(d *Debouncer[int]) { d.Stop() },
			[]string{"100ms: 1", "300ms: flush false", "300ms: flush false"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := newJournal()
				d := New(100*ms, func(v int) {
					j.log("%d", v)
					time.Sleep(time.Second)
				})
				d.Call(1)
				settle(200 * ms)
				d.Call(2)
				for range 2 {
					go func() { j.log("flush %v", d.Flush()) }()
				}
				settle(100 * ms)
				go tt.do(d)
				settle(time.Hour)
				slices.Sort(j.lines[max(len(j.lines)-3, 0):]) // the order within an instant is free
				slices.Sort(tt.want[max(len(tt.want)-3, 0):])
				j.check(t, tt.want...)
			})
		})
	}
}

// A callback that ends its goroutine, as t.FailNow does, leaves nothing locked.
func TestDebouncer_Goexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		d := New(100*ms, func(v int) {
			j.log("%d", v)
			if v == 1 {
				runtime.Goexit()
			}
		})
		d.Call(1)
		settle(100 * ms)
		d.Call(2)
		settle(100 * ms)
		d.Stop()
		j.check(t, "100ms: 1", "200ms: 2")
	})
}

// Many goroutines: callbacks do not overlap, values are not repeated, the last
// call of all is not lost, and nothing runs after Stop.
func TestDebouncer_concurrent(t *testing.T) {
	for _, wait := range []time.Duration{0, 10, 50} {
		t.Run(wait.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var running, fired, cancelled atomic.Int64
				var stopped atomic.Bool
				var mu sync.Mutex
				seen := map[int]bool{}
				var d *Debouncer[int]
				d = New(wait, func(v int) {
					if running.Add(1) != 1 {
						t.Error("callbacks overlap")
					}
					defer running.Add(-1)
					if stopped.Load() {
						t.Error("callback after Stop")
					}
					mu.Lock()
					if seen[v] {
						t.Errorf("%d fired twice", v)
					}
					seen[v] = true
					mu.Unlock()
					fired.Add(1)
					if v%3 == 0 {
						time.Sleep(15 * time.Nanosecond)
					}
					if v%5 == 0 {
						d.Pending()
						d.Flush()
					}
				})
				var wg sync.WaitGroup
				for g := range 8 {
					wg.Add(1)
					go func() {
						defer wg.Done()
						for i := range 200 {
							d.Call(g*1000 + i)
							switch (i + g) % 16 {
							case 3:
								if d.Cancel() {
									cancelled.Add(1)
								}
							case 7:
								d.Flush()
							default:
								time.Sleep(time.Duration(1 + i*g%23))
							}
						}
					}()
				}
				wg.Wait()
				settle(time.Second)
				last := fired.Load()
				d.Call(-1)
				settle(time.Second)
				if got := fired.Load(); got != last+1 || d.Pending() {
					t.Errorf("fired %d times for the last call, pending %v, want 1, false", got-last, d.Pending())
				}
				if wait == 0 && cancelled.Load() == 0 && fired.Load() != 1601 {
					t.Errorf("with wait 0, %d of 1601 calls fired", fired.Load())
				}
				d.Call(-2)
				d.Stop()
				stopped.Store(true)
				settle(time.Second)
			})
		})
	}
}
