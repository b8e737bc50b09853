package guide

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

// tickets are sold until none is left.
type tickets struct {
	mu   sync.Mutex
	left int
}

func (t *tickets) remain() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.left > 0
}

func (t *tickets) take() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left--
}

// sell sells one, if one remains: each access is locked, and the sale is not.
func (t *tickets) sell() bool {
	if !t.remain() {
		return false
	}
	t.take()
	return true
}

// sellLocked sells one under one lock.
func (t *tickets) sellLocked() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.left == 0 {
		return false
	}
	t.left--
	return true
}

//lint:ignore U1000 flaky_test.go has a tag
func ticketsBefore(t testing.TB) {
	for range 1000 {
		seats := &tickets{left: 1}
		var sold atomic.Int32
		var both sync.WaitGroup
		for range 2 {
			both.Add(1)
			go func() {
				defer both.Done()
				if seats.sell() {
					sold.Add(1)
				}
			}()
		}
		both.Wait()
		if n := sold.Load(); n != 1 {
			t.Fatalf("sold %d times, want once", n)
		}
	}
}

func TestTickets_everyOrder(t *testing.T) {
	interleave.Check(t, func(t *interleave.T) { twoBuyers(t, (*tickets).sellLocked) })
}

// twoBuyers want the last ticket.
func twoBuyers(t *interleave.T, sell func(*tickets) bool) {
	seats, other := &tickets{left: 1}, make(chan bool)
	go func() { other <- sell(seats) }()
	if mine, theirs := sell(seats), <-other; mine == theirs {
		t.Errorf("sold to me: %v, to the other: %v", mine, theirs)
	}
}

// The text shows what Check says of sell.
func TestTickets_report(t *testing.T) {
	r := interleave.Explore(t, func(t *interleave.T) { twoBuyers(t, (*tickets).sell) })
	if !r.Rewritten {
		t.Skip("TestTickets_woven runs it")
	}
	raw, err := os.ReadFile(text)
	if err != nil {
		t.Fatal(err)
	}
	report, _, _ := strings.Cut(r.Failure, "\nto run only this one:")
	if !strings.Contains(string(raw), "```\n"+report+"```\n") {
		t.Errorf("the text shows another report than this, in %s:\n%s", r.Summary(), r.Failure)
	}
}

func TestTickets_woven(t *testing.T) {
	prove.Require(t, prove.Suite)
	synctestcompat.Require(t)
	if interleave.Rewritten("") {
		t.Skip("this is that run")
	}
	const weave = "github.com/escapement-go/escapement/synctestcompat/interleave/weave"
	cmd := exec.Command("go", "run", weave, "-count=1", "-run=^TestTickets_(everyOrder|report)$", ".")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
