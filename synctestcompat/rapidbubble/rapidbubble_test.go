package rapidbubble

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/synctestcompat"
)

// inProcess makes this process run the tests that must fail.
const inProcess = "RAPIDBUBBLE_FAIL"

// rerun runs one of the tests below in a process of its own and returns its output.
func rerun(t *testing.T, dir, test string, args ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{"-test.v", "-test.run=^" + test + "$"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), inProcess+"=1", `GORACE=suppress_equal_stacks=0 suppress_equal_addresses=0`)
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("%s passed:\n%s", test, out)
	}
	return string(out)
}

// Every way to fail becomes one failure of rapid that is made smaller and says where.
func TestCheck_failures(t *testing.T) {
	synctestcompat.Require(t)
	if os.Getenv(inProcess) != "" {
		for _, f := range failing {
			t.Run(f.name, func(t *testing.T) { Check(t, func(b *T) { f.prop(b, t) }, f.opts...) })
		}
		return
	}
	args := []string{"-rapid.nofailfile", "-rapid.seed=1", "-rapid.checks=100", "-rapid.shrinktime=1h"}
	quick := testing.Short() || !prove.Reaches(prove.Suite)
	if quick {
		args = append(args, "-test.skip=/("+slow+")$")
	}
	out := rerun(t, t.TempDir(), "TestCheck_failures", args...)
	for _, f := range failing {
		t.Run(f.name, func(t *testing.T) {
			if quick && slices.Contains(strings.Split(slow, "|"), f.name) {
				t.Skip(prove.Variable + "=1 runs it, without -short")
			}
			mine := section(out, "TestCheck_failures/"+f.name)
			for _, want := range append(f.says, "FAIL: TestCheck_failures/"+f.name) {
				if !strings.Contains(mine, want) && !strings.Contains(out, "--- "+want) {
					t.Errorf("the output does not say %q:\n%s", want, mine)
				}
			}
			if strings.Contains(mine, "flaky") {
				t.Errorf("rapid could not reproduce it:\n%s", mine)
			}
		})
	}
}

// slow are those that are run with ESCAPEMENT_PROVE=1 only.
const slow = "MutexHang|DeadlockWhileTicking"

// section returns what a verbose run printed for a test.
func section(out, test string) string {
	_, rest, _ := strings.Cut(out, "=== RUN   "+test+"\n")
	rest, _, _ = strings.Cut(rest, "=== RUN ")
	return rest
}

// A failure is replayed by its seed and by its fail file.
func TestCheck_replay(t *testing.T) {
	synctestcompat.Require(t)
	if os.Getenv(inProcess) != "" {
		Check(t, func(b *T) { failing[0].prop(b, t) })
		return
	}
	dir := t.TempDir()
	first := rerun(t, dir, "TestCheck_replay", "-rapid.seed=2")
	files, err := filepath.Glob(filepath.Join(dir, "testdata/rapid/TestCheck_replay/*.fail"))
	if err != nil || len(files) != 1 {
		t.Fatalf("fail files: %v, %v; output:\n%s", files, err, first)
	}
	if out := rerun(t, dir, "TestCheck_replay"); !strings.Contains(out, "failed after 0 tests: 501 is too many") {
		t.Errorf("the fail file is not used:\n%s", out)
	}
	if out := rerun(t, t.TempDir(), "TestCheck_replay", "-rapid.seed=1", "-rapid.nofailfile", "-test.timeout=9s"); strings.Contains(out, "501 is") ||
		!strings.Contains(out, "is too many") {
		t.Errorf("with less than ten seconds left the failure was made smaller:\n%s", out)
	}
	seed := regexp.MustCompile(`-rapid\.seed=\d+`).FindString(first)
	if out := rerun(t, t.TempDir(), "TestCheck_replay", seed); !strings.Contains(out, "failed after 0 tests: 501 is too many") {
		t.Errorf("%s does not reproduce it:\n%s", seed, out)
	}
}

// A data race in the property's bubble fails the property.
func TestCheck_race(t *testing.T) {
	synctestcompat.Require(t)
	if !raceDetector {
		t.Skip("data races show only with -race")
	}
	if os.Getenv(inProcess) != "" {
		Check(t, func(t *T) {
			n, shared := drawN(t), 0
			done := make(chan bool)
			go func() {
				if n > 500 {
					shared++
				}
				close(done)
			}()
			if n > 500 {
				shared++
			}
			<-done
		})
		return
	}
	out := rerun(t, t.TempDir(), "TestCheck_race", "-rapid.nofailfile")
	for _, want := range []string{"data race: the race detector's report", "WARNING: DATA RACE", "draw n: 501"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output does not say %q:\n%s", want, out)
		}
	}
}

