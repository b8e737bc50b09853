// Package sample has a place for each kind of mutant. Its test misses some of them.
package sample

import (
	"sync"
	"time"
)

// Gate lets so many through in a period.
type Gate struct {
	mu     sync.Mutex
	limit  int
	passed int
	opened time.Time
	closed bool
}

// New returns a gate.
func New(limit int) *Gate {
	return &Gate{limit: max(limit, 1)}
}

// Pass reports whether one may pass at t.
func (g *Gate) Pass(t time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed || t.Before(g.opened) {
		return false
	}
	if t.Sub(g.opened) >= time.Second {
		g.opened = t
		g.passed = 0
	}
	if g.passed < g.limit && !g.closed {
		g.passed++
		return true
	}
	return false
}

// Close lets nobody through any more.
func (g *Gate) Close() {
	g.closed = true
}

// First is the first number above bound, -1 if there is none.
func First[T int | int64](all []T, bound T) T {
	for _, n := range all {
		if n == 0 {
			continue
		}
		if n > bound {
			return n + 0
		}
	}
	return -1
}

// Receive waits for either channel.
func Receive(a, b <-chan int) int {
	select {
	case n := <-a:
		return n
	case n := <-b:
		return -n
	}
}

// Never is what no test calls.
func Never() bool { return recover() != nil }

// Grade counts a number above 9 twice.
func Grade(n int) (count int) {
	switch {
	case n > 9:
		count++
		fallthrough
	default:
		count++
	}
	return count
}
