//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package main

import "io"

// widthOf is 0: how wide a terminal is, is not asked for here, and there is no live line.
func widthOf(io.Writer) int { return 0 }
