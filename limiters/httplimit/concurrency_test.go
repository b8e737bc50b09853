package httplimit

import (
	"context"
	"errors"
	"expvar"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/synctestcompat"
)

const (
	busy    = "Service Unavailable: service busy (1)"
	late    = "Service Unavailable: request timeout (1)"
	served  = "OK: served"
	timeout = 50 * time.Millisecond
)

// slow is a handler that takes d of package time, and knows how many run at once.
type slow struct {
	d             time.Duration
	running, most atomic.Int64
}

func (h *slow) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if n := h.running.Add(1); n > h.most.Load() {
		h.most.Store(n)
	}
	defer h.running.Add(-1)
	time.Sleep(h.d)
	io.WriteString(w, "served")
}

// The five cases of the specification.

// With a limit of 2, never more than 2 requests run, and all are served.
func TestNew(t *testing.T) {
	h := &slow{d: time.Second}
	visit(t, New(2)(h), func(s *site) {
		for range 6 {
			s.get("/")
		}
		for range 3 {
			s.expect()
			synctestcompat.Sleep(time.Second)
			s.expect("/ "+served, "/ "+served)
		}
		if n := h.most.Load(); n != 2 {
			t.Errorf("%d requests ran at once, want 2", n)
		}
	})
}

// With limit 1 and backlog 1, of three requests one is rejected, and two are served.
func TestConcurrency_backlog(t *testing.T) {
	limit := Concurrency(limiters.NewConcurrency(1, limiters.Backlog(1)))
	visit(t, limit(&slow{d: time.Second}), func(s *site) {
		s.get("/a")
		s.get("/b")
		s.get("/c")
		s.expect("/c " + busy)
		synctestcompat.Sleep(time.Second)
		s.get("/d") // b runs, and holds no place
		s.expect("/a " + served)
		synctestcompat.Sleep(time.Second)
		s.expect("/b " + served)
		synctestcompat.Sleep(time.Second)
		s.expect("/d " + served)
	})
}

// With a timeout of 50 ms and a handler that takes 200 ms, a second request is
// rejected after exactly 50 ms.
func TestConcurrency_timeout(t *testing.T) {
	limit := Concurrency(limiters.NewConcurrency(1, limiters.Timeout(timeout)))
	visit(t, limit(&slow{d: 200 * time.Millisecond}), func(s *site) {
		s.get("/a")
		s.get("/b")
		synctestcompat.Sleep(timeout - 1)
		s.expect()
		synctestcompat.Sleep(1)
		s.expect("/b " + late)
		synctestcompat.Sleep(150 * time.Millisecond)
		s.expect("/a " + served)
	})
}

// With a backlog of 0 the hook is called when a request is rejected, once.
func TestConcurrency_onThrottle(t *testing.T) {
	var mu sync.Mutex
	var told []string
	c := limiters.NewConcurrency(1, limiters.Backlog(0))
	limit := Concurrency(c, OnThrottle(func(r *http.Request, err error) {
		mu.Lock()
		defer mu.Unlock()
		c.InUse() // no lock is held
		told = append(told, fmt.Sprint(r.URL.Path, " ", errors.Is(err, limiters.ErrBacklogFull)))
	}))
	visit(t, limit(&slow{d: time.Second}), func(s *site) {
		s.get("/a")
		s.get("/b")
		s.get("/c")
		s.expect("/b "+busy, "/c "+busy)
		synctestcompat.Sleep(time.Second)
		s.expect("/a " + served)
		mu.Lock()
		defer mu.Unlock()
		if got := strings.Join(told, ", "); got != "/b true, /c true" {
			t.Errorf("the hook was told %q, want /b and /c, and of the backlog", got)
		}
	})
}

// Concurrency with the numbers of New does what New does.
func TestConcurrency_likeNew(t *testing.T) {
	for name, limit := range map[string]func(http.Handler) http.Handler{
		"New":         New(1),
		"Concurrency": Concurrency(limiters.NewConcurrency(1, limiters.Backlog(DefaultBacklog), limiters.Timeout(DefaultTimeout))),
	} {
		visit(t, limit(&slow{d: time.Minute}), func(s *site) {
			s.get("/a")
			s.get("/b")
			synctestcompat.Sleep(DefaultTimeout)
			s.expect("/b " + late)
			synctestcompat.Sleep(DefaultTimeout)
			s.expect("/a " + served)
			if t.Failed() {
				t.Log(name)
			}
		})
	}
}

