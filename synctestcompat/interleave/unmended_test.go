package interleave

import (
	"testing"

	"github.com/escapement-go/escapement/synctestcompat/interleave/shim/point"
	"github.com/escapement-go/escapement/synctestcompat/interleave/shim/sync"
	"github.com/escapement-go/escapement/synctestcompat/interleave/shim/sync/atomic"
)

// epoch and gcra are package limiters' GCRA as it was: an epoch began before anything was granted.
type epoch struct {
	base int
	tat  atomic.Int64
}

type gcra struct{ epoch atomic.Pointer[epoch] }

const interval = 10

func (g *gcra) allowAt(t int) bool {
	e := g.epoch.Load()
	for ; e == nil; e = g.epoch.Load() {
		g.epoch.CompareAndSwap(nil, &epoch{base: t})
	}
	now := int64(t - e.base)
	for {
		tat := e.tat.Load()
		next := max(now, tat)
		if next > now {
			return false
		}
		if e.tat.CompareAndSwap(tat, next+interval) {
			return true
		}
	}
}

// What is denied at 1 can only be denied because of the grant at 2, which would deny 3 too.
func TestUnmended_GCRA(t *testing.T) {
	r := explored(t, func(t *T) {
		var g gcra
		point.Go(func() { g.allowAt(2) })
		if first, third := g.allowAt(1), g.allowAt(3); !first && third {
			t.Error("denied at 1 and granted at 3")
		}
	})
	contains(t, r.Failure, "denied at 1 and granted at 3")
}

// semaphore is package limiters' Concurrency as it was: the bit that sends everybody to the lock made
// TryAcquire fail.
type semaphore struct {
	state, limit atomic.Int64
	mu           sync.Mutex
}

const queued = 1

func (s *semaphore) resize(limit int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Or(queued)
	s.state.Add((limit - s.limit.Load()) << 1)
	s.limit.Store(limit)
	s.state.And(^queued)
}

func (s *semaphore) tryAcquire(n int64) bool {
	for {
		old := s.state.Load()
		if old&queued != 0 || old>>1 < n {
			return false
		}
		if s.state.CompareAndSwap(old, old-n<<1) {
			return true
		}
	}
}

func TestUnmended_Concurrency(t *testing.T) {
	r := explored(t, func(t *T) {
		var s semaphore
		s.limit.Store(4)
		s.state.Store(4 << 1)
		point.Go(func() { s.resize(2) })
		if !s.tryAcquire(2) {
			t.Error("refused with 4 or 2 slots free")
		}
	})
	contains(t, r.Failure, "refused with 4 or 2 slots free")
}
