package limiter

import (
	"math"
	"sync"
	"time"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
)

// quickBucket is the bucket in floating point with an Allow that looks only at the instant of the
// last token, as long as nothing else is called and the bucket is full each time. It is correct
// unless mutant names one of its mistakes.
type quickBucket struct {
	*bucket
	full time.Duration // in which a token that was taken is there again

	quick sync.Mutex
	alone bool      // only Allow was called since the bucket was full,
	taken time.Time // and took a token of a full bucket last
}

func newQuick(cfg lt.Config, mutant string) *quickBucket {
	every := float64(cfg.Rate.Per) / float64(cfg.Rate.Events)
	l := &quickBucket{bucket: newBucket(cfg, mutant), full: math.MaxInt64}
	switch fits := every < 1<<63; {
	case fits && l.is("Allow alone cuts the interval"):
		l.full = time.Duration(every)
	case fits:
		l.full = time.Duration(math.Ceil(every))
	case l.is("an interval of Allow alone overflows"):
		l.full = math.MinInt64
	}
	return l
}

// allow takes one token.
func (l *quickBucket) allow(now time.Time) bool {
	l.quick.Lock()
	defer l.quick.Unlock()
	if l.alone && now.Sub(l.taken) >= l.full {
		l.taken = now
		return true
	}
	l.settle()
	l.alone, l.taken = l.tokensAt(now) >= float64(l.burst) && l.burst > 0, now
	return l.bucket.allow(now, 1)
}

// settle tells the bucket of what was taken.
func (l *quickBucket) settle() {
	if l.alone && !l.is("what Allow alone has taken is forgotten") {
		l.tokens, l.last = float64(l.burst-1), l.taken
	}
	l.alone = false
}

func quickSpec(mutant string, source lt.TimeSource) lt.Spec {
	return lt.Spec{
		Name: "zoo: bucket with a quick Allow: " + mutant,
		Time: source,
		New: func(env lt.Env, cfg lt.Config) lt.Funcs {
			if cfg.Rate.Events < 1 || cfg.Burst < 1 {
				panic("quickBucket: want a rate and a burst of at least 1")
			}
			l := newQuick(cfg, mutant)
			return lt.Funcs{
				Allow: func() bool { return l.allow(env.Clock.Now()) },
				AllowN: func(n int) bool {
					l.quick.Lock()
					defer l.quick.Unlock()
					l.settle()
					return l.bucket.allow(env.Clock.Now(), n)
				},
			}
		},
		Traits: lt.Traits{Initial: lt.InitialFull, Oversize: lt.OversizeRejected, BackTime: lt.BackClamp,
			ZeroRate: lt.ZeroRateRefused, Inf: lt.InfAbsent},
	}
}

// quickMutants are mistakes that only show where Allow is called several times in a row.
var quickMutants = []mistake{
	{name: "what Allow alone has taken is forgotten", rule: "RL-ENV", family: "polling"},
	{name: "Allow alone cuts the interval", rule: "RL-ENV", family: "polling"},
	{name: "an interval of Allow alone overflows", rule: "RL-TINY", family: "tiny rates"},
}
