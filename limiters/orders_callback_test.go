package limiters_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

// recorder is a callback that checks what every callback must keep.
type recorder struct {
	*interleave.T
	seen atomic.Uint64 // what follows, and a bit for each value that ran: one word, so that looking on adds few orders
}

const (
	running = 1 << iota
	stopped // Stop has returned
	ran     // value 0; the others follow
)

func (r *recorder) run(v int) {
	if before := r.seen.Or(running | ran<<v); before&(running|stopped|ran<<v) != 0 {
		r.Errorf("%d runs, with another: %v, after Stop: %v, again: %v", v, before&running != 0, before&stopped != 0,
			before&(ran<<v) != 0)
	}
	r.seen.And(^uint64(running)) // another may go on before
}

// has reports whether v ran.
func (r *recorder) has(v int) bool { return r.seen.Load()&(ran<<v) != 0 }

// besides does each pair of operations when a timer is due, and then what is last.
func besides[L any](t *testing.T, fresh func(r *recorder) L, last func(*recorder, L), ops ...struct {
	name string
	do   func(*recorder, L, int)
}) {
	synctestcompat.Require(t)
	for i, a := range ops {
		for _, b := range ops[i:] {
			t.Run(a.name+"_"+b.name, func(t *testing.T) {
				interleave.Check(t, func(t *interleave.T) {
					r := &recorder{T: t}
					l := fresh(r)
					time.Sleep(time.Second)
					var beside sync.WaitGroup
					beside.Add(1)
					go func() { a.do(r, l, 10); beside.Done() }()
					b.do(r, l, 11)
					beside.Wait()
					for range 2 {
						synctestcompat.Sleep(10 * time.Second)
					}
					last(r, l)
				})
			})
		}
	}
}

func TestOrders_ThrottleFunc(t *testing.T) {
	type L = *limiters.ThrottleFunc[int]
	type op = struct {
		name string
		do   func(*recorder, L, int)
	}
	besides(t, func(r *recorder) L {
		l := limiters.NewThrottleFunc(time.Second, r.run)
		l.Call(1)
		l.Call(2)
		return l
	}, func(r *recorder, _ L) {
		if !r.has(1) {
			r.Error("the first call is missing")
		}
	},
		op{"Call", func(_ *recorder, l L, v int) { l.Call(v) }},
		op{"Cancel", func(_ *recorder, l L, _ int) { l.Cancel() }},
		op{"Flush", func(_ *recorder, l L, _ int) { l.Flush() }},
		op{"Stop", func(r *recorder, l L, _ int) { l.Stop(); r.seen.Or(stopped) }},
		op{"Close", func(r *recorder, l L, _ int) {
			if err := l.Close(context.Background()); err != nil {
				r.Errorf("Close = %v", err)
			}
			r.seen.Or(stopped)
		}},
	)
}

func TestOrders_LeakyBucket(t *testing.T) {
	type L = struct {
		*limiters.LeakyBucket[int]
		ticket limiters.Ticket
	}
	type op = struct {
		name string
		do   func(*recorder, L, int)
	}
	besides(t, func(r *recorder) L {
		l := limiters.NewLeakyBucket(time.Second, 2, r.run)
		l.Put(1)
		ticket, _ := l.Put(2)
		return L{l, ticket}
	}, func(r *recorder, l L) {
		if l.Len() != 0 {
			r.Errorf("%d are left in the queue", l.Len())
		}
	},
		op{"Put", func(_ *recorder, l L, v int) { l.Put(v) }},
		op{"Cancel", func(r *recorder, l L, _ int) {
			if l.LeakyBucket.Cancel(l.ticket) && r.has(2) {
				r.Error("Cancel returned true for what has run")
			}
		}},
		op{"Wait", func(_ *recorder, l L, _ int) { l.Wait(context.Background()) }},
		op{"Stop", func(r *recorder, l L, _ int) { l.Stop(); r.seen.Or(stopped) }},
	)
}
