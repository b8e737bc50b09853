package peers

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	resiliency "github.com/eapache/go-resiliency/semaphore"
	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/go-chi/chi/v5/middleware"
)

// cancelled is a context that is done.
func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// The docs of failsafe-go: "Returns context.Canceled if the ctx is canceled."
func TestFailsafe_givesPermitsToCancelled(t *testing.T) {
	given := 0
	for range rounds {
		if bulkhead.New[any](1).AcquirePermit(cancelled()) == nil {
			given++
		}
	}
	if given == 0 {
		t.Errorf("no permit was given to a cancelled context in %d rounds: failsafe-go looks first now", rounds)
	}
}

// A ReleasePermit too many waits for the next permit, and frees that one: then two
// hold the only permit.
func TestFailsafe_releasesAnother(t *testing.T) {
	synctestcompat.Require(t)
	synctestcompat.Run(t, func(*testing.T) {
		b := bulkhead.New[any](1)
		go b.ReleasePermit()
		synctestcompat.Wait()
		first := b.TryAcquirePermit()
		synctestcompat.Wait()
		if second := b.TryAcquirePermit(); !first || !second {
			t.Errorf("TryAcquirePermit = %v and %v: failsafe-go no longer frees what it does not hold", first, second)
		}
	})
}

// A semaphore of eapache/go-resiliency with a timeout of 0 refuses tickets that are free.
func TestEapache_refusesFreeTickets(t *testing.T) {
	if zeroTimersAreLate {
		t.Skip("a timer of 0 is not ready at once on this release")
	}
	synctestcompat.Require(t)
	refused := 0
	for range rounds {
		synctestcompat.Run(t, func(*testing.T) {
			if resiliency.New(1, 0).Acquire() != nil {
				refused++
			}
		})
	}
	if refused == 0 {
		t.Errorf("no free ticket was refused in %d rounds: go-resiliency looks at the tickets first now", rounds)
	}
}

// chi serves requests whose context is done.
func TestChi_servesCancelled(t *testing.T) {
	served := 0
	h := middleware.Throttle(1)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served++ }))
	for range rounds {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil).WithContext(cancelled()))
	}
	if served == 0 {
		t.Errorf("no cancelled request was served in %d rounds: chi looks first now", rounds)
	}
}
