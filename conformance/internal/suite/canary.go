package suite

import (
	"fmt"
	"maps"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/escapement-go/escapement/conformance"
)

// Life tells a canary how to make an instance, and how to make it show that time has
// moved.
type Life struct {
	// Make makes an instance. It calls sign whenever something shows that the instance
	// lives: a callback, an item that leaves.
	Make func(env conformance.Env, sign func())
	// Use does something that the instance answers with a sign once time has moved. Where
	// nothing is ever signed, it asks instead, and returns how many answers show that time
	// has moved.
	Use func() int
	// Beyond is a time after which every sign has come.
	Beyond time.Duration
	// Release ends the instance.
	Release func()
	// Asleep says that calls hold a lock while they wait for their time, so that the other
	// clock is not tried: Use would wait for what only this one brings.
	Asleep bool
}

// Pulse is what a canary saw.
type Pulse struct {
	// Refused is what the constructor panicked with.
	Refused string
	// Own counts the signs that came after the declared clock had moved, Other those that
	// came after the other clock had.
	Own, Other int
	// Strange says that a sign came on a goroutine that neither the clock nor the suite has
	// started, or that such a goroutine was left.
	Strange bool
	// Hang is the run that made no progress, if it did.
	Hang *Hang
}

// Sees moves the declared clock and then the other one, and returns which of them brought
// signs of life.
func (s *Suite) Sees(l Life) Pulse {
	var p Pulse
	if hang := s.Play(func(st *Stage) { p = l.pulse(st) }); hang != nil {
		s.first = hang
		return Pulse{Hang: hang}
	}
	return p
}

func (l Life) pulse(st *Stage) (p Pulse) {
	var mu sync.Mutex
	signs, strange := 0, false
	sign := func() {
		stranger := !st.Bubble && !driven(createdBy())
		mu.Lock()
		defer mu.Unlock()
		signs++
		strange = strange || stranger
	}
	var before map[string]bool
	if !st.Bubble {
		before = strangers()
	}
	if p.Refused = Catch(func() { l.Make(st.Env(), sign) }); p.Refused != "" {
		return p
	}
	// use returns how many signs came since it was last called.
	use := func() int {
		asked := 0
		_ = Catch(func() { asked = l.Use() }) // X-CALLS judges panics
		st.Settle()
		mu.Lock()
		defer mu.Unlock()
		n := signs + asked
		signs = 0
		return n
	}
	use()
	strays := func() bool { // a goroutine that has ended by now has signed
		if st.Bubble {
			return false
		}
		now := strangers()
		maps.DeleteFunc(now, func(id string, _ bool) bool { return before[id] }) // another instance's, which may end
		return len(now) > 0
	}
	left := strays()
	st.To(st.Now() + l.Beyond)
	st.Settle()
	left = left || strays()
	p.Own = use()
	if st.Bubble && st.Time == conformance.Injected && !l.Asleep { // move the other clock
		time.Sleep(l.Beyond)
		st.Settle()
		p.Other = use()
	}
	_ = Catch(l.Release)
	st.Settle()
	mu.Lock()
	defer mu.Unlock()
	p.Strange = strange || left
	return p
}

// WrongClock is what a canary says where the other clock is in use.
func WrongClock(pkg string) string {
	return fmt.Sprintf("the spec says Injected, but moving Env.Clock had no effect and moving package time "+
		"did: hand Env.Clock to the implementation, or set Time: %s.PackageTime", pkg)
}

// strangers are the goroutines that neither the clock nor the suite has started.
func strangers() map[string]bool {
	ids := map[string]bool{}
	for _, g := range others() {
		if g.CreatedBy != "" && !driven(g.CreatedBy) {
			ids[g.ID] = true
		}
	}
	return ids
}

// createdBy returns the function that started the caller's goroutine.
func createdBy() string {
	buf := make([]byte, 16<<10)
	_, by, _ := strings.Cut(string(buf[:runtime.Stack(buf, false)]), "created by ")
	by, _, _ = strings.Cut(by, "\n")
	return by
}
