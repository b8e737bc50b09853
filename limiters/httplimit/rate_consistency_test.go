package httplimit

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
	"github.com/jonboulle/clockwork"
)

// takers make the limiters of a rate: 3 at once, and one more every 10 seconds.
var takers = map[string]func(opts ...limiters.Option) limiters.Taker{
	"TokenBucket": func(opts ...limiters.Option) limiters.Taker {
		return limiters.NewTokenBucket(limiters.Every(10*time.Second), 3, opts...)
	},
	"GCRA": func(opts ...limiters.Option) limiters.Taker { return limiters.NewGCRA(10*time.Second, 3, opts...) },
	"KeyedGCRA": func(opts ...limiters.Option) limiters.Taker {
		return limiters.NewKeyedGCRA[string](1, 10*time.Second, 3, opts...)
	},
	"Keyed": func(opts ...limiters.Option) limiters.Taker {
		return limiters.NewKeyed(1, func(string) *limiters.GCRA { return limiters.NewGCRA(10*time.Second, 3, opts...) },
			(*limiters.GCRA).Fresh)
	},
	"FixedWindow": func(opts ...limiters.Option) limiters.Taker {
		return limiters.NewFixedWindow(3, 30*time.Second, opts...)
	},
	"SlidingLog": func(opts ...limiters.Option) limiters.Taker {
		return limiters.NewSlidingLog(3, 30*time.Second, opts...)
	},
	"SlidingCounter": func(opts ...limiters.Option) limiters.Taker {
		return limiters.NewSlidingCounter(3, 30*time.Second, opts...)
	},
}

// movingClock moves on by a second whenever it is read.
type movingClock struct {
	clockwork.Clock
	now time.Time
}

func (c *movingClock) Now() time.Time {
	c.now = c.now.Add(time.Second)
	return c.now
}

func (c *movingClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// An answer is of one decision at one instant: the status and all fields say what Take says at
// the first instant that the clock shows, though each look at the clock shows another.
func TestRate_oneDecision(t *testing.T) {
	for name, make := range takers {
		clock, twin := &movingClock{now: start}, &movingClock{now: start}
		h, l := Rate(make(limiters.WithClock(clock)))(servedAtOnce), make(limiters.WithClock(twin))
		denied := 0
		for i := range 40 {
			d, err := l.Take(context.Background(), "", 1)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			window := int(d.Window / time.Second)
			want := fmt.Sprintf(`OK | "default";q=3;w=%d | "default";r=%d`, window, d.Remaining)
			if !d.Allowed {
				denied++
				want = fmt.Sprintf(`Too Many Requests | "default";q=3;w=%d | "default";r=%d`, window, d.Remaining)
			}
			if d.ResetAfter > 0 {
				want += fmt.Sprintf(";t=%d", roundedUp(d.ResetAfter))
			}
			if !d.Allowed {
				want += fmt.Sprintf(" | %d", roundedUp(d.RetryAfter))
			}
			if got := answer(h, ""); got != want {
				t.Errorf("%s, request %d: %s, want %s", name, i, got, want)
			}
			if !clock.now.Equal(twin.now) {
				t.Fatalf("%s, request %d: the clock was read until %v, want %v", name, i, clock.now, twin.now)
			}
		}
		if denied == 0 || denied == 40 {
			t.Errorf("%s: %d of 40 denied: the requests try nothing", name, denied)
		}
	}
}

var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func roundedUp(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// However many ask at one instant, each that is let in is told another number of what remains,
// and who is not that there is none.
func TestRate_manyAtOnce(t *testing.T) {
	const burst, requests = 20, 60
	clock := limiters.WithClock(fakeclock.New())
	for name, l := range map[string]limiters.Taker{
		"TokenBucket":    limiters.NewTokenBucket(1, burst, clock),
		"GCRA":           limiters.NewGCRA(time.Second, burst, clock),
		"KeyedGCRA":      limiters.NewKeyedGCRA[string](1, time.Second, burst, clock),
		"FixedWindow":    limiters.NewFixedWindow(burst, time.Minute, clock),
		"SlidingLog":     limiters.NewSlidingLog(burst, time.Minute, clock),
		"SlidingCounter": limiters.NewSlidingCounter(burst, time.Minute, clock),
	} {
		h := Rate(l)(servedAtOnce)
		said := make([]string, requests)
		var wg sync.WaitGroup
		for i := range said {
			wg.Add(1)
			go func() {
				defer wg.Done()
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
				var remaining int
				if _, err := fmt.Sscanf(w.Header().Get("RateLimit"), `"default";r=%d`, &remaining); err != nil {
					t.Errorf("%s: RateLimit: %s: %v", name, w.Header().Get("RateLimit"), err)
				}
				said[i] = fmt.Sprint(w.Code, " ", remaining)
			}()
		}
		wg.Wait()
		counts := map[string]int{}
		for _, s := range said {
			counts[s]++
		}
		for r := range burst {
			if got := counts[fmt.Sprint(http.StatusOK, " ", r)]; got != 1 {
				t.Errorf("%s: %d were let in with %d remaining, want 1", name, got, r)
			}
		}
		if got := counts[fmt.Sprint(http.StatusTooManyRequests, " 0")]; got != requests-burst {
			t.Errorf("%s: %d were denied with none remaining, want %d", name, got, requests-burst)
		}
	}
}

// What a handler does with the fields is not seen by the next request.
func TestRate_fieldsAreItsOwn(t *testing.T) {
	const policy, first = `"default";q=3;w=30`, `"default";r=2;t=10`
	h := Rate(takers["GCRA"](limiters.WithClock(fakeclock.New())))(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"RateLimit-Policy", "RateLimit"} {
			w.Header().Add(name, "more")
			w.Header().Values(name)[0] += " changed"
		}
	}))
	for i, state := range []string{first, `"default";r=1;t=20`} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		got := fmt.Sprint(w.Header().Values("RateLimit-Policy"), w.Header().Values("RateLimit"))
		if want := fmt.Sprintf("[%s changed more] [%s changed more]", policy, state); got != want {
			t.Errorf("request %d: %s, want %s", i, got, want)
		}
	}
}

// A request that is let in costs the two texts of its own: the state and the slice of both fields.
func TestRate_allocates(t *testing.T) {
	h := Rate(limiters.NewGCRA(time.Minute, 1<<20))(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)
	if got := testing.AllocsPerRun(100, func() { h.ServeHTTP(w, r) }); got != 2 {
		t.Errorf("%v allocations, want 2", got)
	}
}
