//go:build !unix

package suite

import "os"

// alive reports whether there is a process with that number.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err == nil {
		_ = p.Release()
	}
	return err == nil
}
