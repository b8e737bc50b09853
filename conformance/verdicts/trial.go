package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/escapement-go/escapement/conformance"
)

// trial is the run of what init has written. Where a type may keep several contracts, that which it does keep is left:
// a type is not accused of breaking a promise that it may never have made.
type trial struct {
	file, folder string
	all          []*adapter
	o            *initOptions
	took         *adapter // of all
	changed      bool     // its traits were written
	paged        string   // what became of the page; empty if there is none
	judged       bool     // that run of the one that is taken
	guessed      bool     // each of several that were judged breaks rules of its own

	text bytes.Buffer // what the run of the one that is taken prints
}

// run tries one after the other, until one breaks no rule and asks for no decision.
func (t *trial) run(stderr io.Writer) error {
	fewest := math.MaxInt
	t.guessed = len(t.all) > 1
	var best *judged
	for _, a := range t.all {
		j, err := t.try(a, stderr)
		if err != nil {
			return err
		}
		if len(j.reports) == 0 {
			a.shown = "nothing was judged, as the test failed before or skipped"
			best = cmp.Or(best, j)
			continue
		}
		broken, open := j.shows()
		t.judged = true
		a.shown = "it breaks " + inOne(broken) + map[bool]string{true: " and leaves a decision open"}[open > 0]
		own := slices.DeleteFunc(broken, ofAny.MatchString)
		wrong := len(own) + open
		if slices.Contains(own, a.c.denial) {
			wrong += unlikely
		}
		if wrong < fewest {
			fewest, t.took, best = wrong, a, j
		}
		t.guessed = len(own) > 0 && t.guessed
		if fewest == 0 {
			break
		}
	}
	if err := os.WriteFile(t.file, t.took.source(), 0o666); err != nil {
		return err
	}
	return t.finish(best, "^"+t.took.test()+"$", stderr)
}

// unlikely is more than the rules that any contract has.
const unlikely = 1000

// ofAny are rules of any contract, which do not tell which it is.
var ofAny = regexp.MustCompile(`^(X-|TRAITS$)`)

// try runs the test that is written for one. Where the process has died of what New began, none is made without a
// duration or a count the next time, unless that dies too.
func (t *trial) try(a *adapter, stderr io.Writer) (*judged, error) {
	without := a.lines
	for {
		if err := os.WriteFile(t.file, a.source(), 0o666); err != nil {
			return nil, err
		}
		j, err := t.judge("^"+a.test()+"$", stderr)
		if err != nil || len(j.reports) > 0 {
			return j, err
		}
		if !a.needMore() {
			a.lines = without
			return j, nil
		}
	}
}

// finish writes the traits and the page, if that is asked for.
func (t *trial) finish(j *judged, tests string, stderr io.Writer) error {
	if t.o.writeTraits {
		var err error
		if t.changed, err = writeTraits(t.file, j.reports); t.changed && err == nil {
			j, err = t.judge(tests, stderr)
		}
		if err != nil {
			return err
		}
	}
	t.text = j.text
	if t.o.html == "" {
		return nil
	}
	_, err := os.Stat(t.o.html)
	t.paged = map[bool]string{true: "replaced", false: "wrote"}[err == nil]
	return writePage(t.o.html, "Verdicts", ordered(j.reports))
}

// again runs the tests of a file that is there, those of what was asked for if something was, and writes their traits.
func (t *trial) again(stdout, stderr io.Writer) error {
	tests, err := t.tests()
	if err != nil {
		return err
	}
	pattern := "^(" + strings.Join(tests, "|") + ")$"
	j, err := t.judge(pattern, stderr)
	if err == nil && len(j.reports) == 0 {
		err = fmt.Errorf("%s has no traits to write: nothing was judged\n%s", t.file, &j.text)
	}
	if err != nil {
		return err
	}
	if err := t.finish(j, pattern, stderr); err != nil {
		return err
	}
	said := "nothing to write into %s: each trait is declared or waits for a decision\n"
	if t.changed {
		said = "wrote the traits into %s\n"
	}
	fmt.Fprintf(stdout, said, t.file)
	t.tellPage(stdout)
	fmt.Fprintf(stdout, "\nIt was run again. The result:\n\n%s", &t.text)
	return nil
}

// tests are those of the file that make what was asked for: all, if nothing was.
func (t *trial) tests() (names []string, err error) {
	tests, err := testsIn(token.NewFileSet(), t.file, nil)
	if err != nil {
		return nil, err
	}
	var others []string
	for _, fn := range tests {
		own, foreign := t.makes(fn)
		if !own && len(foreign) > 0 {
			others = append(others, foreign...)
			continue
		}
		names = append(names, fn.Name.Name)
	}
	switch {
	case len(t.all) == 0 && len(names) == 0:
		return nil, fmt.Errorf("%s has no test", t.file)
	case len(t.all) == 0:
		return names, nil
	case len(names) == 0 && len(others) == 0:
		others = []string{"nothing"}
	case len(names) > 0 && t.o.writeTraits:
		return names, nil
	case len(names) > 0:
		return nil, fmt.Errorf("%s exists and tests %s: -write-traits inserts its traits; "+
			"delete it to have it written anew, or -o %s writes another file",
			t.file, t.all[0].name, t.another())
	}
	return nil, fmt.Errorf("%s exists and tests %s, not %s: use -o %s",
		t.file, enumerated(others), t.all[0].name, t.another())
}

