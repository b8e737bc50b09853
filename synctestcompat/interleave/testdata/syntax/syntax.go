// Package syntax has Go that is hard to rewrite.
package syntax

import (
	"fmt"
	"runtime"
	stdsync "sync"
	"sync/atomic"
	"time"
)

// A select that ends a function, with labels, a send of a concrete type on a channel of interfaces, and cases that
// assign to what is evaluated late.
func first(errs chan error, stop <-chan struct{}, out chan<- fmt.Stringer) (kind string) {
	var got [2]error
	index := func(i int) int { return i }
loop:
	for {
		select {
		case got[index(1)] = <-errs:
			if got[1] == nil {
				continue loop
			}
			break loop
		case _, ok := <-stop: // closed
			switch {
			case ok:
				break
			default:
				return "stopped"
			}
		case out <- time.Second:
			kind += "sent "
			out = nil
		}
	}
	select {
	case err := <-errs:
		return kind + err.Error()
	case <-time.After(time.Second):
		return kind + "then " + got[1].Error()
	}
}

type failure struct{ text string }

func (f *failure) Error() string { return f.text }

// generic code: a channel of a type parameter, a named channel type, a method value, inferred arguments.
type queue[T any] chan T

func (q queue[T]) put(vs ...T) {
	for _, v := range vs {
		q <- v
	}
}

func drain[C ~chan T, T any](c C, each func(T)) (n int) {
	for v := range c {
		n++
		if each != nil {
			each(v)
		}
	}
	return n
}

func feed[T any](q queue[T], more bool, vs ...T) error {
	if defer1 := more; defer1 {
		defer close(q)
	}
	q.put(vs...)
	return nil
}

// Total adds up what goroutines send that are started in all ways that there are.
func Total() int {
	q := make(queue[int], 1)
	var wg stdsync.WaitGroup
	wg.Add(4)
	go func(a, b int) { defer wg.Done(); q <- a + b }(1, 2)
	go q.put(10, 20)
	go feed(q, false, 100)                // inferred
	go feed[int](q, false, []int{200}...) // instantiated
	done := wg.Done
	for _, f := range []func(){done, done, done} {
		go f()
	}
	go func() { time.Sleep(time.Second); wg.Wait(); close(q) }()
	sum := 0
	n := drain(q, func(v int) { sum += v })
	return 1000*n + sum
}

// closes in loops, and a variable that is declared by range over a channel.
func each(n int) (got []int) {
	c := make(chan int)
	for i := range n {
		go func() { c <- i }()
	}
	var v int
	for v = range c {
		got = append(got, v)
		if len(got) == n {
			break
		}
	}
	for range n {
		runtime.Gosched()
	}
	return got
}

// Shadowed has names that hide others.
func Shadowed() (n int) {
	close := func(c chan int) { n++ }
	time, sync := 1, make(chan int, 1)
	close(sync)
	sync <- time
	if v, ok := (<-sync); ok && <-recv(v) == 1 {
		n += v
	}
	var w, ok2 = <-recv(3)
	if ok2 {
		n += w
	}
	return n
}

func recv(v int) chan int { c := make(chan int, 1); c <- v; return c }

// counter embeds what is replaced, and hands its methods out.
type counter struct {
	stdsync.Mutex
	n atomic.Int64
	m map[string]struct{ sync stdsync.Once }
}

func (c *counter) add() { defer c.locked()(); c.n.Add(1) }

func (c *counter) locked() (unlock func()) { c.Lock(); return c.Unlock }

// oneLine has a select on one line, and an empty one.
func oneLine(c chan int) int {
	select {
	case v := <-c:
		return v
	default:
	}
	return 0
}

func forever() { select {} }

// lines has operands over several lines, which must not move the lines that follow.
func lines(c chan int) string {
	v := 0
	select {
	case v = <-func() chan int {
		return c
	}():
	case <-func(
		n int,
	) chan int {
		return nil
	}(
		1,
	):
	}
	_, _, line, _ := runtime.Caller(0)
	return fmt.Sprint(v, " in line ", line)
}

// len of a channel of a type parameter.
func waiting[C ~chan T, T any](c C) int { return len(c) }
