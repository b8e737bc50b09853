package debounce_test

import (
	"testing"
	"time"

	"github.com/escapement-go/escapement/debounce"
	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

// A timer that has expired fires no call that came after what it was armed for, when that was
// cancelled, flushed or replaced meanwhile: none runs sooner than a second after it.
func TestOrders_lateTimer(t *testing.T) {
	synctestcompat.Require(t)
	ends := map[string]func(d *debounce.Debouncer[int], v int){
		"Cancel":     func(d *debounce.Debouncer[int], _ int) { d.Cancel() },
		"Flush":      func(d *debounce.Debouncer[int], _ int) { d.Flush() },
		"CallCancel": func(d *debounce.Debouncer[int], v int) { d.Call(v); d.Cancel() },
		"Call":       func(*debounce.Debouncer[int], int) {},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			interleave.Check(t, func(t *interleave.T) {
				began, ran := time.Now(), make(chan time.Duration, 8)
				d := debounce.New(time.Second, func(v int) { ran <- time.Since(began) - time.Duration(v)*time.Second })
				d.Call(0)
				for v := 1; v < 3; v++ {
					time.Sleep(time.Second)
					end(d, v)
					d.Call(v)
				}
				settle()
				close(ran)
				for after := range ran {
					if after < time.Second {
						t.Errorf("a call ran after %v", after)
					}
				}
				if d.Pending() {
					t.Error("something is pending at the end")
				}
			})
		})
	}
}
