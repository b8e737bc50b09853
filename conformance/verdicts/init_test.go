package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What init writes for types of this module, as far as names and signatures tell.
func TestInit(t *testing.T) {
	for _, c := range []struct {
		arg  string
		want []string
	}{
		{"../../limiters.TokenBucket", []string{
			"limitertest.Run(t, limitertest.Spec{", "x := limiters.NewTokenBucket(",
			"// AllowN takes an instant: with Time: Explicit it is the field AllowAt", "Allow:", "WaitN:",
		}},
		{"../../limiters.NewConcurrency", []string{"concurrencytest.Run(", "TryAcquire:", "Release:"}},
		{"../../debounce.New", []string{
			"debouncertest.Injected", "x := debounce.New[int](", "fire(v)", "Call:", "Cancel", "Flush", "Stop:",
		}},
		{"../../fakeclock.New", []string{"clocktest.Run(", "return clocktest.Of(x)"}},
	} {
		file := filepath.Join(t.TempDir(), "x_test.go")
		var out, failed bytes.Buffer
		if code := run([]string{"init", "-o", file, c.arg}, &out, &failed); code != 0 {
			t.Errorf("init %s ends with %d: %s", c.arg, code, &failed)
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(string(text), want) {
				t.Errorf("init %s: there is no %q in\n%s", c.arg, want, text)
			}
		}
		if code := run([]string{"init", "-o", file, c.arg}, &out, &failed); code == 0 {
			t.Errorf("init %s writes over %s", c.arg, file)
		}
	}
}

func TestInit_refuses(t *testing.T) {
	for _, args := range [][]string{
		{}, {"../../limiters.Nothing"}, {"./nowhere.New"}, {"-contract", "none", "../../limiters.Keyed"},
	} {
		if code := run(append([]string{"init"}, args...), &bytes.Buffer{}, &bytes.Buffer{}); code == 0 {
			t.Errorf("init %v ends with 0", args)
		}
	}
}
