package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// weaver is one use of the command.
type weaver struct {
	with     []string // packages beyond those of the main modules
	patterns []string // packages to test
	flags    []string // those of the build, for go list too
	rest     []string // the other flags of go test
	args     []string // from -args on
	env      []string
	out, err io.Writer

	byPath  map[string]*listed
	targets []*listed
}

func main() {
	if len(os.Args) > 3 && os.Args[1] == "-tool" { // by the go command
		os.Exit(tool(os.Args[2:]))
	}
	w := &weaver{env: os.Environ(), out: os.Stdout, err: os.Stderr}
	err := w.parse(os.Args[1:])
	if err == nil {
		err = w.prepare()
	}
	if err != nil {
		os.Exit(complain(err))
	}
	os.Exit(w.test())
}

// complain prints an error and returns the exit code.
func complain(err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "weave:", err)
	return 2
}

// parse takes the command line apart.
func (w *weaver) parse(args []string) error {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if !strings.HasPrefix(arg, "-") {
			w.patterns = append(w.patterns, arg)
			continue
		}
		name, value, has := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if name == "args" {
			w.args = append([]string{"-args"}, args...)
			break
		}
		if name == "h" || name == "help" {
			fmt.Fprint(os.Stderr, usage)
			os.Exit(0)
		}
		if name == "overlay" || name == "modfile" {
			return fmt.Errorf("-%s: weave needs that flag itself", name)
		}
		if !has && !slices.Contains(booleans, name) {
			if len(args) == 0 {
				return fmt.Errorf("-%s needs a value", name)
			}
			value, args = args[0], args[1:]
		}
		flag := "-" + name
		if has || !slices.Contains(booleans, name) {
			flag += "=" + value
		}
		switch {
		case name == "with":
			w.with = append(w.with, strings.Split(value, ",")...)
		case name == "C":
			if err := os.Chdir(value); err != nil {
				return err
			}
			w.env = append(w.env, "PWD=")
		case slices.Contains(building, name):
			w.flags = append(w.flags, flag)
		default:
			w.rest = append(w.rest, flag)
		}
	}
	if len(w.patterns) == 0 {
		w.patterns = []string{"."}
	}
	return nil
}

// booleans are the flags of go test that take no value, and building those that go list must know.
var (
	booleans = strings.Fields("a n v x i c race msan asan cover work trimpath linkshared modcacherw buildvcs " +
		"benchmem failfast json short fullpath artifacts test.v test.short test.failfast test.benchmem")
	building = strings.Fields("tags mod race msan asan trimpath compiler gccgoflags buildvcs")
)

const usage = `usage: weave [-with path]... [flags of go test] [packages]

weave runs go test with the packages of the main module rewritten for package interleave, and with -with those of
dependencies too. Nothing is changed on disk.
`

// test runs go test.
func (w *weaver) test() int {
	args := []string{"test"}
	if !slices.ContainsFunc(w.rest, func(f string) bool { return strings.HasPrefix(f, "-vet=") }) {
		args = append(args, "-vet=off") // what it would read is not what was written
	}
	args = slices.Concat(args, w.flags, w.rest, w.patterns, w.args)
	cmd := exec.Command("go", args...)
	// For the line that replays an interleaving.
	cmd.Env = w.env
	if len(w.with) > 0 {
		cmd.Env = append(slices.Clone(w.env), "ESCAPEMENT_WEAVE=-with "+strings.Join(w.with, ","))
	}
	hint := &hinter{}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, hint.tee(w.out), hint.tee(w.err)
	err := cmd.Run()
	hint.print(w.err)
	if exit, ok := err.(*exec.ExitError); ok {
		return max(1, exit.ExitCode())
	}
	return complain(err)
}
