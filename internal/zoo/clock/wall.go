package clock

import (
	"context"
	"time"

	ct "github.com/escapement-go/escapement/conformance/clocktest"
)

// wallMistakes are mistakes of clocks whose wall clock can be stepped.
var wallMistakes = []mistake{
	{"a step forward fires what is armed", "CK-WALL", func(f *ct.Funcs) {
		setWall := f.SetWall
		f.SetWall = func(t time.Time) {
			if d := t.Sub(f.Now()); d > 0 {
				f.Advance(d)
			}
			setWall(t)
		}
	}},
	{"a timeout is what has not been shown of it", "CK-WALL", func(f *ct.Funcs) {
		withTimeout := f.WithTimeout
		f.WithTimeout = func(p context.Context, d time.Duration) (context.Context, context.CancelFunc) {
			return withTimeout(p, -f.Since(f.Now().Add(d)))
		}
	}},
	{"a child is compared with its parent by wall time", "CK-WALL", func(f *ct.Funcs) {
		withTimeout := f.WithTimeout
		f.WithTimeout = func(p context.Context, d time.Duration) (context.Context, context.CancelFunc) {
			if end, ends := p.Deadline(); ends && end.Before(f.Now().Add(d)) {
				return context.WithCancel(p)
			}
			return withTimeout(p, d)
		}
	}},
	{"who sleeps looks at the wall when he wakes", "CK-WALL", func(f *ct.Funcs) {
		sleep := f.Sleep
		f.Sleep = func(d time.Duration) {
			for end := f.Now().Add(d); d > 0; d = end.Sub(f.Now()) {
				sleep(d)
			}
		}
	}},
	{"Until is the opposite of Since", "CK-WALL", func(f *ct.Funcs) {
		f.Until = func(t time.Time) time.Duration { return -max(f.Since(t), 1-1<<63) }
	}},
}
