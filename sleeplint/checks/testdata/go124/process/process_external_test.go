package process_test

import (
	"testing"
	"time"

	"example.com/go124/process"
)

func TestProcess(t *testing.T) {
	_ = process.Command
	time.Sleep(time.Second) // want `the test sleeps 1s; the package uses os/exec: wait for the event, or hand the code a fake clock`
}
