package debouncertest_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	db "github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/internal/zoo/debouncer"
	"github.com/escapement-go/escapement/synctestcompat"
)

// batching hands events over in batches: when there are as many as most, if that is not 0, and if byTime a wait after
// the first of them.
func batching(name string, most int, byTime bool) db.Spec {
	return db.Spec{Name: name, Time: db.Injected, NewBatch: func(env db.Env, cfg db.Config, fire func([]int)) db.Funcs {
		var mu sync.Mutex
		var held []int
		number := 0 // of the batch
		hand := func(batch int) {
			mu.Lock()
			all := held
			if batch != number {
				all = nil
			} else {
				held, number = nil, number+1
			}
			mu.Unlock()
			if len(all) > 0 {
				fire(all)
			}
		}
		return db.Funcs{Call: func(v int) {
			mu.Lock()
			held = append(held, v)
			n, batch := len(held), number
			mu.Unlock()
			switch {
			case n == most:
				hand(batch)
			case n == 1 && byTime:
				env.Clock.AfterFunc(cfg.Wait, func() { hand(batch) })
			}
		}}
	}}
}

// TRAITS says so if what is judged collects batches, and does not say it of a debouncer.
func TestTraits_batches(t *testing.T) {
	synctestcompat.Require(t)
	single := batching("the newest, a wait after the first", 0, true)
	collect := single.NewBatch
	single.NewBatch, single.New = nil, func(env db.Env, cfg db.Config, fire func(int)) db.Funcs {
		return collect(env, cfg, func(all []int) { fire(all[len(all)-1]) })
	}
	bare := debouncer.Choosing(debouncer.Plain())
	bare.Traits = db.Traits{}
	for _, k := range []struct {
		spec db.Spec
		says string
	}{
		{batching("by time", 0, true), "collect batches"},
		{batching("by time and size", 50, true), "collect batches"},
		{batching("by size", 50, false), "collect batches"},
		{single, "package throttletest"},
		{bare, ""},
	} {
		o := inside.Options{Most: 20, Unprobed: true}
		v, _ := k.spec.Examine(t, o).Verdict("TRAITS")
		if v.Status != conformance.Undecided || !strings.Contains(v.Text, k.says) ||
			strings.Contains(v.Text, "collect batches") != (k.says != "") {
			t.Errorf("%s: want it to say %q, TRAITS is %s:\n%s", k.spec.Name, k.says, v.Status, v.Text)
		}
	}
}
