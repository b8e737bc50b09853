package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
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
			"AllowAt: x.AllowN", "Allow:", "WaitN:",
		}},
		{"../../limiters.NewConcurrency", []string{"concurrencytest.Run(", "TryAcquire:", "Release:"}},
		{"../../debounce.New", []string{
			"debouncertest.Injected", "x := debounce.New[int](", "fire(v)", "Call:", "Cancel", "Flush", "Stop:",
		}},
		{"../../limiters.SlidingLog", []string{"quotatest.Run(", "quotatest.SlidingLog,"}},
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

// What init tells of the types of others compiles, and is what a user would write.
func TestInit_subjects(t *testing.T) {
	folder, files := t.TempDir(), []string{"vet"}
	for _, c := range []struct {
		name string
		want []string
	}{
		{"Wheel", []string{
			"clocktest.Run(", "NewWheel(time.Date(", "x.SetTime(x.Now().Add(d))", "After:",
			"x.TickAfter", "c, h := x.NewTimer(d)",
			"NoTimerReset: true", "NoTimerAnswers: true", "ticker{handle{h.C,", "Armed:", "AfterFunc:",
		}},
		{"Guard", []string{
			"quotatest.Run(", "Tokens: uint64(cfg.Limit), Window: cfg.Window}", "panic(err)", "!r0.Limited",
			"int(r0.Remaining)", "r0.RetryAfter", "time.Until(r0.Reset)", "Err: r1", `panic("unsigned")`, "Stop:",
		}},
		{"Gate", []string{"quotatest.SlidingCounter", "x.Handler(next)", "Remaining: left"}},
		{"Throttle", []string{"concurrencytest.Run(", "x(next)", "Do:"}},
		{"Crew", []string{"concurrencytest.Run(", "if !x.Go(ctx, func() { <-done })", "Take:"}},
		{"Bucket", []string{
			"limitertest.Run(", "x.Init(cfg.Rate.PerSecond(), float64(cfg.Burst))", "x.TryToFulfill(float64(n))",
			`!x.LimitReached("key")`,
		}},
		{"Valve", []string{
			"concurrencytest.Run(", "NewValve(cfg.Limit)", "if !x.Start(cfg.Timeout) {", `errors.New("rejected")`,
			"TryAcquire:", "x.Done()",
		}},
		{"Sized", []string{"concurrencytest.Run(", "x.AddWithContext(ctx)", "x.Add()", "x.Done()"}},
		{"Meter", []string{
			"limitertest.Run(", "Time: limitertest.Explicit", "cfg.Rate.Interval(), cfg.Burst", "x.AllowN(n, at)",
		}},
		{"Batcher", []string{
			"throttletest.Run(", "emit(all[len(all)-1].(int))", "x.DelayThreshold = cfg.Interval", "x.Add(v, 1)",
		}},
	} {
		file := filepath.Join(folder, c.name+"_test.go")
		var failed bytes.Buffer
		if code := run([]string{"init", "-o", file, "./testdata/subjects." + c.name}, io.Discard, &failed); code != 0 {
			t.Errorf("init %s ends with %d: %s", c.name, code, &failed)
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		plain := strings.Join(strings.Fields(string(text)), " ")
		for _, want := range c.want {
			if !strings.Contains(plain, want) {
				t.Errorf("init %s: there is no %q in\n%s", c.name, want, text)
			}
		}
		files = append(files, file)
	}
	if out, err := exec.Command("go", files...).CombinedOutput(); err != nil {
		t.Errorf("what init writes does not compile: %s", out)
	}
}

// The help says the flags of both forms.
func TestHelp(t *testing.T) {
	var help bytes.Buffer
	if code := run([]string{"-h"}, io.Discard, &help); code != 0 {
		t.Errorf("-h ends with %d", code)
	}
	for _, want := range []string{"-html", "init [flags]", "-contract package", "-o file"} {
		if !strings.Contains(help.String(), want) {
			t.Errorf("-h does not say %q:\n%s", want, &help)
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
