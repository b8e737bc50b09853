// Package process starts processes, which no bubble holds.
package process

import "os/exec"

// Command is one.
var Command exec.Cmd
