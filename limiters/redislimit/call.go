package redislimit

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrNoAnswer is the error of a [Limiter] if the server does not answer in time, or too
// many requests are still unanswered; compare with errors.Is.
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

// outage is a moment in which the server is not asked, as it could not be connected to.
type outage struct {
	until time.Time
	err   error
}

// ask runs the script, or without args removes the key, and waits until ctx is done or the time
// is over. A client by itself does not: it looks at a deadline only if told so, and never at a
// cancellation. It is not told of either, so that what is given up stays out for as long as the
// server does not answer.
func (l *Limiter) ask(ctx context.Context, key string, args []any) answer {
	if o := l.outage.Load(); o != nil && time.Now().Before(o.until) {
		return answer{err: o.err}
	}
	if l.lost.Load() >= mostLost {
		return answer{err: ErrNoAnswer}
	}
	var ended atomic.Bool // by its answer, or given up
	came := make(chan answer, 1)
	go func() {
		a := l.request(context.WithoutCancel(ctx), key, args)
		l.connected(a.err) // also of a request that was given up
		came <- a
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

// connected notes whether the server could be connected to.
func (l *Limiter) connected(err error) {
	switch {
	case err == nil:
		if l.outage.Load() != nil {
			l.outage.Store(nil)
		}
	case l.pause > 0 && isDial(err):
		again := fmt.Errorf("not asked for %v after: %w", l.pause, err)
		l.outage.Store(&outage{time.Now().Add(l.pause), again})
	}
}

// isDial reports whether there was no connection.
func isDial(err error) bool {
	var failed *net.OpError
	return errors.As(err, &failed) && failed.Op == "dial"
}

func (l *Limiter) request(ctx context.Context, key string, args []any) answer {
	if args == nil {
		return l.remove(ctx, key)
	}
	return l.run(ctx, key, args)
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

// remove deletes a key.
func (l *Limiter) remove(ctx context.Context, key string) answer {
	cmd := redis.NewIntCmd(ctx, "del", key)
	if err := l.client.Process(ctx, cmd); err != nil {
		return answer{err: err}
	}
	return answer{err: cmd.Err()}
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
