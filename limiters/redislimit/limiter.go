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
// or redis.UniversalClient. A pipeline is not one, as it sends commands later.
type Client interface {
	Process(ctx context.Context, cmd redis.Cmder) error
}

// A Limiter grants events at a rate with bursts, for each key, to all machines that use one
// server: the algorithm of [limiters.GCRA], in one script that the server runs atomically.
//
// It decides exactly as a GCRA at the instant at which the server runs the script, in
// whole microseconds: burst events at once for an idle key, then one per interval. Server
// and network add this:
//
//   - Instants are the server's, truncated to microseconds. If its clock goes back, or it is
//     replaced by one that is behind, keys in use are denied longer by as much. More is never
//     granted.
//   - A server that forgets, because it restarts without persistence, fails over to a replica
//     that lags, or evicts keys, grants up to a burst again for each key it has forgotten. So
//     does one whose clock goes ahead and back: used keys have expired meanwhile.
//   - A request whose answer is lost may have been counted. No request is sent again, whatever
//     the client's MaxRetries: it takes its tokens once at most, and is granted once at most.
//   - RetryAfter counts from the server's decision. To wait that long after the answer is
//     long enough.
//
// Each key is one key of the server, the name and, in braces, the key: "users:{ann}". So limits
// of the same key are in one slot of a cluster. Keys that cannot be in braces, "" and those
// that begin with "}", follow them: "users:{!}." and "users:{!}}x.", all in one slot. A key
// expires when it has its full burst again. Limiters with the same name share their state, also
// with another interval: give each limit a name.
//
// All keys have the limit of New, or each the [Plan] of [PerKey], or that of a request by
// TakePlan.
//
// The zero Limiter has no server, and its methods panic: make one with [New]. It has
// goroutines only during requests. All methods are safe for concurrent use.
type Limiter struct {
	client Client
	name   string
	rate   rate
	config

	lost   atomic.Int32           // requests that nobody waits for any more
	outage atomic.Pointer[outage] // nil: none
}

// rate is a limit: an event per so many microseconds, and so many at once.
type rate struct{ interval, burst int64 }

// New returns a Limiter of one event per interval, and burst at once, for each key. The
// interval is rounded up to whole microseconds. A negative burst is 0. Nothing is sent.
//
// It panics if client is nil, name is empty or has a brace, interval is not positive, or
// burst intervals are more than 73 years.
func New(client Client, name string, interval time.Duration, burst int, opts ...Option) *Limiter {
	if isNil(client) {
		panic("redislimit: New: client is nil: use a *redis.Client, for one machine use package limiters")
	}
	if name == "" || strings.ContainsAny(name, "{}") {
		panic(fmt.Sprintf("redislimit: New: name %q must not be empty or have a brace: "+
			"use a word for what is limited", name))
	}
	r, why := Plan{interval, burst}.rate()
	if why != "" {
		panic("redislimit: New: " + why)
	}
	l := &Limiter{client: client, name: name, rate: r, config: config{timeout: DefaultTimeout, pause: DefaultPause}}
	for _, opt := range opts {
		if opt != nil {
			opt(&l.config)
		}
	}
	return l
}

// Take decides on n events of key now; see [limiters.Taker]. A negative n, or one above the
// burst, is denied. It waits for the server as long as [Timeout] allows.
//
// If ctx is done first, the error is that of ctx, and the request may be counted or not. If the
// server does not decide, [FailOpen] or [FailTo] does; otherwise Take returns an error.
func (l *Limiter) Take(ctx context.Context, key string, n int) (limiters.Decision, error) {
	r, err := l.rateOf(key)
	if err != nil {
		return limiters.Decision{}, err
	}
	return l.take(ctx, r, key, n)
}

// TakePlan decides on n events of key now as Take does, by the limit p. The key keeps the time
// at which its next event is due: time used under one plan is used under another. A p that New
// would not accept is an error, whatever the policy.
func (l *Limiter) TakePlan(ctx context.Context, p Plan, key string, n int) (limiters.Decision, error) {
	r, why := p.rate()
	if why != "" {
		return limiters.Decision{}, fmt.Errorf("redislimit: TakePlan of %s: %s", l.name, why)
	}
	return l.take(ctx, r, key, n)
}

