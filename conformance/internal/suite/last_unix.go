//go:build unix

package suite

import (
	"errors"
	"syscall"
)

// alive reports whether there is a process with that number.
func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
