package debouncer

import (
	"sync"

	"github.com/jonboulle/clockwork"

	db "github.com/escapement-go/escapement/conformance/debouncertest"
)

// flagged is a mistake: Cancel leaves the timer armed and sets a flag, which the next call takes back.
func flagged() db.Spec {
	return db.Spec{
		Name: "zoo flag", Time: db.Injected,
		Traits: plain(func(tr *db.Traits) { tr.StaleFire, tr.Payload = db.StaleAllowed, db.NoPayload }),
		New: func(env db.Env, cfg db.Config, fire func(int)) db.Funcs {
			var mu sync.Mutex
			var timer clockwork.Timer
			cancelled := false
			expire := func() {
				mu.Lock()
				fires := !cancelled
				mu.Unlock()
				if fires {
					fire(0)
				}
			}
			return db.Funcs{
				Call: func(int) {
					mu.Lock()
					defer mu.Unlock()
					if cancelled = false; timer != nil {
						timer.Stop()
					}
					timer = env.Clock.AfterFunc(cfg.Wait, expire)
				},
				Cancel: func() {
					mu.Lock()
					defer mu.Unlock()
					cancelled = true
				},
			}
		},
	}
}