// A panic on a goroutine that the code under test starts ends the process, as
// everywhere in Go; what was drawn is in the output if rapid logs it.
func TestCheck_panicElsewhere(t *testing.T) {
	synctestcompat.Require(t)
	if os.Getenv(inProcess) != "" {
		Check(t, func(t *T) {
			if n := drawN(t); n > 500 {
				go panicsAt(n)
				synctestcompat.Wait()
			}
		})
		return
	}
	out := rerun(t, t.TempDir(), "TestCheck_panicElsewhere", "-rapid.log")
	if !strings.Contains(out, "is too many") || !strings.Contains(out, "draw n: ") || !strings.Contains(out, "(seed ") {
		t.Errorf("the crash does not show what was drawn:\n%s", out)
	}
}

// Cleanup and Context belong to the bubble, and each iteration has a new one.
func TestT_belongsToTheBubble(t *testing.T) {
	iterations := 0
	Check(t, func(b *T) {
		iterations++
		start := time.Now()
		if want := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC); !start.Equal(want) {
			b.Fatalf("the bubble starts at %v, want %v", start, want)
		}
		timer := time.NewTimer(time.Hour)
		var order []string
		b.Cleanup(func() {
			if got := fmt.Sprint(order); got != "[last]" {
				b.Errorf("cleanups ran in the order %v", got)
			}
			timer.Stop() // of a bubble's timer: fatal elsewhere
		})
		ctx := b.Context()
		b.Cleanup(func() {
			order = append(order, "last")
			if ctx.Err() == nil || b.Context().Err() == nil {
				b.Error("the context lives on during cleanup")
			}
		})
		stopped := make(chan error)
		go func() { <-ctx.Done(); stopped <- ctx.Err() }()
		b.Cleanup(func() {
			if err := <-stopped; err != context.Canceled {
				b.Errorf("the context ended with %v", err)
			}
		})
		time.Sleep(time.Duration(rapid.IntRange(0, 1e9).Draw(b.T, "ns")))
	})
	if iterations < 20 {
		t.Errorf("%d iterations", iterations)
	}
}

// Actions that do not apply are rejected, as in package rapid.
func TestT_repeatSkipsActions(t *testing.T) {
	most := 0
	Check(t, func(b *T) {
		open := 0
		b.Repeat(map[string]func(*T){
			"open": func(*T) { open++; most = max(most, open) },
			"close": func(b *T) {
				if open == 0 {
					b.Skip("nothing is open")
				}
				open--
			},
			"": func(b *T) {
				if open < 0 {
					b.Fatalf("%d are open", open)
				}
			},
		})
	})
	if most == 0 {
		t.Error("nothing was ever opened")
	}
}

// MakeCheck is Check as a subtest, and different tests check at the same time.
func TestMakeCheck_atOnce(t *testing.T) {
	synctestcompat.Require(t)
	var hours [3]atomic.Int64
	t.Run("", func(t *testing.T) {
		for i := range hours {
			check := MakeCheck(func(b *T) {
				start := time.Now()
				time.Sleep(time.Duration(i+1) * time.Hour)
				hours[i].Add(int64(time.Since(start) / time.Hour))
			})
			t.Run("", func(t *testing.T) {
				t.Parallel()
				check(t)
			})
		}
	})
	for i := range hours {
		if n := int64(i + 1); hours[i].Load() < 20*n || hours[i].Load()%n != 0 {
			t.Errorf("iterations of %d hours took %d hours in all", n, hours[i].Load())
		}
	}
}

// A fuzz target draws from its input.
func TestMakeFuzz_drawsFromTheInput(t *testing.T) {
	synctestcompat.Require(t)
	var drawn []bool
	target := MakeFuzz(func(b *T) { drawn = append(drawn, rapid.Bool().Draw(b.T, "b")) })
	target(t, []byte{0, 0, 0, 0, 0, 0, 0, 0})
	target(t, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	if got := fmt.Sprint(drawn); got != "[false true]" {
		t.Errorf("drawn %v, want [false true]", got)
	}
}

// A property that sleeps longer than the horizon is not blocked.
func TestHorizon_letsAPropertySleep(t *testing.T) {
	Check(t, func(*T) {
		time.Sleep(150 * time.Minute)
		time.Sleep(time.Hour)
	}, Horizon(time.Hour))
}

func TestHorizon_refusesNoTime(t *testing.T) {
	defer func() {
		want := "rapidbubble: Horizon(0s): a property needs time to run; use a duration > 0"
		if got := recover(); got != want {
			t.Errorf("Horizon(0) panicked with %v, want %q", got, want)
		}
	}()
	Horizon(0)
}
