package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/escapement-go/escapement/internal/prove"
)

// depth is how far the tests go.
type depth int

const (
	short  depth = iota // -short
	full                // with the environment variable that runs the long forms
	racing              // -short with the race detector
)

func (d depth) String() string { return [...]string{"short", "full", "race"}[d] }

// program is a test binary that has all mutants of a target.
type program struct {
	target
	root, file, tmp string
	depth           depth
	tests           []test
}

// test is one test, or a part of one, and what it reaches.
type test struct {
	name    string // as -test.run says it
	cpu     time.Duration
	reached map[int]bool
}

// build compiles the tests of a target with all its mutants.
func build(ctx context.Context, root string, t target, s *source, d depth) (*program, error) {
	tmp, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, err
	}
	p := &program{target: t, root: root, tmp: tmp, file: filepath.Join(tmp, "mutants.test"), depth: d}
	list, err := overlay(root, s, tmp)
	if err != nil {
		return nil, err
	}
	if p.target.tests == "" {
		p.target.tests = t.dir
	}
	args := []string{"test", "-c", "-vet=off", "-overlay", list, "-o", p.file}
	if d == racing {
		args = append(args, "-race")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./"+p.target.tests)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: go test -c: %w\n%s", t.name, err, out)
	}
	return p, nil
}

// outcome is how a run of tests ended.
type outcome struct {
	cpu    time.Duration
	passed bool
	why    string // it did not pass
	output []byte
}

// Who does not end is killed: after so much processor time by the shell, or after so much
// real time.
const (
	mostCPU  = 10 * time.Second
	mostReal = 4 * time.Minute
)

// drawn is how many designs are judged whose choices are drawn: enough that each edge of a throttle meets
// each boundary.
const drawn = "48"

// start runs tests, with the variables of the hook.
func (p *program) start(ctx context.Context, run string, usual time.Duration, env ...string) outcome {
	ctx, cancel := context.WithTimeout(ctx, mostReal+10*usual)
	defer cancel()
	limit := int((mostCPU + 4*usual).Seconds())
	args := []string{"-c", fmt.Sprintf(`ulimit -t %d; exec "$@"`, limit), "sh",
		p.file, "-test.run=" + run, "-test.v", "-test.timeout=0", "-test.failfast"}
	if p.depth != full {
		args = append(args, "-test.short")
		env = append(env, prove.Drawn+"="+drawn)
	} else {
		env = append(env, "ESCAPEMENT_PROVE=1")
	}
	cmd := exec.CommandContext(ctx, "sh", args...)
	cmd.Dir = filepath.Join(p.root, p.target.tests)
	// What a process leaves of a schedule that ended it is not for the next one to report.
	cmd.Env = append(append(os.Environ(), "TMPDIR="+p.tmp), env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return outcome{why: err.Error()}
	}
	o := outcome{cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), passed: err == nil, output: out}
	if err != nil {
		o.why = because(out)
		if ctx.Err() != nil || o.cpu.Seconds() >= float64(limit) {
			o.why = "does not end"
		}
	}
	return o
}

var failed = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)`)

// because is what killed a run: the first rule that is broken, a panic, or a test.
func because(out []byte) string {
	for _, line := range bytes.Split(out, []byte("\n")) {
		if rule, ok := strings.CutPrefix(string(line), found); ok {
			return rule
		}
		if bytes.HasPrefix(line, []byte("panic: ")) || bytes.HasPrefix(line, []byte("fatal error: ")) {
			return oneLine(string(line))
		}
	}
	deepest := ""
	for _, match := range failed.FindAllSubmatch(out, -1) {
		if name := string(match[1]); strings.Count(name, "/") > strings.Count(deepest, "/") || deepest == "" {
			deepest = name
		}
	}
	return deepest
}

// measure runs each test without a mutant, and notes what it reaches and what it costs.
func (p *program) measure(ctx context.Context) error {
	names, err := p.list(ctx)
	if err != nil {
		return err
	}
	for i, name := range names {
		record := filepath.Join(p.tmp, fmt.Sprintf("reached%d", i))
		o := p.start(ctx, name, mostReal, recordVariable+"="+record)
		if !o.passed {
			return fmt.Errorf("%s: %s fails without a mutant: %s\n%s", p.name, name, o.why, o.output)
		}
		text, err := os.ReadFile(record)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		t := test{name: name, cpu: o.cpu, reached: map[int]bool{}}
		for _, line := range strings.Fields(string(text)) {
			n, err := strconv.Atoi(line)
			if err != nil {
				return err
			}
			t.reached[n] = true
		}
		if len(t.reached) > 0 {
			p.tests = append(p.tests, t)
		}
	}
	slices.SortStableFunc(p.tests, func(a, b test) int { return int(a.cpu - b.cpu) })
	return nil
}

var began = regexp.MustCompile(`(?m)^=== RUN +(\S+)$`)

// list returns the tests of the target as -test.run wants them.
func (p *program) list(ctx context.Context) ([]string, error) {
	cmd := exec.CommandContext(ctx, p.file, "-test.list="+p.run)
	cmd.Dir = filepath.Join(p.root, p.target.tests)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: -test.list: %w", p.name, withStderr(err))
	}
	var names []string
	for _, name := range strings.Fields(string(out)) {
		names = append(names, "^"+regexp.QuoteMeta(name)+"$")
	}
	if !p.parts {
		return names, nil
	}
	var parts []string
	o := p.start(ctx, p.run, mostReal)
	if !o.passed {
		return nil, fmt.Errorf("%s fails without a mutant: %s\n%s", p.name, o.why, o.output)
	}
	for _, match := range began.FindAllSubmatch(o.output, -1) {
		if test, part, ok := strings.Cut(string(match[1]), "/"); ok && !strings.Contains(part, "/") {
			parts = append(parts, "^"+regexp.QuoteMeta(test)+"$/^"+regexp.QuoteMeta(part)+"$")
		}
	}
	return parts, nil
}

// try runs the tests that reach a mutant, the cheapest first, until one fails.
func (p *program) try(ctx context.Context, n int) verdict {
	v := verdict{Status: unreached}
	for _, t := range p.tests {
		if !t.reached[n] {
			continue
		}
		v.Status = survived
		o := p.start(ctx, t.name, t.cpu, numberVariable+"="+strconv.Itoa(n))
		if ctx.Err() != nil {
			return verdict{}
		}
		if !o.passed {
			return verdict{Status: "killed " + p.depth.String(), By: o.why}
		}
	}
	return v
}
