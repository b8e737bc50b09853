// Package atomic stands for std's sync/atomic in code that was rewritten for package interleave. In an
// explored body each operation is a point; its types are std's in size and alignment.
package atomic

import (
	"sync/atomic"
	"unsafe"

	"github.com/escapement-go/escapement/internal/sched"
)

func point(name string, object any) {
	if g := sched.Self(); g != nil {
		g.Point(name, object)
	}
}

// LoadInt32 is std's.
func LoadInt32(addr *int32) int32 {
	point("atomic.Load", addr)
	return atomic.LoadInt32(addr)
}

// StoreInt32 is std's.
func StoreInt32(addr *int32, val int32) {
	point("atomic.Store", addr)
	atomic.StoreInt32(addr, val)
}

// SwapInt32 is std's.
func SwapInt32(addr *int32, new int32) int32 {
	point("atomic.Swap", addr)
	return atomic.SwapInt32(addr, new)
}

// CompareAndSwapInt32 is std's.
func CompareAndSwapInt32(addr *int32, old, new int32) bool {
	point("atomic.CompareAndSwap", addr)
	return atomic.CompareAndSwapInt32(addr, old, new)
}

// AddInt32 is std's.
func AddInt32(addr *int32, delta int32) int32 {
	point("atomic.Add", addr)
	return atomic.AddInt32(addr, delta)
}

// AndInt32 is std's.
func AndInt32(addr *int32, mask int32) int32 {
	point("atomic.And", addr)
	return atomic.AndInt32(addr, mask)
}

// OrInt32 is std's.
func OrInt32(addr *int32, mask int32) int32 {
	point("atomic.Or", addr)
	return atomic.OrInt32(addr, mask)
}

// LoadInt64 is std's.
func LoadInt64(addr *int64) int64 {
	point("atomic.Load", addr)
	return atomic.LoadInt64(addr)
}

// StoreInt64 is std's.
func StoreInt64(addr *int64, val int64) {
	point("atomic.Store", addr)
	atomic.StoreInt64(addr, val)
}

// SwapInt64 is std's.
func SwapInt64(addr *int64, new int64) int64 {
	point("atomic.Swap", addr)
	return atomic.SwapInt64(addr, new)
}

// CompareAndSwapInt64 is std's.
func CompareAndSwapInt64(addr *int64, old, new int64) bool {
	point("atomic.CompareAndSwap", addr)
	return atomic.CompareAndSwapInt64(addr, old, new)
}

// AddInt64 is std's.
func AddInt64(addr *int64, delta int64) int64 {
	point("atomic.Add", addr)
	return atomic.AddInt64(addr, delta)
}

// AndInt64 is std's.
func AndInt64(addr *int64, mask int64) int64 {
	point("atomic.And", addr)
	return atomic.AndInt64(addr, mask)
}

// OrInt64 is std's.
func OrInt64(addr *int64, mask int64) int64 {
	point("atomic.Or", addr)
	return atomic.OrInt64(addr, mask)
}

// LoadUint32 is std's.
func LoadUint32(addr *uint32) uint32 {
	point("atomic.Load", addr)
	return atomic.LoadUint32(addr)
}

// StoreUint32 is std's.
func StoreUint32(addr *uint32, val uint32) {
	point("atomic.Store", addr)
	atomic.StoreUint32(addr, val)
}

// SwapUint32 is std's.
func SwapUint32(addr *uint32, new uint32) uint32 {
	point("atomic.Swap", addr)
	return atomic.SwapUint32(addr, new)
}

// CompareAndSwapUint32 is std's.
func CompareAndSwapUint32(addr *uint32, old, new uint32) bool {
	point("atomic.CompareAndSwap", addr)
	return atomic.CompareAndSwapUint32(addr, old, new)
}

// AddUint32 is std's.
func AddUint32(addr *uint32, delta uint32) uint32 {
	point("atomic.Add", addr)
	return atomic.AddUint32(addr, delta)
}

