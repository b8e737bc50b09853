package limiters_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

// Every order of two operations, or three, where these tests run by
//
//	go run ./synctestcompat/interleave/weave -run ^TestOrders ./limiters ./debounce
//
// and one order elsewhere.

// op is an operation on a limiter, with its answer as text.
type op[L any] struct {
	name string
	do   func(L) string
}

// orders checks that operations side by side end as they do in some order one after the other: with the same
// answers, and the same left after them.
func orders[L any](t *testing.T, fresh func() L, after func(L) string, ops ...op[L]) {
	t.Helper()
	legal := make(map[string]bool)
	for _, order := range permutations(len(ops)) {
		synctestcompat.Run(t, func(*testing.T) {
			l, answers := fresh(), make([]string, len(ops))
			for _, i := range order {
				answers[i] = ops[i].do(l)
			}
			legal[fmt.Sprint(answers, after(l))] = true
		})
	}
	interleave.Check(t, func(t *interleave.T) {
		l, answers := fresh(), make([]string, len(ops))
		var running sync.WaitGroup // not a channel: the order in which these end would count
		running.Add(len(ops))
		for i, o := range ops {
			go func() { answers[i] = o.do(l); running.Done() }()
		}
		running.Wait()
		if got := fmt.Sprint(answers, after(l)); !legal[got] {
			t.Errorf("got %s, which no order gives; legal: %v", got, legal)
		}
	})
}

// permutations returns all orders of n.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, p := range permutations(n - 1) {
		for i := range n {
			all = append(all, slices.Insert(slices.Clone(p), i, n-1))
		}
	}
	return all
}

// pairs checks each pair of operations, and three of the first.
func pairs[L any](t *testing.T, fresh func() L, after func(L) string, ops ...op[L]) {
	synctestcompat.Require(t)
	for i, a := range ops {
		for _, b := range ops[i:] {
			t.Run(a.name+"_"+b.name, func(t *testing.T) { orders(t, fresh, after, a, b) })
		}
	}
	t.Run("three_"+ops[0].name, func(t *testing.T) { orders(t, fresh, after, ops[0], ops[0], ops[0]) })
}

// since returns an instant of the bubble, d after it began.
func since(d time.Duration) time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(d) }

func TestOrders_TokenBucket(t *testing.T) {
	type L = struct {
		*limiters.TokenBucket
		r *limiters.Reservation
	}
	pairs(t, func() L { l := limiters.NewTokenBucket(1, 3); return L{l, l.Reserve()} },
		func(l L) string { return fmt.Sprint(l.Tokens(), l.Burst(), l.Limit()) },
		op[L]{"Allow", func(l L) string { return fmt.Sprint(l.Allow()) }},
		op[L]{"AllowN", func(l L) string { return fmt.Sprint(l.AllowN(time.Now(), 2)) }},
		op[L]{"AllowAt", func(l L) string { return fmt.Sprint(l.AllowAt(since(time.Second), 2)) }},
		op[L]{"Reserve", func(l L) string { return fmt.Sprint(l.ReserveN(time.Now(), 3).Delay()) }},
		op[L]{"Cancel", func(l L) string { l.r.Cancel(); return "" }},
		op[L]{"SetBurst", func(l L) string { l.SetBurst(1); return "" }},
		op[L]{"SetLimit", func(l L) string { l.SetLimit(2); return "" }},
		op[L]{"Tokens", func(l L) string { return fmt.Sprint(l.Tokens()) }},
	)
}

func TestOrders_GCRA(t *testing.T) {
	type L = *limiters.GCRA
	pairs(t, func() L { return limiters.NewGCRA(time.Second, 2) },
		func(l L) string { return fmt.Sprint(l.Take(context.Background(), "", 0)) },
		op[L]{"Allow", func(l L) string { return fmt.Sprint(l.Allow()) }},
		op[L]{"AllowN", func(l L) string { return fmt.Sprint(l.AllowN(time.Now(), 2)) }},
		op[L]{"Take", func(l L) string { return fmt.Sprint(l.Take(context.Background(), "", 2)) }},
		op[L]{"later", func(l L) string { return fmt.Sprint(l.AllowAt(since(time.Second), 2).Allowed) }},
		op[L]{"muchLater", func(l L) string { return fmt.Sprint(l.AllowAt(since(40*365*24*time.Hour), 2).Allowed) }},
		op[L]{"Fresh", func(l L) string { return fmt.Sprint(l.Fresh()) }},
	)
}

