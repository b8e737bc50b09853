package redislimit

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrNoAnswer is the error of a [Limiter] if the server does not answer in time, or has not
// answered so many others that it is not asked; compare with errors.Is.
var ErrNoAnswer = errors.New("no answer from the server in time")

//go:embed gcra.lua
var source string

var script = redis.NewScript(source)

// mostLost is how many requests may be out that nobody waits for any more. With so many the
// server is not asked again until one of them comes back, with an answer or because the
// client gives it up: while a server hangs, this bounds what hangs with it, and nobody else
// waits. A clock would do that too, but not know when the server is back.
const mostLost = 16

// answer is what came of a request.
type answer struct {
	granted bool
	ahead   int64 // of the theoretical arrival time, in microseconds
	err     error
}

// ask runs the script and waits until ctx is done or the time is over. A client by itself does
// not: it looks at a deadline only if told so, and never at a cancellation. It is not told
// of either, so that what is given up stays out for as long as the server does not answer.
func (l *Limiter) ask(ctx context.Context, key string, args []any) answer {
	if l.lost.Load() >= mostLost {
		return answer{err: ErrNoAnswer}
	}
	var ended atomic.Bool // by its answer, or given up
	came := make(chan answer, 1)
	go func() {
		came <- l.run(context.WithoutCancel(ctx), key, args)
		if ended.Swap(true) {
			l.lost.Add(-1)
		}
	}()
	timer := time.NewTimer(l.timeout)
	defer timer.Stop()
	var err error
	select {
	case a := <-came:
		return a
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		err = ErrNoAnswer
	}
	l.lost.Add(1) // first, as it may be taken back at once
	if ended.Swap(true) {
		l.lost.Add(-1)
		return <-came
	}
	return answer{err: err}
}

// run runs the script: by its digest, or if the server does not know that, by its text.
func (l *Limiter) run(ctx context.Context, key string, args []any) answer {
	cmd := l.send(ctx, "evalsha", script.Hash(), key, args)
	if redis.HasErrorPrefix(cmd.Err(), "NOSCRIPT") {
		cmd = l.send(ctx, "eval", source, key, args)
	}
	switch r, err := cmd.Int64Slice(); {
	case err != nil:
		return answer{err: err}
	case len(r) != 2:
		return answer{err: fmt.Errorf("the script returned %v, want 2 numbers", r)}
	default:
		return answer{granted: r[0] == 1, ahead: r[1]}
	}
}

func (l *Limiter) send(ctx context.Context, command, which, key string, args []any) once {
	cmd := once{redis.NewCmd(ctx, append([]any{command, which, 1, key}, args...)...)}
	cmd.SetFirstKeyPos(3)
	if err := l.client.Process(ctx, cmd); err != nil {
		cmd.SetErr(err) // also if it was never sent
	}
	return cmd
}

// once is a command that clients do not send again: the script may have run.
type once struct{ *redis.Cmd }

// NoRetry says so.
func (once) NoRetry() bool { return true }