// AndUint32 is std's.
func AndUint32(addr *uint32, mask uint32) uint32 {
	point("atomic.And", addr)
	return atomic.AndUint32(addr, mask)
}

// OrUint32 is std's.
func OrUint32(addr *uint32, mask uint32) uint32 {
	point("atomic.Or", addr)
	return atomic.OrUint32(addr, mask)
}

// LoadUint64 is std's.
func LoadUint64(addr *uint64) uint64 {
	point("atomic.Load", addr)
	return atomic.LoadUint64(addr)
}

// StoreUint64 is std's.
func StoreUint64(addr *uint64, val uint64) {
	point("atomic.Store", addr)
	atomic.StoreUint64(addr, val)
}

// SwapUint64 is std's.
func SwapUint64(addr *uint64, new uint64) uint64 {
	point("atomic.Swap", addr)
	return atomic.SwapUint64(addr, new)
}

// CompareAndSwapUint64 is std's.
func CompareAndSwapUint64(addr *uint64, old, new uint64) bool {
	point("atomic.CompareAndSwap", addr)
	return atomic.CompareAndSwapUint64(addr, old, new)
}

// AddUint64 is std's.
func AddUint64(addr *uint64, delta uint64) uint64 {
	point("atomic.Add", addr)
	return atomic.AddUint64(addr, delta)
}

// AndUint64 is std's.
func AndUint64(addr *uint64, mask uint64) uint64 {
	point("atomic.And", addr)
	return atomic.AndUint64(addr, mask)
}

// OrUint64 is std's.
func OrUint64(addr *uint64, mask uint64) uint64 {
	point("atomic.Or", addr)
	return atomic.OrUint64(addr, mask)
}

// LoadUintptr is std's.
func LoadUintptr(addr *uintptr) uintptr {
	point("atomic.Load", addr)
	return atomic.LoadUintptr(addr)
}

// StoreUintptr is std's.
func StoreUintptr(addr *uintptr, val uintptr) {
	point("atomic.Store", addr)
	atomic.StoreUintptr(addr, val)
}

// SwapUintptr is std's.
func SwapUintptr(addr *uintptr, new uintptr) uintptr {
	point("atomic.Swap", addr)
	return atomic.SwapUintptr(addr, new)
}

// CompareAndSwapUintptr is std's.
func CompareAndSwapUintptr(addr *uintptr, old, new uintptr) bool {
	point("atomic.CompareAndSwap", addr)
	return atomic.CompareAndSwapUintptr(addr, old, new)
}

// AddUintptr is std's.
func AddUintptr(addr *uintptr, delta uintptr) uintptr {
	point("atomic.Add", addr)
	return atomic.AddUintptr(addr, delta)
}

// AndUintptr is std's.
func AndUintptr(addr *uintptr, mask uintptr) uintptr {
	point("atomic.And", addr)
	return atomic.AndUintptr(addr, mask)
}

// OrUintptr is std's.
func OrUintptr(addr *uintptr, mask uintptr) uintptr {
	point("atomic.Or", addr)
	return atomic.OrUintptr(addr, mask)
}

// LoadPointer is std's.
func LoadPointer(addr *unsafe.Pointer) unsafe.Pointer {
	point("atomic.Load", addr)
	return atomic.LoadPointer(addr)
}

// StorePointer is std's.
func StorePointer(addr *unsafe.Pointer, val unsafe.Pointer) {
	point("atomic.Store", addr)
	atomic.StorePointer(addr, val)
}

// SwapPointer is std's.
func SwapPointer(addr *unsafe.Pointer, new unsafe.Pointer) unsafe.Pointer {
	point("atomic.Swap", addr)
	return atomic.SwapPointer(addr, new)
}

// CompareAndSwapPointer is std's.
func CompareAndSwapPointer(addr *unsafe.Pointer, old, new unsafe.Pointer) bool {
	point("atomic.CompareAndSwap", addr)
	return atomic.CompareAndSwapPointer(addr, old, new)
}
