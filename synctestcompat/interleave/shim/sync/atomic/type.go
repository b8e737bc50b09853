package atomic

import "sync/atomic"

// The types of std.
type (
	Int32 struct {
		number[int32, atomic.Int32, *atomic.Int32]
	}
	Int64 struct {
		number[int64, atomic.Int64, *atomic.Int64]
	}
	Uint32 struct {
		number[uint32, atomic.Uint32, *atomic.Uint32]
	}
	Uint64 struct {
		number[uint64, atomic.Uint64, *atomic.Uint64]
	}
	Uintptr struct {
		number[uintptr, atomic.Uintptr, *atomic.Uintptr]
	}
	Bool struct {
		cell[bool, atomic.Bool, *atomic.Bool]
	}
	Value struct {
		cell[any, atomic.Value, *atomic.Value]
	}
	Pointer[T any] struct {
		cell[*T, atomic.Pointer[T], *atomic.Pointer[T]]
	}
)

// pointer is a pointer to a type of std.
type pointer[T, A any] interface {
	*A
	Load() T
	Store(T)
	Swap(T) T
	CompareAndSwap(old, new T) bool
}

// cell is what all types have, around one of std.
type cell[T, A any, P pointer[T, A]] struct{ v A }

// Load is std's.
func (x *cell[T, A, P]) Load() T { point("atomic.Load", x); return P(&x.v).Load() }

// Store is std's.
func (x *cell[T, A, P]) Store(v T) { point("atomic.Store", x); P(&x.v).Store(v) }

// Swap is std's.
func (x *cell[T, A, P]) Swap(v T) T { point("atomic.Swap", x); return P(&x.v).Swap(v) }

// CompareAndSwap is std's.
func (x *cell[T, A, P]) CompareAndSwap(old, new T) bool {
	point("atomic.CompareAndSwap", x)
	return P(&x.v).CompareAndSwap(old, new)
}

// number is a cell that can count. Its operations are about the cell, as those of a cell are: what explores
// orders must know that they meet.
type number[T, A any, P interface {
	pointer[T, A]
	Add(T) T
	And(T) T
	Or(T) T
}] struct{ cell[T, A, P] }

// Add is std's.
func (x *number[T, A, P]) Add(delta T) T { point("atomic.Add", &x.cell); return P(&x.v).Add(delta) }

// And is std's.
func (x *number[T, A, P]) And(mask T) T { point("atomic.And", &x.cell); return P(&x.v).And(mask) }

// Or is std's.
func (x *number[T, A, P]) Or(mask T) T { point("atomic.Or", &x.cell); return P(&x.v).Or(mask) }
