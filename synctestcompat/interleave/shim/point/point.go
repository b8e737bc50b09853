// Package point has what statements of the language become in code that is rewritten for package
// interleave: go, send, receive, close, select, and runtime.Gosched. Outside of an explored body they do what
// they always do.
package point

import (
	"reflect"
	"runtime"

	"github.com/escapement-go/escapement/internal/sched"
)

// Rewritten notes that a package was rewritten.
func Rewritten(path string) struct{} {
	sched.Rewritten(path)
	return struct{}{}
}

// Go is a go statement with a function of no arguments and no results.
func Go(f func()) { sched.Go(f) }

// Start returns a function that starts f with its arguments on a new goroutine: Start(f)(x) is go f(x).
func Start[F any](f F) F {
	fv := reflect.ValueOf(f)
	results := make([]reflect.Value, fv.Type().NumOut())
	for i := range results {
		results[i] = reflect.Zero(fv.Type().Out(i))
	}
	call := fv.Call
	if fv.Type().IsVariadic() {
		call = fv.CallSlice
	}
	return reflect.MakeFunc(fv.Type(), func(args []reflect.Value) []reflect.Value {
		sched.Go(func() { call(args) })
		return results
	}).Interface().(F)
}

// Gosched is runtime.Gosched.
func Gosched() {
	if g := sched.Self(); g != nil {
		g.Yield("Gosched")
		return
	}
	runtime.Gosched()
}

// Close is close(c).
func Close[T any](c chan<- T) {
	if g := sched.Self(); g != nil {
		g.Point("close", id(c))
	}
	close(c)
}

// Len is len(c) of a channel.
func Len[C any](c C) int {
	if g := sched.Self(); g != nil {
		g.Point("len", id(c))
	}
	return reflect.ValueOf(c).Len()
}

// Closing returns what closes c: c is evaluated now.
func Closing[T any](c chan<- T) func() { return func() { Close(c) } }

// Recv is <-c.
func Recv[T any](c <-chan T) T {
	v, _ := Recv2(c)
	return v
}

// Recv2 is <-c with a second result.
func Recv2[T any](c <-chan T) (T, bool) {
	g := sched.Self()
	if g == nil {
		v, ok := <-c
		return v, ok
	}
	g.Point("receive", id(c))
	select {
	case v, ok := <-c:
		return v, ok
	default:
	}
	v, ok := <-c
	g.Point("after receive", id(c))
	return v, ok
}

// Sender sends to a channel.
type Sender[T any] struct{ c chan<- T }

// To returns what sends to c: To(c).Send(v) is c <- v.
func To[T any](c chan<- T) Sender[T] { return Sender[T]{c} }

// Send is c <- v.
func (s Sender[T]) Send(v T) {
	g := sched.Self()
	if g == nil {
		s.c <- v
		return
	}
	g.Point("send", id(s.c))
	select {
	case s.c <- v:
		return
	default:
	}
	s.c <- v
	g.Point("after send", id(s.c))
}

// id returns a value that is the same for all directions of a channel.
func id(c any) any { return reflect.ValueOf(c).Pointer() }