// What is denied at 1s is denied because of the grant at 2s, which then denies 3s too.
func TestOrders_GCRAfresh(t *testing.T) {
	type L = *limiters.GCRA
	at := func(l L, s int) bool { return l.AllowAt(since(time.Duration(s)*time.Second), 1).Allowed }
	interleave.Check(t, func(t *interleave.T) {
		l, second := limiters.NewGCRA(10*time.Second, 1), make(chan bool)
		go func() { second <- at(l, 2) }()
		first, third := at(l, 1), at(l, 3)
		n := 0
		for _, granted := range []bool{first, <-second, third} {
			if granted {
				n++
			}
		}
		if n != 1 || !first && third {
			t.Errorf("at 1s %v, then at 3s %v, and %d granted in all with 2s beside; want one, and not the last",
				first, third, n)
		}
	})
}

// quota is what the windows have in common.
type quota interface {
	Allow() bool
	AllowN(t time.Time, n int) bool
	AllowAt(t time.Time, n int) limiters.Decision
	Remaining() int
	Fresh() bool
}

func TestOrders_windows(t *testing.T) {
	for name, fresh := range map[string]func() quota{
		"FixedWindow":    func() quota { return limiters.NewFixedWindow(2, time.Second) },
		"SlidingLog":     func() quota { return limiters.NewSlidingLog(2, time.Second) },
		"SlidingCounter": func() quota { return limiters.NewSlidingCounter(2, time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			pairs(t, fresh, func(q quota) string { return fmt.Sprint(q.Remaining()) },
				op[quota]{"Allow", func(q quota) string { return fmt.Sprint(q.Allow()) }},
				op[quota]{"AllowN", func(q quota) string { return fmt.Sprint(q.AllowN(time.Now(), 2)) }},
				op[quota]{"later", func(q quota) string { return fmt.Sprint(q.AllowAt(since(time.Second), 2).Allowed) }},
				op[quota]{"Remaining", func(q quota) string { return fmt.Sprint(q.Remaining()) }},
				op[quota]{"Fresh", func(q quota) string { return fmt.Sprint(q.Fresh()) }},
			)
		})
	}
}

func TestOrders_Throttle(t *testing.T) {
	type L = *limiters.Throttle
	pairs(t, func() L { return limiters.NewThrottle(time.Second, limiters.PerWindow(2)) },
		func(l L) string { return fmt.Sprint(l.Allow(), l.Allow()) },
		op[L]{"Allow", func(l L) string { return fmt.Sprint(l.Allow()) }},
		op[L]{"later", func(l L) string { return fmt.Sprint(l.AllowAt(since(time.Second))) }},
		op[L]{"Reset", func(l L) string { l.Reset(); return "" }},
	)
}

func TestOrders_Sometimes(t *testing.T) {
	type L = *limiters.Sometimes
	pairs(t, func() L { return &limiters.Sometimes{First: 1, Every: 2} },
		func(l L) string { ran := false; l.Do(func() { ran = true }); return fmt.Sprint(ran) },
		op[L]{"Do", func(l L) string { ran := false; l.Do(func() { ran = true }); return fmt.Sprint(ran) }},
	)
}

// With room for one key, the other is refused while it is in use, or takes its place.
func TestOrders_Keyed(t *testing.T) {
	type L = *limiters.Keyed[string, *limiters.TokenBucket]
	take := func(l L, key string) string {
		d, err := l.Take(context.Background(), key, 1)
		return fmt.Sprint(d.Allowed, err)
	}
	for _, room := range []int{1, 2} {
		t.Run(fmt.Sprint(room), func(t *testing.T) {
			pairs(t, func() L {
				return limiters.NewKeyed(room, func(string) *limiters.TokenBucket { return limiters.NewTokenBucket(1, 1) },
					(*limiters.TokenBucket).Fresh)
			}, func(l L) string { return fmt.Sprint(l.Len(), take(l, "a")) },
				op[L]{"a", func(l L) string { return take(l, "a") }},
				op[L]{"b", func(l L) string { return take(l, "b") }},
				op[L]{"Len", func(l L) string { l.Len(); return "" }},
			)
		})
	}
}

func TestOrders_KeyedGCRA(t *testing.T) {
	type L = *limiters.KeyedGCRA[string]
	at := func(l L, key string, d time.Duration) string {
		r, err := l.AllowAt(key, since(d), 1)
		return fmt.Sprint(r.Allowed, err)
	}
	for _, room := range []int{1, 2} {
		t.Run(fmt.Sprint(room), func(t *testing.T) {
			pairs(t, func() L { return limiters.NewKeyedGCRA[string](room, time.Second, 1) },
				func(l L) string { return at(l, "a", time.Second/2) },
				op[L]{"a", func(l L) string { return at(l, "a", 0) }},
				op[L]{"b", func(l L) string { return at(l, "b", 0) }},
				op[L]{"aLater", func(l L) string { return at(l, "a", time.Second) }},
				op[L]{"bLater", func(l L) string { return at(l, "b", time.Second) }},
			)
		})
	}
}
