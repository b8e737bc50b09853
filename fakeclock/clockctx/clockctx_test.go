package clockctx_test

import (
	"context"
	"errors"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/fakeclock/clockctx"
	"github.com/escapement-go/escapement/synctestcompat"
)

// What the contexts do is tested, at length, in package fakeclock, whose forms are these.

// hands is another's fake clock: clockwork's, in a wrapper that hides its type.
type hands struct{ *clockwork.FakeClock }

// On any clock a context ends at its deadline, and cancel releases its timer. In
// clockwork's own it would run on real time here.
func TestWithTimeout_anyClock(t *testing.T) {
	theirs := clockwork.NewFakeClock()
	ours := fakeclock.NewTest(t)
	for name, tt := range map[string]struct {
		clock   clockwork.Clock
		advance func(time.Duration)
	}{
		"wrapper of clockwork's": {hands{theirs}, theirs.Advance},
		"fakeclock":              {ours, ours.Advance},
		"wrapper of fakeclock":   {struct{ clockwork.Clock }{ours}, ours.Advance},
	} {
		t.Run(name, func(t *testing.T) {
			gone := errors.New("no answer")
			ctx, cancel := clockctx.WithTimeoutCause(context.Background(), tt.clock, time.Minute, gone)
			defer cancel()
			other, cancelOther := clockctx.WithDeadline(context.Background(), tt.clock, tt.clock.Now().Add(time.Minute))
			cancelOther()
			tt.advance(time.Minute - 1)
			if ctx.Err() != nil || other.Err() != context.Canceled {
				t.Errorf("before the deadline: %v, and when cancelled %v", ctx.Err(), other.Err())
			}
			tt.advance(1)
			<-ctx.Done()
			if ctx.Err() != context.DeadlineExceeded || context.Cause(ctx) != gone {
				t.Errorf("at the deadline: %v, because %v", ctx.Err(), context.Cause(ctx))
			}
		})
	}
}

// The real clock of production, in a bubble.
func TestWithTimeout_realClock(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		clock := clockwork.NewRealClock()
		began := clock.Now()
		ctx, cancel := clockctx.WithTimeout(context.Background(), clock, time.Minute)
		defer cancel()
		<-ctx.Done()
		if took := clock.Since(began); took != time.Minute || ctx.Err() != context.DeadlineExceeded {
			t.Errorf("after %v: %v, want a minute and %v", took, ctx.Err(), context.DeadlineExceeded)
		}
	})
}

// A deadline that has passed makes no timer.
func TestWithDeadline_passed(t *testing.T) {
	clock := fakeclock.NewTest(t, fakeclock.WithEvents(func(e fakeclock.Event) { t.Error(e) }))
	for _, timeout := range []time.Duration{0, -1} {
		ctx, cancel := clockctx.WithTimeout(context.Background(), clock, timeout)
		if ctx.Err() != context.DeadlineExceeded || len(clock.Timers()) != 0 {
			t.Errorf("timeout %v: %v, %d timers", timeout, ctx.Err(), len(clock.Timers()))
		}
		cancel()
	}
}

// Production code imports this package, and no fake clock with it.
func TestImports(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		seen++
		parsed, err := parser.ParseFile(token.NewFileSet(), file.Name(), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			if strings.Contains(path, ".") && path != "github.com/jonboulle/clockwork" {
				t.Errorf("%s imports %s", file.Name(), path)
			}
		}
	}
	if seen < 2 {
		t.Errorf("found %d files", seen)
	}
}
