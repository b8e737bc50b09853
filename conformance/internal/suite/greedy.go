package suite

import (
	"math"
	"runtime/metrics"
	"time"
)

// A constructor may put aside a place for each of the things it is made for, as a channel
// that is filled with tokens does. Asked for 2147483647 of them it takes minutes, or all the
// memory that there is, of which a process dies.
const (
	// Many is how many things [Suite.TakesEach] asks for. What is to hold more is not made if
	// its constructor takes room or time for each.
	Many      = 1 << 20
	leastRoom = Many // bytes
	leastTime = Many * time.Nanosecond
	// Whatever else the process and the machine do meanwhile, they do not do each time.
	takes = 5
)

// TakesEach reports whether what make does with [Many] things takes room or time for each of
// them. What it makes is thrown away by the function that it returns.
func (s *Suite) TakesEach(make func(st *Stage, n int) (end func())) bool {
	usual, took, room := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64), uint64(math.MaxUint64)
	for range takes {
		for range takes { // a machine that is busy may hold up one of them for long
			_, one := s.cost(make, 1)
			usual = min(usual, one)
		}
		more, many := s.cost(make, Many)
		room, took = min(room, more), min(took, many)
		if room < leastRoom && took < leastTime {
			return false
		}
	}
	return room >= leastRoom || took >= 10*usual
}

// KeepsEach reports whether what make does takes room for each of fewer things: a first look, which
// is over sooner.
func (s *Suite) KeepsEach(make func(st *Stage, n int) (end func())) bool {
	const few = Many / 64
	least := uint64(math.MaxUint64)
	for range takes {
		room, _ := s.cost(make, few)
		least = min(least, room)
	}
	return least >= 8*few
}

// cost is what a run needs in which n things are made. Its time is taken outside the bubble, where
// it is real.
func (s *Suite) cost(make func(st *Stage, n int) func(), n int) (room uint64, took time.Duration) {
	began := time.Now()
	s.Play(func(st *Stage) {
		var end func()
		before := allocated()
		refused := Catch(func() { end = make(st, n) })
		room = allocated() - before
		if refused == "" {
			_ = Catch(end)
		}
		st.Settle()
	})
	return room, time.Since(began)
}

// allocated is how many bytes the process has allocated so far.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
