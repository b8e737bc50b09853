//go:build !unix

package suite

import (
	"os"
	"runtime/metrics"
	"time"
)

// processorTime is the processor time that the process has used so far, as the runtime
// estimates it.
func processorTime() time.Duration {
	s := []metrics.Sample{{Name: "/cpu/classes/total:cpu-seconds"}, {Name: "/cpu/classes/idle:cpu-seconds"}}
	metrics.Read(s)
	return time.Duration((s[0].Value.Float64() - s[1].Value.Float64()) * float64(time.Second))
}

// alive reports whether there is a process with that number.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err == nil {
		_ = p.Release()
	}
	return err == nil
}
