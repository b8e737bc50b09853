// Verdicts runs the tests that use the conformance suite, shows their progress, and then
// the verdicts: one table for each contract, each failure once.
//
//	go run github.com/escapement-go/escapement/conformance/verdicts ./...
//
// It runs go test with the packages named, those below the current folder by "./...", and
// ends as go test does. Tests named TestConformance... are run; -run selects others. The
// flags -race, -short, -count, -tags, -timeout, -skip, -cpu and -p are those of go test, which
// reads GOFLAGS too.
//
// Flags of its own:
//
//	-github       print an annotation of GitHub Actions for each rule that fails, at the line that calls Run
//	-html file    write a page with tables, timelines and schedules to file
//	-interleave   try every order of calls at one instant, up to a bound; otherwise it is left to chance
//	-with path    with -interleave, rewrite this package of a dependency too, and those below it
//	-json         print each report as a line of JSON as it comes, and nothing else
//	-title text   the heading of the page
//	-v            print what each implementation skips, and why
//
// Counts of rules include the subtests CANARY, which proves that time comes from where the spec says, and TRAITS.
//
// With -interleave the command weave of package interleave runs the tests. It rewrites the packages of the main
// module, and a dependency's only if -with names it.
//
// The page is one file without scripts, byte for byte the same for the same verdicts: it has
// neither durations nor the Go release. On a terminal the last line shows the progress.
// NO_COLOR and TERM=dumb are honoured. Only the file of -html is written.
//
// The exit status is
//
//	0   every test that was run passed, and one of them ran the suite; rules may be skipped or known to fail
//	1   a rule fails, a decision is open, or another test or a build failed; or nothing was judged
//	2   the arguments make no sense
//
// # In CI
//
// With -github the last lines are workflow commands, one for each rule that fails, the most telling first; GitHub shows
// them in the diff of a pull request, up to ten for a step:
//
//	steps:
//	- run: go tool verdicts -github -html verdicts.html ./...
//	- uses: actions/upload-artifact@v4
//	  if: always()
//	  with: {name: verdicts, path: verdicts.html}
//
// With -json these lines are written to standard error. Each report has the file and the line that called Run.
//
// Each rule is a subtest of its name, so converters from go test -json to JUnit's XML make each rule a test case. Its
// text is the failure, which from Go 1.25 on comes after two lines that begin with === ATTR; the message is what the
// converter calls every failure, such as "Failed":
//
//	go test -json -run '^TestConformance' ./... >events.json
//	go-junit-report -parser gojson -in events.json -out junit.xml
//
// or, in one command,
//
//	gotestsum --junitfile junit.xml -- -run '^TestConformance' ./...
//
// Skipped rules are skipped there too, with the reason. With ESCAPEMENT_REPORT=reports.jsonl the same run also
// writes the reports that -json prints.
//
// # Writing the test
//
// The subcommand init inspects a type and writes the test that judges it:
//
//	go run github.com/escapement-go/escapement/conformance/verdicts init ./mine.Debouncer
//
//	-contract package   the contract, such as limitertest; otherwise it is derived from names and signatures
//	-o file             the file to write, and not to run, unless -html or -write-traits is given;
//	                    without -o it is conformance_test.go, which is run once, if it is complete. A name without a
//	                    folder goes beside the type, or here if that is in another module
//	-html file          write a page on that run to file, overwriting an existing file; verdicts -html shows all tests
//	-write-traits       insert the observed traits into the test, also into an existing one
//
// A second type of a package needs -o with another file; init prints the command that runs it. Instead of a type,
// -write-traits takes a test file:
//
//	go tool verdicts init -write-traits conformance_test.go
//
// It never changes a declared trait. If a fix changes behaviour, delete the line of that trait first, and run it again.
//
// The exit status of init is 0 if the test was written, and run if it is to be, whatever the verdicts are:
// verdicts is what fails in CI. It is 1 if no test could be written, or an existing file judged nothing, and 2 if the
// arguments make no sense.
//
// In a module that has no requirement yet, go get -tool github.com/escapement-go/escapement/conformance/verdicts
// records it, for the tests too, and go tool verdicts is the command.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"time"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

type options struct {
	html, title   string
	json, verbose bool
	interleave    bool
	github        bool
	run           string
	with          []string // packages of dependencies, for -interleave
	passed        []string // flags for go test
	packages      []string
}

