package redislimit

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/limiters"
	"github.com/redis/go-redis/v9"
)

// A Client sends commands to the server: a *redis.Client, *redis.ClusterClient, *redis.Ring
// or redis.UniversalClient. A pipeline is none, as it sends them later.
type Client interface {
	Process(ctx context.Context, cmd redis.Cmder) error
}

// A Limiter grants events at a rate with bursts, for each key, to all machines that ask
// one server: the generic cell rate algorithm, as a [limiters.GCRA] has it, in one script that
// the server runs as a whole.
//
// It decides exactly as that GCRA does at the instant at which the server runs the script,
// in whole microseconds: burst events at once for a key that has been idle, then one per
// interval. Server and network add this:
//
//   - The instants are the server's, cut to microseconds. If its clock goes back, or it is
//     replaced by one that is behind, keys in use are denied longer by as much. Never is more
//     granted.
//   - A server that forgets, because it restarts without persistence, fails over to a replica
//     that lags, or evicts keys, grants up to a burst again for each key it has forgotten.
//   - A request whose answer is lost may have been counted. No request is sent again, whatever
//     the client's MaxRetries: it takes its tokens once at most, and is granted once at most.
//   - RetryAfter counts from the server's decision. Who waits that long from when the answer
//     came waits long enough.
//
// Each key is one key of the server, the name and, in braces, the key: "users:{ann}". So
// limits of the same key are in one slot of a cluster. It expires when all its tokens
// are there again. Limiters with the same name share their state, also with another interval:
// give each limit a name.
//
// The zero Limiter has no server, and panics when asked: make one with [New]. It has no
// goroutine but those of requests under way. All methods are safe for concurrent use.
type Limiter struct {
	client   Client
	name     string
	interval int64 // in microseconds
	burst    int64
	config

	lost atomic.Int32 // requests that nobody waits for any more
}

// longest is the most that burst intervals may be, in microseconds: 73 years, as of a GCRA.
const longest = 1 << 61 / 1000

// New returns a Limiter of one event per interval, and burst at once, for each key. The
// interval is rounded up to whole microseconds. A negative burst is 0. Nothing is sent.
//
// It panics if client is nil, name is empty or has a brace, interval is not positive, or
// burst intervals are more than 73 years.
func New(client Client, name string, interval time.Duration, burst int, opts ...Option) *Limiter {
	if client == nil {
		panic("redislimit: New: client is nil: use a *redis.Client, for one machine use package limiters")
	}
	if name == "" || strings.ContainsAny(name, "{}") {
		panic(fmt.Sprintf("redislimit: New: name %q must not be empty or have a brace: "+
			"use a word for what is limited", name))
	}
	if interval <= 0 {
		panic(fmt.Sprintf("redislimit: New: interval %v must be > 0", interval))
	}
	l := &Limiter{client: client, name: name, burst: int64(max(burst, 0)), config: config{timeout: DefaultTimeout}}
	l.interval = int64((interval-1)/time.Microsecond) + 1
	if l.burst > 0 && l.interval > longest/l.burst {
		panic(fmt.Sprintf("redislimit: New: %d intervals of %v are more than 73 years: "+
			"use a smaller burst", burst, interval))
	}
	for _, opt := range opts {
		if opt != nil {
			opt(&l.config)
		}
	}
	return l
}

// Take decides on n events of key now; see [limiters.Taker]. A negative n is denied, and so
// is an n of more than the burst. It waits for the server for as long as [Timeout] says.
//
// If ctx is done first, the error is that of ctx: the request may be counted or not. If the
// server does not decide, what comes is said by [FailOpen] or [FailTo], and otherwise an error.
func (l *Limiter) Take(ctx context.Context, key string, n int) (limiters.Decision, error) {
	if l.clock != nil {
		return l.TakeAt(ctx, l.clock.Now(), key, n)
	}
	return l.take(ctx, key, n)
}

// TakeAt decides on n events of key at t as Take does. It reads no clock; the server's says
// only when the key is forgotten. One before the newest that was granted is judged as it
// stands: less is left at it.
func (l *Limiter) TakeAt(ctx context.Context, t time.Time, key string, n int) (limiters.Decision, error) {
	return l.take(ctx, key, n, t.Unix(), t.Nanosecond()/1000)
}

// take decides at an instant, or else now.
func (l *Limiter) take(ctx context.Context, key string, n int, instant ...any) (limiters.Decision, error) {
	if l.client == nil {
		panic("redislimit: Take: the zero Limiter has no server: use New")
	}
	if err := ctx.Err(); err != nil {
		return limiters.Decision{}, err
	}
	args := []any{l.interval, l.burst, n}
	if l.impossible(n) {
		args[2] = 0 // to tell how things stand
	}
	a := l.ask(ctx, l.name+":{"+key+"}", append(args, instant...))
	switch {
	case a.err == nil:
		return l.decision(n, a.granted, a.ahead), nil
	case ctx.Err() != nil:
		return limiters.Decision{}, ctx.Err()
	}
	return l.fail(ctx, key, n, fmt.Errorf("redislimit: Take of %s: %w", l.name, a.err))
}

// impossible reports whether so many events are never granted.
func (l *Limiter) impossible(n int) bool { return n < 0 || int64(n) > l.burst }

// decision tells how things stand if the theoretical arrival time is so far ahead.
func (l *Limiter) decision(n int, granted bool, ahead int64) limiters.Decision {
	tau := l.interval * l.burst
	d := limiters.Decision{
		Allowed: granted, ResetAfter: microseconds(ahead),
		Limit: int(l.burst), Window: microseconds(tau),
	}
	if room := tau - ahead; room > 0 {
		d.Remaining = int(room / l.interval)
	}
	wanted := max(n, 1) // of a look, one
	switch {
	case l.impossible(n):
		d.Allowed, d.RetryAfter = false, limiters.InfDuration
	case l.impossible(wanted):
		d.RetryAfter = limiters.InfDuration
	case !granted || n == 0:
		d.RetryAfter = microseconds(max(0, ahead+l.interval*int64(wanted)-tau))
	}
	return d
}

func microseconds(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
