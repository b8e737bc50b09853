package limiters_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

// A bucket with the reservation of one token.
type bucket struct {
	*limiters.TokenBucket
	r *limiters.Reservation
}

// openBucket returns a maker of buckets of which Allow takes tokens without the lock: the reservation was made
// some time before.
func openBucket(before time.Duration, burst int) func() bucket {
	return func() bucket {
		l := limiters.NewTokenBucket(1, burst)
		r := l.Reserve()
		time.Sleep(before)
		l.Allow()
		return bucket{l, r}
	}
}

func (l bucket) left() string { return fmt.Sprint(l.Tokens(), l.Burst(), l.Limit()) }

// impatient is a context with which nobody waits.
type impatient struct{ context.Context }

func (impatient) Deadline() (time.Time, bool) { return time.Now(), true }

var bucketOps = []op[bucket]{
	{"Allow", func(l bucket) string { return fmt.Sprint(l.Allow()) }},
	{"AllowN", func(l bucket) string { return fmt.Sprint(l.AllowN(time.Now(), 2)) }},
	{"past", func(l bucket) string { return fmt.Sprint(l.AllowN(since(-time.Hour), 1)) }},
	{"future", func(l bucket) string { return fmt.Sprint(l.AllowN(since(2*time.Hour), 1)) }},
	{"Take", func(l bucket) string { return fmt.Sprint(l.Take(context.Background(), "", 1)) }},
	{"Reserve", func(l bucket) string { return fmt.Sprint(l.ReserveN(time.Now(), 1).Delay()) }},
	{"Cancel", func(l bucket) string { l.r.Cancel(); return "" }},
	{"Wait", func(l bucket) string { return fmt.Sprint(l.Wait(impatient{context.Background()})) }},
	{"SetBurst", func(l bucket) string { l.SetBurst(1); return "" }},
	{"SetLimit", func(l bucket) string { l.SetLimit(2); return "" }},
	{"Inf", func(l bucket) string { l.SetLimit(limiters.Inf); return "" }},
}

// What takes the lock, beside an Allow that does without: in a bucket that was full before the last token was
// taken, and in one that was not.
func TestOrders_TokenBucketOpen(t *testing.T) {
	synctestcompat.Require(t)
	for _, tt := range []struct {
		name  string
		fresh func() bucket
	}{
		{"full", openBucket(time.Hour, 3)}, {"fullOfOne", openBucket(time.Hour, 1)},
		{"notFull", openBucket(1, 4)}, {"last", openBucket(1, 3)}, {"empty", openBucket(1, 2)},
	} {
		for _, o := range bucketOps {
			t.Run(tt.name+"_"+o.name, func(t *testing.T) { orders(t, tt.fresh, bucket.left, bucketOps[0], o) })
		}
	}
}

// An Allow that is interrupted finds that what it has read is not so any more: the lock was taken, much has
// changed, and time has gone by, or none, until another Allow could do without it again.
func TestOrders_TokenBucketOpenAgain(t *testing.T) {
	synctestcompat.Require(t)
	allow := bucketOps[0]
	later := op[bucket]{"later", func(bucket) string { time.Sleep(time.Second); return "" }}
	for _, o := range bucketOps {
		t.Run(o.name, func(t *testing.T) {
			merges(t, openBucket(1, 4), bucket.left, []op[bucket]{allow}, []op[bucket]{o, later, allow})
			merges(t, openBucket(1, 4), bucket.left, []op[bucket]{allow}, []op[bucket]{o, allow})
		})
	}
}

// merges checks that two goroutines that do one operation after another end as in some order of all of these.
func merges[L any](t *testing.T, fresh func() L, after func(L) string, first, second []op[L]) {
	t.Helper()
	legal := make(map[string]bool)
	for mask := range 1 << (len(first) + len(second)) { // whose turn it is
		synctestcompat.Run(t, func(*testing.T) {
			l, turns := fresh(), [2][]op[L]{first, second}
			var answers [2][]string
			for i := range len(first) + len(second) {
				who := mask >> i & 1
				if len(turns[who]) == 0 {
					return
				}
				answers[who] = append(answers[who], turns[who][0].do(l))
				turns[who] = turns[who][1:]
			}
			legal[fmt.Sprint(answers, after(l))] = true
		})
	}
	interleave.Check(t, func(t *interleave.T) {
		l, turns := fresh(), [2][]op[L]{first, second}
		var answers [2][]string
		var running sync.WaitGroup
		running.Add(2)
		for who, ops := range turns {
			go func() {
				for _, o := range ops {
					answers[who] = append(answers[who], o.do(l))
				}
				running.Done()
			}()
		}
		running.Wait()
		if got := fmt.Sprint(answers, after(l)); !legal[got] {
			t.Errorf("got %s, which no order gives; legal: %v", got, legal)
		}
	})
}
