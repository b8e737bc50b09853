package recent

import (
	"math"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common/mclock"
)

// What is due at once waits for Run (CK-ZERO).
func TestEthereum_zeroWaitsForRun(t *testing.T) {
	var c mclock.Simulated
	ran := false
	c.AfterFunc(0, func() { ran = true })
	if ran {
		t.Error("ran at once: mended")
	}
	if c.Run(0); !ran {
		t.Error("did not run at all")
	}
}

// What is due in 292 years runs at once if the clock has moved (CK-FUNC).
func TestEthereum_farFunctionRunsAtOnce(t *testing.T) {
	var c mclock.Simulated
	c.Run(time.Second)
	ran := false
	c.AfterFunc(math.MaxInt64, func() { ran = true })
	c.Run(time.Hour)
	if !ran {
		t.Error("it did not run within an hour: mended")
	}
}

// The time that functions see is that of the end of Run (CK-AT).
func TestEthereum_functionsSeeTheEnd(t *testing.T) {
	var c mclock.Simulated
	var at mclock.AbsTime
	c.AfterFunc(time.Second, func() { at = c.Now() })
	c.Run(5 * time.Second)
	if at != mclock.AbsTime(5*time.Second) {
		t.Errorf("it ran at %v, want the end, 5s", time.Duration(at))
	}
}

// What a function arms counts from the end of Run (CK-CHAIN).
func TestEthereum_chainBeginsAtTheEnd(t *testing.T) {
	var c mclock.Simulated
	ran := false
	c.AfterFunc(time.Second, func() { c.AfterFunc(time.Second, func() { ran = true }) })
	if c.Run(10 * time.Second); ran {
		t.Error("both ran within 10s: mended")
	}
	if c.Run(time.Second); !ran {
		t.Error("the second did not run a second after the end")
	}
}
