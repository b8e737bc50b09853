// Package process starts processes.
package process

import "os/exec"

// Run runs one.
func Run() error { return exec.Command("true").Run() }
