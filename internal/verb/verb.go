// Package verb names the operations of schedules for code that makes them; users write their text.
package verb

import "github.com/escapement-go/escapement/conformance"

type op = conformance.Op

// The operations; [conformance.Op] says what they do.
const (
	Idle op = "idle"

	Call    op = "call"
	Fault   op = "fault"
	Cancel  op = "cancel"
	Flush   op = "flush"
	Drop    op = "drop"
	Pending op = "pending"
	Stop    op = "stop"
	Reset   op = "reset"
	Close   op = "close"
	Wall    op = "wall"

	Allow    op = "allow"
	Reserve  op = "reserve"
	Wait     op = "wait"
	Tokens   op = "tokens"
	SetLimit op = "setlimit"
	SetBurst op = "setburst"

	Put op = "put"

	Acquire op = "acquire"
	Try     op = "try"
	Do      op = "do"
	Release op = "release"
	Panic   op = "panic"
	Exit    op = "exit"
	Resize  op = "resize"

	Now       op = "now"
	Timer     op = "timer"
	After     op = "after"
	Ticker    op = "ticker"
	AfterFunc op = "afterfunc"
	Sleep     op = "sleep"
	Consume   op = "consume"
	Nap       op = "nap"
	Halt      op = "halt"
	Rearm     op = "rearm"
	Read      op = "read"
	Chan      op = "chan"
	Armed     op = "armed"
	Timeout   op = "timeout"
	Deadline  op = "deadline"
	Err       op = "err"
	Within    op = "within"
)
