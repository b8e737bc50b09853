package guide

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/synctestcompat"
)

// monitor takes a peer for dead that was not heard of for so long.
type monitor struct {
	clock    clockwork.Clock
	patience time.Duration

	mu    sync.Mutex
	heard time.Time
}

func newMonitor(clock clockwork.Clock, patience time.Duration) *monitor {
	return &monitor{clock: clock, patience: patience, heard: clock.Now()}
}

func (m *monitor) beat() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.heard = m.clock.Now()
}

func (m *monitor) alive() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.clock.Since(m.heard) < m.patience
}

// sendBeats sends one in each interval, until ctx is done.
func sendBeats(ctx context.Context, clock clockwork.Clock, interval time.Duration, send func()) {
	ticker := clock.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.Chan():
			send()
		case <-ctx.Done():
			return
		}
	}
}

func heartbeatBefore(t testing.TB, clock clockwork.Clock) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	m := newMonitor(clock, 30*time.Millisecond)
	go sendBeats(ctx, clock, 10*time.Millisecond, m.beat)
	time.Sleep(35 * time.Millisecond)
	if !m.alive() {
		t.Error("dead, though it sends beats")
	}
	cancel()
	time.Sleep(50 * time.Millisecond)
	if m.alive() {
		t.Error("alive, though its last beat was long ago")
	}
}

func TestHeartbeat_bubble(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		clock := clockwork.NewRealClock()
		m := newMonitor(clock, 30*time.Second)
		go sendBeats(ctx, clock, 10*time.Second, m.beat)
		synctestcompat.Sleep(24*time.Hour + 9*time.Second) // the last beat is 9 s ago
		if !m.alive() {
			t.Error("dead, though it sends beats")
		}
		cancel()
		synctestcompat.Sleep(21*time.Second - 1)
		if !m.alive() {
			t.Error("dead a nanosecond too early")
		}
		synctestcompat.Sleep(1)
		if m.alive() {
			t.Error("alive, though its last beat was 30 s ago")
		}
	})
}

func TestHeartbeat_fakeClock(t *testing.T) {
	clock := fakeclock.NewTest(t)
	m := newMonitor(clock, 30*time.Second)
	clock.Advance(10 * time.Second)
	m.beat() // the monitor's half needs no sender, and no goroutine
	clock.Advance(30*time.Second - 1)
	if !m.alive() {
		t.Error("dead a nanosecond too early")
	}
	clock.Advance(1)
	if m.alive() {
		t.Error("alive, though its last beat was 30 s ago")
	}
	m.beat()
	if !m.alive() {
		t.Error("dead right after a beat")
	}
}
