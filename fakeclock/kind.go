package fakeclock

import "strconv"

// Kind says what armed a [Timer]. The zero value is KindTimer.
type Kind uint8

// The kinds of timers, named after what makes them.
const (
	KindTimer     Kind = iota // NewTimer
	KindAfter                 // After
	KindTicker                // NewTicker
	KindAfterFunc             // AfterFunc
	KindSleep                 // Sleep
	KindContext               // a context with a deadline
)

// String returns the name of k without Kind, such as "AfterFunc".
func (k Kind) String() string {
	names := [...]string{"Timer", "After", "Ticker", "AfterFunc", "Sleep", "Context"}
	if int(k) < len(names) {
		return names[k]
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}