// TakeAt decides on n events of key at t as Take does. It reads no clock; by the server's
// clock keys are forgotten. An instant before the newest grant is taken as it is: fewer
// events are left there.
func (l *Limiter) TakeAt(ctx context.Context, t time.Time, key string, n int) (limiters.Decision, error) {
	r, err := l.rateOf(key)
	if err != nil {
		return limiters.Decision{}, err
	}
	return l.takeAt(ctx, r, t, key, n)
}

// Reset forgets what key has used: it has its full burst again. The key may be unknown. It
// waits for the server as Take does, but returns an error, whatever the policy, if the
// server does not decide: then the key may be forgotten or not. It can be called again.
func (l *Limiter) Reset(ctx context.Context, key string) error {
	l.mustHave(ctx, "Reset")
	if err := ctx.Err(); err != nil {
		return err
	}
	a := l.ask(ctx, l.serverKey(key), nil)
	switch {
	case a.err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fmt.Errorf("redislimit: Reset of %s: %w", l.name, a.err)
}

// mustHave panics if there is no server or no context.
func (l *Limiter) mustHave(ctx context.Context, method string) {
	switch {
	case l.client == nil:
		panic("redislimit: " + method + ": the zero Limiter has no server: use New")
	case ctx == nil:
		panic("redislimit: " + method + ": ctx is nil: use context.Background()")
	}
}

// serverKey is the key of the server. What is between the first braces of it says in which slot
// of a cluster it is, and if that is nothing, all of it does.
func (l *Limiter) serverKey(key string) string {
	if key == "" || key[0] == '}' {
		return l.name + ":{!}" + key + "." // all others end with a brace
	}
	return l.name + ":{" + key + "}"
}

// rateOf returns the limit of key.
func (l *Limiter) rateOf(key string) (rate, error) {
	if l.perKey == nil {
		return l.rate, nil
	}
	p := l.perKey(key)
	if p == (Plan{}) {
		return l.rate, nil
	}
	r, why := p.rate()
	if why != "" {
		return r, fmt.Errorf("redislimit: Take of %s: PerKey: %s", l.name, why)
	}
	return r, nil
}

func (l *Limiter) takeAt(ctx context.Context, r rate, t time.Time, key string, n int) (limiters.Decision, error) {
	return l.decide(ctx, r, key, n, t.Unix(), t.Nanosecond()/1000)
}

func (l *Limiter) take(ctx context.Context, r rate, key string, n int) (limiters.Decision, error) {
	if l.clock != nil {
		return l.takeAt(ctx, r, l.clock.Now(), key, n)
	}
	return l.decide(ctx, r, key, n)
}

// decide decides at an instant, or else now.
func (l *Limiter) decide(ctx context.Context, r rate, key string, n int, instant ...any) (limiters.Decision, error) {
	l.mustHave(ctx, "Take")
	if err := ctx.Err(); err != nil {
		return limiters.Decision{}, err
	}
	args := []any{r.interval, r.burst, n}
	if r.impossible(n) {
		args[2] = 0 // to tell how things stand
	}
	args = append(args, instant...)
	a := l.ask(ctx, l.serverKey(key), args)
	switch {
	case a.err == nil:
		return r.decision(n, a.granted, a.ahead), nil
	case ctx.Err() != nil:
		return limiters.Decision{}, ctx.Err()
	}
	return l.fail(ctx, r, key, n, fmt.Errorf("redislimit: Take of %s: %w", l.name, a.err))
}

// impossible reports whether so many events are never granted.
func (r rate) impossible(n int) bool { return n < 0 || int64(n) > r.burst }

// decision tells how things stand if the theoretical arrival time is so far ahead.
func (r rate) decision(n int, granted bool, ahead int64) limiters.Decision {
	tau := r.interval * r.burst
	d := limiters.Decision{
		Allowed: granted, ResetAfter: microseconds(ahead),
		Limit: int(r.burst), Window: microseconds(tau),
	}
	if room := tau - ahead; room > 0 {
		d.Remaining = int(room / r.interval)
	}
	wanted := max(n, 1) // of a look, one
	switch {
	case r.impossible(n):
		d.Allowed, d.RetryAfter = false, limiters.InfDuration
	case r.impossible(wanted):
		d.RetryAfter = limiters.InfDuration
	case !granted || n == 0:
		d.RetryAfter = microseconds(max(0, ahead+r.interval*int64(wanted)-tau))
	}
	return d
}

func microseconds(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
