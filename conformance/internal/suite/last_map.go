//go:build darwin || freebsd || linux || netbsd || openbsd

package suite

import (
	"os"
	"syscall"
)

// mapped gives a file a page, and returns it as memory, nil if that cannot be.
func mapped(f *os.File) []byte {
	zeros := make([]byte, os.Getpagesize())
	if _, err := f.Write(zeros); err != nil { // a page for which the disk has no room ends the process
		return nil
	}
	page, err := syscall.Mmap(int(f.Fd()), 0, len(zeros), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil
	}
	return page
}

// unmap ends what mapped began; of nil it is an error, which changes nothing.
func unmap(page []byte) { _ = syscall.Munmap(page) }
