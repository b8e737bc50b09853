package main

import "testing"

// Prose wraps at words; a timeline, a stack and a command stay as they are. Without a terminal nothing wraps.
func TestScreen_wrapText(t *testing.T) {
	const text = "DB-ONE: fired twice by 200ms\nA burst MUST fire once.\n\n" +
		"t     0  1ns  100ms  200ms\ncall  1--2----3*------------\nwhere * is called inside a callback\n\n" +
		"\tgoroutine 7 in a call of mine\nreplay: go test -run '^TestMine$'"
	const want = "DB-ONE: fired twice\nby 200ms\nA burst MUST fire\nonce.\n\n" +
		"t     0  1ns  100ms  200ms\ncall  1--2----3*------------\nwhere * is called\ninside a callback\n\n" +
		"\tgoroutine 7 in a call of mine\nreplay: go test -run '^TestMine$'"
	if got := (screen{width: func() int { return 20 }}).wrapText(text); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := (screen{width: func() int { return 0 }}).wrapText(text); got != text {
		t.Errorf("without a terminal:\n%s", got)
	}
}
