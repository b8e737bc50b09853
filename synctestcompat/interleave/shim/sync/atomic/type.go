package atomic

import "sync/atomic"

// Int32 is std's.
type Int32 struct{ v atomic.Int32 }

// Load is std's.
func (x *Int32) Load() int32 {
	point("atomic.Load", x)
	return x.v.Load()
}

// Store is std's.
func (x *Int32) Store(val int32) {
	point("atomic.Store", x)
	x.v.Store(val)
}

// Swap is std's.
func (x *Int32) Swap(new int32) int32 {
	point("atomic.Swap", x)
	return x.v.Swap(new)
}

// CompareAndSwap is std's.
func (x *Int32) CompareAndSwap(old, new int32) bool {
	point("atomic.CompareAndSwap", x)
	return x.v.CompareAndSwap(old, new)
}

// Add is std's.
func (x *Int32) Add(delta int32) int32 {
	point("atomic.Add", x)
	return x.v.Add(delta)
}

// And is std's.
func (x *Int32) And(mask int32) int32 {
	point("atomic.And", x)
	return x.v.And(mask)
}

// Or is std's.
func (x *Int32) Or(mask int32) int32 {
	point("atomic.Or", x)
	return x.v.Or(mask)
}

// Int64 is std's.
type Int64 struct{ v atomic.Int64 }

// Load is std's.
func (x *Int64) Load() int64 {
	point("atomic.Load", x)
	return x.v.Load()
}

// Store is std's.
func (x *Int64) Store(val int64) {
	point("atomic.Store", x)
	x.v.Store(val)
}

// Swap is std's.
func (x *Int64) Swap(new int64) int64 {
	point("atomic.Swap", x)
	return x.v.Swap(new)
}

// CompareAndSwap is std's.
func (x *Int64) CompareAndSwap(old, new int64) bool {
	point("atomic.CompareAndSwap", x)
	return x.v.CompareAndSwap(old, new)
}

// Add is std's.
func (x *Int64) Add(delta int64) int64 {
	point("atomic.Add", x)
	return x.v.Add(delta)
}

// And is std's.
func (x *Int64) And(mask int64) int64 {
	point("atomic.And", x)
	return x.v.And(mask)
}

// Or is std's.
func (x *Int64) Or(mask int64) int64 {
	point("atomic.Or", x)
	return x.v.Or(mask)
}

// Uint32 is std's.
type Uint32 struct{ v atomic.Uint32 }

// Load is std's.
func (x *Uint32) Load() uint32 {
	point("atomic.Load", x)
	return x.v.Load()
}

// Store is std's.
func (x *Uint32) Store(val uint32) {
	point("atomic.Store", x)
	x.v.Store(val)
}

// Swap is std's.
func (x *Uint32) Swap(new uint32) uint32 {
	point("atomic.Swap", x)
	return x.v.Swap(new)
}

// CompareAndSwap is std's.
func (x *Uint32) CompareAndSwap(old, new uint32) bool {
	point("atomic.CompareAndSwap", x)
	return x.v.CompareAndSwap(old, new)
}

// Add is std's.
func (x *Uint32) Add(delta uint32) uint32 {
	point("atomic.Add", x)
	return x.v.Add(delta)
}

// And is std's.
func (x *Uint32) And(mask uint32) uint32 {
	point("atomic.And", x)
	return x.v.And(mask)
}

// Or is std's.
func (x *Uint32) Or(mask uint32) uint32 {
	point("atomic.Or", x)
	return x.v.Or(mask)
}

// Uint64 is std's.
type Uint64 struct{ v atomic.Uint64 }

// Load is std's.
func (x *Uint64) Load() uint64 {
	point("atomic.Load", x)
	return x.v.Load()
}

// Store is std's.
func (x *Uint64) Store(val uint64) {
	point("atomic.Store", x)
	x.v.Store(val)
}

// Swap is std's.
func (x *Uint64) Swap(new uint64) uint64 {
	point("atomic.Swap", x)
	return x.v.Swap(new)
}