// makes are the constructors that a test mentions: whether one is of what was asked for, and the others.
func (t *trial) makes(test ast.Node) (own bool, others []string) {
	if len(t.all) == 0 {
		return true, nil
	}
	a := t.all[0]
	for _, name := range a.pkg.types.Scope().Names() {
		isMaker := func(m *types.Func) bool { return m.Name() == name }
		switch {
		case !mentions(test, name):
		case name == a.name, slices.ContainsFunc(a.makers, isMaker):
			own = true
		case strings.HasPrefix(name, "New"):
			others = append(others, name)
		}
	}
	return own, others
}

// another is a file for what was asked for, beside the one that is there: one that tests it, or a new one.
func (t *trial) another() string {
	files, _ := filepath.Glob(filepath.Join(filepath.Dir(t.file), "*_conformance_test.go"))
	for _, file := range files {
		tests, _ := testsIn(token.NewFileSet(), file, nil)
		if slices.ContainsFunc(tests, func(fn *ast.FuncDecl) bool { own, _ := t.makes(fn); return own }) {
			return nearby(file)
		}
	}
	name := strings.ToLower(strings.TrimPrefix(t.all[0].name, "New"))
	name = cmp.Or(name, t.all[0].pkg.Name) + "_conformance_test.go"
	return nearby(filepath.Join(filepath.Dir(t.file), name))
}

// nearby is a path from the current folder, if it is in there.
func nearby(path string) string {
	here, _ := filepath.Abs(".") // "" is no folder that it is in
	return below(here, path)
}

// rename gives the tests names that no other of the folder has.
func (t *trial) rename() {
	there := texts(filepath.Join(t.folder, "*_test.go"))
	for _, a := range t.all {
		for n, name := 2, a.test(); strings.Contains(there, "func "+a.test()+"("); n++ {
			a.testName = fmt.Sprintf("%s_%d", name, n)
		}
	}
}

type judged struct {
	reports []*report
	text    bytes.Buffer
}

func (t *trial) judge(tests string, stderr io.Writer) (*judged, error) {
	j := &judged{}
	w, _, err := verdicts(&options{run: tests, packages: []string{t.folder}}, &j.text, stderr)
	if err != nil {
		return nil, err
	}
	j.reports = w.reports
	return j, nil
}

// shows are the rules that fail, and how many decisions are open, together with the rules that wait for them.
func (j *judged) shows() (broken []string, open int) {
	for _, r := range j.reports {
		open += len(r.Decisions)
		for _, v := range r.Verdicts {
			if v.Status == conformance.Fail {
				broken = append(broken, v.Rule)
			} else if v.Status == conformance.Undecided && !ofAny.MatchString(v.Rule) {
				open++
			}
		}
	}
	return broken, open
}

func inOne(rules []string) string {
	switch n := len(rules); {
	case n == 0:
		return "no rule"
	case n > 3:
		rules = append(slices.Clone(rules[:3]), fmt.Sprintf("%d more", n-3))
	}
	return enumerated(rules)
}

// tellPage says what the page shows.
func (t *trial) tellPage(out io.Writer) {
	if t.paged != "" {
		fmt.Fprintf(out, "%s %s: this run; go tool verdicts -html %[2]s ./... shows all tests\n", t.paged, t.o.html)
	}
}

// tell says what was written, and what came of it.
func (t *trial) tell(out io.Writer) {
	fmt.Fprintf(out, "wrote %s\n", t.file)
	t.tellPage(out)
	took := t.took
	if t.guessed && t.judged {
		fmt.Fprintf(out, "It breaks rules of every contract that was tried. %s is a guess: "+
			"set the one that its documentation promises.\n", took.choice)
	}
	for _, part := range []struct {
		name  string
		lines []string
	}{{"assumed", took.assumed}, {"not complete", took.lacking}, {"asked", took.asked}} {
		for _, line := range part.lines {
			fmt.Fprintf(out, "%s: %s\n", part.name, line)
		}
	}
	others := slices.DeleteFunc(slices.Clone(t.all), func(a *adapter) bool { return a == took })
	for _, a := range others[:min(len(others), 2)] { // three to pick from
		say := "delete " + filepath.Base(t.file) + " and say -contract " + a.c.pkg
		if a.kind != "" && a.c == took.c {
			say = "set Kind: quotatest." + a.kind
		}
		if a.shown != "" {
			fmt.Fprintf(out, "tried: by %s %s; if that is its contract, %s\n", a.choice, a.shown, say)
		} else {
			fmt.Fprintf(out, "its contract may be %s: then %s\n", a.choice, say)
		}
	}
	if t.o.writeTraits && t.judged {
		fmt.Fprintln(out, "Its traits were observed: check that each is what you mean.")
	}
	if took.shown == "" {
		how := map[bool]string{true: "; the subtest TRAITS prints the traits to paste",
			false: ": complete New, delete the t.Skip, and run it"}[len(took.lacking) == 0]
		fmt.Fprintf(out, "It was not run%s.\nnext: %s\n", how, t.command())
		return
	}
	what := map[bool]string{true: "The result", false: "Nothing was judged. What it printed"}[t.judged]
	fmt.Fprintf(out, "\nIt was run once. %s:\n\n%s", what, &t.text)
}

func (t *trial) command() string {
	folder := filepath.ToSlash(nearby(t.folder))
	if !filepath.IsAbs(folder) && folder != "." {
		folder = "./" + folder
	}
	page := map[bool]string{true: "-html " + t.o.html + " "}[t.o.html != "" && t.took.shown == ""]
	return fmt.Sprintf("go tool verdicts %s-run '^%s$' %s", page, t.took.test(), folder)
}
