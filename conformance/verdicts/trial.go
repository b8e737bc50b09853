package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
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
	taken        int      // of all
	broke        []string // what each that was tried breaks, in words; nil if nothing was run

	text bytes.Buffer // what the run of the one that is taken prints
}

// run tries one after the other, until one breaks no rule.
func (t *trial) run(stderr io.Writer) error {
	fewest := -1
	var best *judged
	for i, a := range t.all {
		j, err := t.try(a, stderr)
		if err != nil {
			return err
		}
		broken := j.broken()
		t.broke = append(t.broke, inOne(broken))
		own := slices.DeleteFunc(slices.Clone(broken), func(rule string) bool { return strings.HasPrefix(rule, "X-") })
		if weight := len(own)<<16 + len(broken); fewest < 0 || weight < fewest { // its own laws count first
			fewest, t.taken, best = weight, i, j
		}
		if len(broken) == 0 {
			break
		}
	}
	if err := os.WriteFile(t.file, t.all[t.taken].source(), 0o666); err != nil {
		return err
	}
	return t.finish(best, "^"+t.all[t.taken].test()+"$", stderr)
}

// try runs the test that is written for one. Where the process has died of what New began, none is made without a
// duration the next time, unless that dies too.
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
		if len(a.lacking) > 0 || !a.needDurations() {
			a.lines = without
			return j, nil
		}
	}
}

// finish writes the traits and the page, if that is asked for.
func (t *trial) finish(j *judged, tests string, stderr io.Writer) error {
	if t.o.writeTraits {
		if err := writeTraits(t.file, j.reports); err != nil {
			return err
		}
		var err error
		if j, err = t.judge(tests, stderr); err != nil {
			return err
		}
	}
	t.text = j.text
	if t.o.html == "" {
		return nil
	}
	return writePage(t.o.html, "Verdicts", ordered(j.reports))
}

// again runs the tests of a file that is there, and writes their traits.
func (t *trial) again(stdout, stderr io.Writer) error {
	tests, err := testsIn(t.file)
	if err != nil {
		return err
	}
	j, err := t.judge(tests, stderr)
	if err != nil {
		return err
	}
	if err := t.finish(j, tests, stderr); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "wrote the traits into %s\n\nIt was run again. The result:\n\n%s", t.file, &t.text)
	return nil
}

// judged is what came of a run.
type judged struct {
	reports []*report
	text    bytes.Buffer
}

// judge runs tests.
func (t *trial) judge(tests string, stderr io.Writer) (*judged, error) {
	j := &judged{}
	w, _, err := verdicts(&options{run: tests, packages: []string{t.folder}}, &j.text, stderr)
	if err != nil {
		return nil, err
	}
	j.reports = w.reports
	return j, nil
}

// broken are the rules that fail, and those that wait for a choice of which no value explains what was seen.
func (j *judged) broken() []string {
	var out []string
	for _, r := range j.reports {
		for _, v := range r.Verdicts {
			if v.Status == conformance.Fail {
				out = append(out, v.Rule)
			}
		}
		for _, d := range r.Decisions {
			if d.Value == "" {
				out = append(out, d.Rule)
			}
		}
	}
	if len(j.reports) == 0 {
		out = append(out, "nothing, as nothing was judged")
	}
	return out
}

// inOne names a few rules.
func inOne(rules []string) string {
	switch n := len(rules); {
	case n == 0:
		return "no rule"
	case n > 3:
		return enumerated(append(slices.Clone(rules[:3]), fmt.Sprintf("%d more", n-3)))
	}
	return enumerated(rules)
}

// tell says what was written, and what came of it.
func (t *trial) tell(out io.Writer) {
	fmt.Fprintf(out, "wrote %s\n", t.file)
	if t.o.html != "" {
		fmt.Fprintf(out, "wrote %s\n", t.o.html)
	}
	for _, s := range t.all[t.taken].assumed {
		fmt.Fprintf(out, "assumed: %s\n", s)
	}
	for _, s := range t.all[t.taken].lacking {
		fmt.Fprintf(out, "not complete: %s\n", s)
	}
	for _, s := range t.all[t.taken].asked {
		fmt.Fprintf(out, "asked: %s\n", s)
	}
	const most = 3 // to pick from
	others := 0
	for i, a := range t.all {
		if i != t.taken {
			others++
		}
		if others == most {
			break
		}
		say := "say -contract " + a.c.pkg
		if a.kind != "" && a.c == t.all[t.taken].c {
			say = "set Kind: quotatest." + a.kind
		}
		switch by := (choice{a.c, a.kind}).String(); {
		case i < len(t.broke) && i != t.taken:
			fmt.Fprintf(out, "tried: by %s it breaks %s; if that is its contract, %s\n", by, t.broke[i], say)
		case i != t.taken:
			fmt.Fprintf(out, "its contract may be %s: then %s\n", by, say)
		}
	}
	if t.o.writeTraits {
		fmt.Fprintln(out, "Its traits were observed: check that each is what you mean.")
	} else {
		fmt.Fprintln(out, "The subtest TRAITS prints the traits to paste; -write-traits puts them into the test.")
	}
	if t.broke != nil {
		fmt.Fprintf(out, "\nIt was run once. The result:\n\n%s", &t.text)
	}
}
