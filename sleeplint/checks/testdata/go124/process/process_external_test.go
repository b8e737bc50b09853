package process_test

import (
	"testing"
	"time"

	"example.com/go124/process"
)

func TestProcess(t *testing.T) {
	_ = process.Run()
	time.Sleep(time.Second) // want `the test sleeps 1s; it reaches os/exec.Command, which no bubble holds: wait for the event: `
}

func TestWithoutProcess(t *testing.T) {
	_ = process.Name()
	time.Sleep(time.Second) // want `the test sleeps 1s; a bubble does not wait for it`
}
