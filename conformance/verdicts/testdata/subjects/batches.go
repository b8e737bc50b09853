package subjects

import (
	"context"
	"reflect"
	"time"
)

// Bulk is made with options.
type Bulk struct{}

// BulkOption is one of a Bulk.
type BulkOption func(*Bulk)

// NewBulk gets what to do.
func NewBulk(execute func(tasks []any), opts ...BulkOption) *Bulk { return &Bulk{} }

// WithBulkTasks bounds a batch.
func WithBulkTasks(tasks int) BulkOption { return nil }

// WithBulkInterval bounds its age.
func WithBulkInterval(d time.Duration) BulkOption { return nil }

// WithBulkEager is a choice.
func WithBulkEager() BulkOption { return nil }

func (b *Bulk) Add(task any) error { return nil }
func (b *Bulk) Flush()             {}

// Waiting has callers that wait for their batch, in a package whose name says nothing.
type Waiting struct{}

// NewWaiting gets what to do.
func NewWaiting(timeout time.Duration, work func([]any) error) *Waiting { return &Waiting{} }

func (w *Waiting) Run(item any) error { return nil }

// Drawn is asked for its batches.
type Drawn struct{}

// NewDrawn has more bounds.
func NewDrawn(maxTime time.Duration, maxItems, maxBytes, queueLen uint, weigh func(any) uint) (*Drawn, error) {
	return &Drawn{}, nil
}

func (d *Drawn) Put(item any) error  { return nil }
func (d *Drawn) Get() ([]any, error) { return nil, nil }
func (d *Drawn) Dispose()            {}

// Typed wants to know of what type its items are.
type Typed struct{}

// TypedOptions are its bounds.
type TypedOptions struct {
	MaxBatchSize     int
	MaxBatchByteSize int
	Linger           time.Duration
}

// NewTypedBatcher gets what to do with a slice.
func NewTypedBatcher(item reflect.Type, opts *TypedOptions, handler func(any) error) *Typed {
	return &Typed{}
}

func (b *Typed) Add(ctx context.Context, item any) error { return nil }
func (b *Typed) Shutdown()                               {}

// RefBatcher passes pointers on.
type RefBatcher[T any] struct{}

// NewRefBatcher gets what to do with pointers.
func NewRefBatcher[T any](size int, timeout time.Duration, f func([]*T)) *RefBatcher[T] { return nil }

func (b *RefBatcher[T]) Put(item *T) {}

// RefDebouncer passes the pointer to the newest on.
type RefDebouncer[T any] struct{}

// NewRefDebouncer gets what to do with it.
func NewRefDebouncer[T any](wait time.Duration, f func(*T)) *RefDebouncer[T] { return nil }

func (d *RefDebouncer[T]) Call(v *T) {}

// Burst may be a debouncer or a batcher.
type Burst[T any] struct{}

// NewDebouncedBatch hands over a burst.
func NewDebouncedBatch[T any](wait time.Duration, f func([]T)) *Burst[T] { return nil }

func (b *Burst[T]) Add(v T) {}

// LooseDebouncer has no constructor.
type LooseDebouncer[K comparable, V any] struct{ Wait time.Duration }

func (d *LooseDebouncer[K, V]) Call(key K, v V) {}

// TextsDebouncer has none, and is not made for numbers.
type TextsDebouncer[T ~string] struct{}

func (d *TextsDebouncer[T]) Call(v T) {}

// AgelessBatcher has no delay.
type AgelessBatcher struct{}

// NewAgelessBatcher gets what to do, and something of its own.
func NewAgelessBatcher(size int, room chan int, handle func([]int)) *AgelessBatcher { return nil }

func (b *AgelessBatcher) Add(v int)                                                {}
func (b *AgelessBatcher) Put(ctx context.Context, key string, f func([]int)) error { return nil }