// Flags that are passed to go test as they are: those with a value, and switches.
var (
	testFlags    = []string{"count", "tags", "timeout", "skip", "cpu", "p"}
	testSwitches = []string{"race", "short"}
)

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	fs := flag.NewFlagSet("verdicts", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprint(stderr, "usage: verdicts [flags] [packages]\n       verdicts init [flags] package.Type\n\n")
		fs.PrintDefaults()
		fmt.Fprint(stderr, "\ninit inspects a type and writes the test that judges it. Its flags:\n\n")
		of, _ := initFlags(stderr)
		of.PrintDefaults()
	}
	fs.StringVar(&o.html, "html", "", "write a page to this `file`")
	fs.StringVar(&o.title, "title", "Verdicts", "the heading of the page")
	fs.BoolVar(&o.json, "json", false, "print each report as a line of JSON")
	fs.BoolVar(&o.github, "github", false, "print an annotation of GitHub Actions for each rule that fails")
	fs.BoolVar(&o.verbose, "v", false, "print what is skipped, and why")
	fs.BoolVar(&o.interleave, "interleave", false, "try every order of calls at one instant, up to a bound")
	add := func(to *[]string, name string) func(string) error {
		return func(value string) error {
			*to = append(*to, "-"+name+"="+value)
			return nil
		}
	}
	fs.Func("with", "with -interleave, rewrite this package of a dependency too", add(&o.with, "with"))
	fs.StringVar(&o.run, "run", "^TestConformance", "the tests to run, as in go test")
	for _, name := range testFlags {
		fs.Func(name, "as in go test", add(&o.passed, name))
	}
	for _, name := range testSwitches {
		fs.BoolFunc(name, "as in go test", add(&o.passed, name))
	}
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if len(o.with) > 0 && !o.interleave {
		fmt.Fprintln(stderr, "verdicts: -with is for -interleave")
		return nil, errUsage
	}
	if o.packages = fs.Args(); len(o.packages) == 0 {
		o.packages = []string{"."}
	}
	return o, nil
}

var errUsage = errors.New("usage")

// usageFailed is the exit code for arguments that make no sense, as the go command has it.
const usageFailed = 2

func run(args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == "init" {
		return initialize(args[1:], stdout, stderr)
	}
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return usageFailed
	}
	_, code, err := verdicts(o, stdout, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "verdicts:", err)
		return 1
	}
	return code
}

// verdicts runs the tests and prints what came of them. The code is that to exit with.
func verdicts(o *options, stdout, stderr io.Writer) (*watcher, int, error) {
	folder, err := os.MkdirTemp("", "verdicts-")
	if err != nil {
		return nil, 1, err
	}
	defer os.RemoveAll(folder)
	w := newWatcher(folder, o, stdout, stderr)
	code, err := judge(o, w, stderr)
	if err != nil {
		return nil, 1, err
	}
	all, rest := ordered(w.reports), stderr
	if !o.json {
		printAll(stdout, all, o, w.screen)
		rest = stdout
	}
	w.tests.printRest(rest, all)
	if o.github {
		here, _ := os.Getwd()
		defer annotate(rest, all, cmp.Or(os.Getenv("GITHUB_WORKSPACE"), here))
	}
	switch {
	case len(all) == 0 && code != 0: // which was told above
		if w.tests.ended[id(".", "build")] != "" { // it has no Go files
			fmt.Fprintln(stderr, "verdicts: nothing was judged in . alone; ./... is all packages from here")
		}
		return w, code, nil
	case len(all) == 0:
		fmt.Fprintf(stderr, "verdicts: nothing was judged: no test that matches %s in %v ran the suite\n",
			o.run, o.packages)
		return w, 1, nil
	case !o.json:
		fmt.Fprintf(stdout, "\n%s\n%s\n", w.screen.wrap(summary(all), "    "), w.screen.wrap(orders(all), "    "))
	}
	if o.html != "" {
		if err := writePage(o.html, o.title, all); err != nil {
			return nil, 1, err
		}
		fmt.Fprintf(rest, "wrote %s\n", o.html)
	}
	return w, code, nil
}

// weave runs go test with packages rewritten.
const weave = "github.com/escapement-go/escapement/synctestcompat/interleave/weave"

// judge runs go test and watches it. It returns the exit code of go test.
func judge(o *options, w *watcher, stderr io.Writer) (int, error) {
	command := []string{"go", "test"}
	if o.interleave {
		command = append([]string{filepath.Join(w.files.path, "weave.exe")}, o.with...)
		build := exec.Command("go", "build", "-o", command[0], weave) // go run would say how it exits
		if build.Stderr = stderr; build.Run() != nil {
			return 1, nil
		}
	}
	args := slices.Concat(command[1:], []string{"-json", "-run", o.run}, o.passed, o.packages)
	cmd := exec.Command(command[0], args...)
	cmd.Env = append(os.Environ(), "ESCAPEMENT_REPORT="+w.files.path)
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	// go test is in the same group and is interrupted too: it ends, and then this does.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	lines := make(chan event)
	go readEvents(out, lines)
	tick := time.NewTicker(time.Second / 10)
	defer tick.Stop()
	for lines != nil {
		select {
		case e, ok := <-lines:
			w.tests.add(e)
			if !ok {
				lines = nil
			}
		case now := <-tick.C:
			w.look(now)
		}
	}
	err = cmd.Wait()
	w.finish()
	var exit *exec.ExitError
	if errors.As(err, &exit) && o.interleave {
		return 1, nil // weave exits with 2 where go test does with 1
	} else if exit != nil {
		return max(1, exit.ExitCode()), nil
	}
	return 0, err
}
