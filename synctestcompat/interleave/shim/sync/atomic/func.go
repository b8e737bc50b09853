// Package atomic stands for std's sync/atomic in code that was rewritten for package interleave. In an
// explored body each operation is a point; its types are std's in size and alignment.
package atomic

import (
	"sync/atomic"

	"github.com/escapement-go/escapement/internal/sched"
)

func point(name string, object any) {
	if g := sched.Self(); g != nil {
		g.Point(name, object)
	}
}

// The functions of std.
var (
	LoadInt32   = load(atomic.LoadInt32)
	LoadInt64   = load(atomic.LoadInt64)
	LoadUint32  = load(atomic.LoadUint32)
	LoadUint64  = load(atomic.LoadUint64)
	LoadUintptr = load(atomic.LoadUintptr)
	LoadPointer = load(atomic.LoadPointer)

	StoreInt32   = store(atomic.StoreInt32)
	StoreInt64   = store(atomic.StoreInt64)
	StoreUint32  = store(atomic.StoreUint32)
	StoreUint64  = store(atomic.StoreUint64)
	StoreUintptr = store(atomic.StoreUintptr)
	StorePointer = store(atomic.StorePointer)

	SwapInt32   = swap(atomic.SwapInt32)
	SwapInt64   = swap(atomic.SwapInt64)
	SwapUint32  = swap(atomic.SwapUint32)
	SwapUint64  = swap(atomic.SwapUint64)
	SwapUintptr = swap(atomic.SwapUintptr)
	SwapPointer = swap(atomic.SwapPointer)

	CompareAndSwapInt32   = compareAndSwap(atomic.CompareAndSwapInt32)
	CompareAndSwapInt64   = compareAndSwap(atomic.CompareAndSwapInt64)
	CompareAndSwapUint32  = compareAndSwap(atomic.CompareAndSwapUint32)
	CompareAndSwapUint64  = compareAndSwap(atomic.CompareAndSwapUint64)
	CompareAndSwapUintptr = compareAndSwap(atomic.CompareAndSwapUintptr)
	CompareAndSwapPointer = compareAndSwap(atomic.CompareAndSwapPointer)

	AddInt32   = change("atomic.Add", atomic.AddInt32)
	AddInt64   = change("atomic.Add", atomic.AddInt64)
	AddUint32  = change("atomic.Add", atomic.AddUint32)
	AddUint64  = change("atomic.Add", atomic.AddUint64)
	AddUintptr = change("atomic.Add", atomic.AddUintptr)

	AndInt32   = change("atomic.And", atomic.AndInt32)
	AndInt64   = change("atomic.And", atomic.AndInt64)
	AndUint32  = change("atomic.And", atomic.AndUint32)
	AndUint64  = change("atomic.And", atomic.AndUint64)
	AndUintptr = change("atomic.And", atomic.AndUintptr)

	OrInt32   = change("atomic.Or", atomic.OrInt32)
	OrInt64   = change("atomic.Or", atomic.OrInt64)
	OrUint32  = change("atomic.Or", atomic.OrUint32)
	OrUint64  = change("atomic.Or", atomic.OrUint64)
	OrUintptr = change("atomic.Or", atomic.OrUintptr)
)

func load[T any](f func(*T) T) func(*T) T {
	return func(addr *T) T { point("atomic.Load", addr); return f(addr) }
}

func store[T any](f func(*T, T)) func(*T, T) {
	return func(addr *T, v T) { point("atomic.Store", addr); f(addr, v) }
}

func swap[T any](f func(*T, T) T) func(*T, T) T { return change("atomic.Swap", f) }

func change[T any](name string, f func(*T, T) T) func(*T, T) T {
	return func(addr *T, v T) T { point(name, addr); return f(addr, v) }
}

func compareAndSwap[T any](f func(*T, T, T) bool) func(*T, T, T) bool {
	return func(addr *T, old, new T) bool { point("atomic.CompareAndSwap", addr); return f(addr, old, new) }
}
