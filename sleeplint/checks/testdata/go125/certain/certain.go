package certain

import (
	"context"
	"sync"
	"time"
)

type Breaker struct {
	mu   sync.Mutex
	open bool
}

// Open starts a goroutine that ends by itself.
func (b *Breaker) Open(d time.Duration) {
	b.set(true)
	go func() {
		time.Sleep(d)
		b.set(false)
	}()
}

func (b *Breaker) set(open bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open = open
}

func (b *Breaker) IsOpen() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open
}

// Do holds the lock while f runs.
func (b *Breaker) Do(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
}

// Watch starts a goroutine that nobody ends.
func (b *Breaker) Watch(d time.Duration) {
	ticker := time.NewTicker(d)
	go func() {
		for range ticker.C {
			b.set(false)
		}
	}()
}

// Meter counts until it is stopped.
type Meter struct{ done chan bool }

func NewMeter(ctx context.Context) *Meter {
	m := &Meter{make(chan bool)}
	go func() {
		for {
			select {
			case <-m.done:
				return
			case <-ctx.Done():
				return
			}
		}
	}()
	return m
}

func (m *Meter) Stop() { close(m.done) }

// Answer leaves a goroutine behind if nobody receives.
func (b *Breaker) Answer() <-chan bool {
	c := make(chan bool)
	go func() { c <- b.IsOpen() }()
	return c
}

var shared = map[string]*time.Timer{}

func Shared(name string) { shared[name] = time.NewTimer(time.Hour) }

type Answerer interface{ Answer() <-chan bool }

type Opener interface{ Open(time.Duration) }

// Through opens whatever it is.
func Through(o Opener, d time.Duration) { o.Open(d) }
