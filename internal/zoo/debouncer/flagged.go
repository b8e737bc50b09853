package debouncer

import (
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"

	db "github.com/escapement-go/escapement/conformance/debouncertest"
)

// flagged is a mistake: Cancel leaves the timer armed and sets a flag, which the next call takes back.
func flagged() db.Spec {
	traits := plain(func(tr *db.Traits) { tr.StaleFire, tr.Payload = db.StaleAllowed, db.NoPayload })
	return made(db.Injected, traits, func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
		var cancelled atomic.Bool
		timer := clock.AfterFunc(time.Hour, func() {
			if !cancelled.Load() {
				fire(0)
			}
		})
		timer.Stop()
		return db.Funcs{
			Call:   func(int) { cancelled.Store(false); timer.Reset(cfg.Wait) },
			Cancel: func() { cancelled.Store(true) },
		}
	})
}
