package plain

import (
	"testing"
	"time"

	"plain/process"
)

func TestProcess(t *testing.T) {
	process.Run()
	time.Sleep(time.Second) // want `the test sleeps 1s; it reaches os/exec.Command`
}
