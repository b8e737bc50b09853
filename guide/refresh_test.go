package guide

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/synctestcompat"
)

// tokens holds a token that is replaced by the next a while before it expires.
type tokens struct {
	fetch func() (token string, ttl time.Duration)
	early time.Duration

	mu    sync.Mutex
	token string
	timer clockwork.Timer
}

func newTokens(clock clockwork.Clock, early time.Duration, fetch func() (string, time.Duration)) *tokens {
	s := &tokens{fetch: fetch, early: early}
	s.mu.Lock()
	defer s.mu.Unlock()
	token, ttl := fetch()
	s.token = token
	s.timer = clock.AfterFunc(ttl-early, s.refresh)
	return s
}

func (s *tokens) refresh() {
	token, ttl := s.fetch() // without the lock: it may take a while
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = token
	s.timer.Reset(ttl - s.early)
}

func (s *tokens) get() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.token
}

func (s *tokens) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer.Stop()
}

// numbered hands out the tokens 1, 2 and so on.
func numbered(ttl time.Duration) func() (string, time.Duration) {
	n := 0
	return func() (string, time.Duration) {
		n++
		return fmt.Sprint(n), ttl
	}
}

func refreshBefore(t testing.TB, clock clockwork.Clock) {
	s := newTokens(clock, 10*time.Millisecond, numbered(30*time.Millisecond))
	defer s.close()
	time.Sleep(25 * time.Millisecond) // after the refresh at 20ms, before the expiry at 30ms
	if got := s.get(); got != "2" {
		t.Errorf("token %s shortly before the first expires, want 2", got)
	}
}

func TestRefresh_bubble(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		s := newTokens(clockwork.NewRealClock(), time.Minute, numbered(time.Hour))
		defer s.close()
		synctestcompat.Sleep(59*time.Minute - 1)
		if got := s.get(); got != "1" {
			t.Errorf("token %s, want 1 until a minute before it expires", got)
		}
		synctestcompat.Sleep(1)
		if got := s.get(); got != "2" {
			t.Errorf("token %s a minute before the first expires, want 2", got)
		}
	})
}

func TestRefresh_fakeClock(t *testing.T) {
	clock := fakeclock.NewTest(t)
	s := newTokens(clock, time.Minute, numbered(time.Hour))
	defer s.close()
	clock.Advance(59*time.Minute - 1)
	if got := s.get(); got != "1" {
		t.Errorf("token %s, want 1 until a minute before it expires", got)
	}
	clock.Advance(1) // waits for refresh, which is a function of AfterFunc
	if got := s.get(); got != "2" {
		t.Errorf("token %s a minute before the first expires, want 2", got)
	}
}
