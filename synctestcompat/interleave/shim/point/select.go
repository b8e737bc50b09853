package point

import (
	"reflect"

	"github.com/escapement-go/escapement/internal/sched"
)

// Case is a case of a select.
type Case interface {
	try() bool
	channel() reflect.SelectCase
	received(v reflect.Value, ok bool)
}

// Receive is a case that receives.
type Receive[T any] struct {
	c  <-chan T
	v  T
	ok bool
}

// From returns the case that receives from c.
func From[T any](c <-chan T) *Receive[T] { return &Receive[T]{c: c} }

// Value is what was received.
func (r *Receive[T]) Value() T { return r.v }

// Value2 is what was received, and whether c was open.
func (r *Receive[T]) Value2() (T, bool) { return r.v, r.ok }

func (r *Receive[T]) try() bool {
	select {
	case r.v, r.ok = <-r.c:
		return true
	default:
		return false
	}
}

func (r *Receive[T]) channel() reflect.SelectCase {
	return reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(r.c)}
}

func (r *Receive[T]) received(v reflect.Value, ok bool) {
	if r.ok = ok; ok {
		reflect.ValueOf(&r.v).Elem().Set(v)
	}
}

// sending is a case that sends.
type sending[T any] struct {
	c chan<- T
	v T
}

// Case returns the case that sends v.
func (s Sender[T]) Case(v T) Case { return &sending[T]{s.c, v} }

func (s *sending[T]) try() bool {
	select {
	case s.c <- s.v:
		return true
	default:
		return false
	}
}

func (s *sending[T]) channel() reflect.SelectCase {
	return reflect.SelectCase{Dir: reflect.SelectSend, Chan: reflect.ValueOf(s.c), Send: reflect.ValueOf(&s.v).Elem()}
}

func (s *sending[T]) received(reflect.Value, bool) {}

// Select waits for one of the cases, and returns which one; with a default it returns -1 if none is
// ready. Which one of several it is, the run chooses.
func Select(hasDefault bool, cases ...Case) int {
	g := sched.Self()
	if g == nil {
		return block(hasDefault, cases)
	}
	channels := make([]any, len(cases))
	for i, c := range cases {
		channels[i] = c.channel().Chan.Pointer()
	}
	g.Points("select", channels)
	first := g.Choose(len(cases))
	for i := first; i < len(cases); i++ {
		if cases[i].try() {
			g.Took(first, i, len(cases))
			return i
		}
	}
	g.Took(first, -1, len(cases))
	if hasDefault {
		return -1
	}
	i := block(false, cases)
	g.Points("after select", channels)
	return i
}

// block is the select of the language.
func block(hasDefault bool, cases []Case) int {
	all := make([]reflect.SelectCase, len(cases), len(cases)+1)
	for i, c := range cases {
		all[i] = c.channel()
	}
	if hasDefault {
		all = append(all, reflect.SelectCase{Dir: reflect.SelectDefault})
	}
	i, v, ok := reflect.Select(all)
	if i == len(cases) {
		return -1
	}
	cases[i].received(v, ok)
	return i
}