// CompareAndSwap is std's.
func (x *Uint64) CompareAndSwap(old, new uint64) bool {
	point("atomic.CompareAndSwap", x)
	return x.v.CompareAndSwap(old, new)
}

// Add is std's.
func (x *Uint64) Add(delta uint64) uint64 {
	point("atomic.Add", x)
	return x.v.Add(delta)
}

// And is std's.
func (x *Uint64) And(mask uint64) uint64 {
	point("atomic.And", x)
	return x.v.And(mask)
}

// Or is std's.
func (x *Uint64) Or(mask uint64) uint64 {
	point("atomic.Or", x)
	return x.v.Or(mask)
}

// Uintptr is std's.
type Uintptr struct{ v atomic.Uintptr }

// Load is std's.
func (x *Uintptr) Load() uintptr {
	point("atomic.Load", x)
	return x.v.Load()
}

// Store is std's.
func (x *Uintptr) Store(val uintptr) {
	point("atomic.Store", x)
	x.v.Store(val)
}

// Swap is std's.
func (x *Uintptr) Swap(new uintptr) uintptr {
	point("atomic.Swap", x)
	return x.v.Swap(new)
}

// CompareAndSwap is std's.
func (x *Uintptr) CompareAndSwap(old, new uintptr) bool {
	point("atomic.CompareAndSwap", x)
	return x.v.CompareAndSwap(old, new)
}

// Add is std's.
func (x *Uintptr) Add(delta uintptr) uintptr {
	point("atomic.Add", x)
	return x.v.Add(delta)
}

// And is std's.
func (x *Uintptr) And(mask uintptr) uintptr {
	point("atomic.And", x)
	return x.v.And(mask)
}

// Or is std's.
func (x *Uintptr) Or(mask uintptr) uintptr {
	point("atomic.Or", x)
	return x.v.Or(mask)
}

// Bool is std's.
type Bool struct{ v atomic.Bool }

// Load is std's.
func (x *Bool) Load() bool {
	point("atomic.Load", x)
	return x.v.Load()
}

// Store is std's.
func (x *Bool) Store(val bool) {
	point("atomic.Store", x)
	x.v.Store(val)
}

// Swap is std's.
func (x *Bool) Swap(new bool) bool {
	point("atomic.Swap", x)
	return x.v.Swap(new)
}

// CompareAndSwap is std's.
func (x *Bool) CompareAndSwap(old, new bool) bool {
	point("atomic.CompareAndSwap", x)
	return x.v.CompareAndSwap(old, new)
}

// Value is std's.
type Value struct{ v atomic.Value }

// Load is std's.
func (x *Value) Load() any {
	point("atomic.Load", x)
	return x.v.Load()
}

// Store is std's.
func (x *Value) Store(val any) {
	point("atomic.Store", x)
	x.v.Store(val)
}

// Swap is std's.
func (x *Value) Swap(new any) any {
	point("atomic.Swap", x)
	return x.v.Swap(new)
}

// CompareAndSwap is std's.
func (x *Value) CompareAndSwap(old, new any) bool {
	point("atomic.CompareAndSwap", x)
	return x.v.CompareAndSwap(old, new)
}

// Pointer is std's.
type Pointer[T any] struct{ v atomic.Pointer[T] }

// Load is std's.
func (x *Pointer[T]) Load() *T {
	point("atomic.Load", x)
	return x.v.Load()
}

// Store is std's.
func (x *Pointer[T]) Store(val *T) {
	point("atomic.Store", x)
	x.v.Store(val)
}

// Swap is std's.
func (x *Pointer[T]) Swap(new *T) *T {
	point("atomic.Swap", x)
	return x.v.Swap(new)
}

// CompareAndSwap is std's.
func (x *Pointer[T]) CompareAndSwap(old, new *T) bool {
	point("atomic.CompareAndSwap", x)
	return x.v.CompareAndSwap(old, new)
}
