package sync

import (
	"sync"

	"github.com/escapement-go/escapement/internal/sched"
)

// Pool is std's. In an explored body it hands back what was put last in the same run.
type Pool struct {
	_    noCopy
	pool sync.Pool

	// New optionally specifies a function to generate a value when Get would otherwise return nil.
	New func() any
}

// pooled is what a run keeps about a Pool.
type pooled struct{ values []any }

// Get is std's.
func (p *Pool) Get() any {
	var v any
	if g := sched.Self(); g != nil {
		g.Point("Pool.Get", p)
		s := sched.State[pooled](g, p)
		if last := len(s.values) - 1; last >= 0 {
			v, s.values = s.values[last], s.values[:last]
		}
	} else {
		v = p.pool.Get()
	}
	if v == nil && p.New != nil {
		v = p.New()
	}
	return v
}

// Put is std's.
func (p *Pool) Put(v any) {
	if g := sched.Self(); g == nil {
		p.pool.Put(v)
	} else if v != nil {
		g.Point("Pool.Put", p)
		s := sched.State[pooled](g, p)
		s.values = append(s.values, v)
	}
}