// The timeout is measured on the clock that the limiter was given.
func TestConcurrency_clock(t *testing.T) {
	synctestcompat.Require(t)
	clock := fakeclock.New()
	limit := Concurrency(limiters.NewConcurrency(1, limiters.Timeout(timeout), limiters.WithClock(clock)), RetryAfter(90*time.Second+1))
	visit(t, limit(&slow{d: time.Hour}), func(s *site) {
		s.get("/a")
		s.get("/b")
		clock.Advance(timeout)
		s.expect("/b " + strings.Replace(late, "1", "91", 1))
		synctestcompat.Sleep(time.Hour)
		s.expect("/a " + served)
	})
}

// A client that goes while it waits gives up its place, and its request never runs.
func TestConcurrency_clientGone(t *testing.T) {
	var told atomic.Int64
	h := &slow{d: time.Second}
	c := limiters.NewConcurrency(1, limiters.Backlog(1))
	visit(t, Concurrency(c, OnThrottle(func(*http.Request, error) { told.Add(1) }))(h), func(s *site) {
		s.get("/a")
		leave := s.get("/b")
		leave()
		s.expect("/b left")
		if n := c.Waiting(); n != 0 {
			t.Errorf("%d requests wait, want none", n)
		}
		s.get("/c") // has the place of b
		s.expect()
		synctestcompat.Sleep(2 * time.Second)
		s.expect("/a "+served, "/c "+served)
		if told.Load() != 0 || c.InUse() != 0 {
			t.Errorf("the hook was called %d times and %d slots are in use, want 0 and 0", told.Load(), c.InUse())
		}
	})
}

// A deadline that somebody before us has set is answered like the timeout.
func TestConcurrency_deadline(t *testing.T) {
	limit := Concurrency(limiters.NewConcurrency(1))
	deadline := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), timeout)
			defer cancel()
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
	visit(t, deadline(limit(&slow{d: time.Second})), func(s *site) {
		s.get("/a")
		s.get("/b")
		synctestcompat.Sleep(timeout)
		s.expect("/b " + late)
		synctestcompat.Sleep(time.Second)
		s.expect("/a " + served)
	})
}

// A handler that panics gives its slot back, and the panic reaches the server, which
// breaks the connection.
func TestConcurrency_panic(t *testing.T) {
	c := limiters.NewConcurrency(1, limiters.Backlog(0))
	visit(t, Concurrency(c)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/panic":
			panic("ouch")
		case "/abort":
			panic(http.ErrAbortHandler)
		}
		io.WriteString(w, "served")
	})), func(s *site) {
		for range 3 {
			s.get("/panic")
			s.expect("/panic broken")
			s.get("/abort")
			s.expect("/abort broken")
			s.get("/")
			s.expect("/ " + served)
		}
		if n := c.InUse(); n != 0 {
			t.Errorf("%d slots are in use, want 0", n)
		}
	})
}

// The hooks see what runs, when it begins, and what does not.
func TestConcurrency_hooks(t *testing.T) {
	var mu sync.Mutex
	seen, counts := []string{}, new(expvar.Map)
	limit := Concurrency(limiters.NewConcurrency(1, limiters.Backlog(0)), Count(counts),
		OnDecision(func(r *http.Request, d limiters.Decision, err error) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, fmt.Sprint(r.URL.Path, " ", d.Allowed, " ", err == nil))
		}),
		Reject(func(w http.ResponseWriter, r *http.Request, status int, err error) {
			http.Error(w, "later", status)
		}))
	visit(t, limit(&slow{d: time.Second}), func(s *site) {
		s.get("/a")
		s.get("/b")
		s.expect("/b Service Unavailable: later (1)")
		synctestcompat.Sleep(time.Second)
		s.expect("/a " + served)
	})
	if got, want := fmt.Sprint(seen, counts), `[/a true true /b false false] {"allowed": 1, "rejected: full": 1}`; got != want {
		t.Errorf("seen %s, want %s", got, want)
	}
}
