package guide

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/fakeclock/clockctx"
	"github.com/escapement-go/escapement/synctestcompat"
)

// report takes its time, and gives up when the request does.
func report(clock clockwork.Clock, work time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-clock.After(work):
		case <-r.Context().Done():
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
}

// within gives requests a deadline, on a clock. (http.TimeoutHandler has one on package time.)
func within(clock clockwork.Clock, limit time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := clockctx.WithTimeout(r.Context(), clock, limit)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// status asks a handler, without a network.
func status(h http.Handler) int {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/report", nil))
	return w.Code
}

func handlerBefore(t testing.TB, clock clockwork.Clock) {
	limited := func(work time.Duration) http.Handler {
		return http.TimeoutHandler(report(clock, work), 20*time.Millisecond, "")
	}
	if got := status(limited(10 * time.Millisecond)); got != 200 {
		t.Errorf("status %d within the limit, want 200", got)
	}
	if got := status(limited(30 * time.Millisecond)); got != 503 {
		t.Errorf("status %d beyond the limit, want 503", got)
	}
}

func TestHandler_bubble(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		const limit = 10 * time.Second
		limited := func(work time.Duration) http.Handler {
			return http.TimeoutHandler(report(clockwork.NewRealClock(), work), limit, "")
		}
		if got := status(limited(limit - 1)); got != 200 {
			t.Errorf("status %d a nanosecond within the limit, want 200", got)
		}
		began := time.Now()
		if got := status(limited(time.Hour)); got != 503 {
			t.Errorf("status %d beyond the limit, want 503", got)
		}
		if took := time.Since(began); took != limit {
			t.Errorf("it took %v, want %v", took, limit)
		}
	})
}

func TestHandler_fakeClock(t *testing.T) {
	const limit = 10 * time.Second
	for _, test := range []struct {
		work time.Duration
		want int
	}{
		{limit - 1, 200},
		{limit + 1, 503},
	} {
		clock := fakeclock.NewTest(t)
		answered := make(chan int)
		go func() { answered <- status(within(clock, limit, report(clock, test.work))) }()
		clock.BlockUntil(2) // the work, and the deadline
		clock.AdvanceNext()
		if got := <-answered; got != test.want {
			t.Errorf("status %d for %v of work, want %d", got, test.work, test.want)
		}
	}
}
