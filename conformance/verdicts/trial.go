package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/escapement-go/escapement/conformance"
)

// trial is the run of what init has written. Where a type may keep several contracts, that which it does keep is left:
// a type is not accused of breaking a promise that it may never have made.
type trial struct {
	file  string
	all   []*adapter
	taken int      // of them
	broke []string // what each that was tried breaks, in words; nil if nothing was run

	text bytes.Buffer // what the run of the one that is taken prints
}

// run tries one after the other, until one breaks no rule.
func (t *trial) run(stdout, stderr io.Writer) error {
	fewest := -1
	var texts []string
	for i, a := range t.all {
		if err := os.WriteFile(t.file, a.source(), 0o666); err != nil {
			return err
		}
		var text bytes.Buffer
		broken, err := try(a, &text, stderr)
		if err != nil {
			return err
		}
		texts = append(texts, text.String())
		t.broke = append(t.broke, inOne(broken))
		if fewest < 0 || len(broken) < fewest {
			fewest, t.taken = len(broken), i
		}
		if len(broken) == 0 {
			break
		}
	}
	t.text.WriteString(texts[t.taken])
	return os.WriteFile(t.file, t.all[t.taken].source(), 0o666)
}

// try runs a test, prints what comes, and returns the rules that fail.
func try(a *adapter, out, stderr io.Writer) (broken []string, err error) {
	o := &options{run: "^" + a.test() + "$", packages: []string{a.pkg.folder()}}
	w, _, err := verdicts(o, out, stderr)
	if err != nil {
		return nil, err
	}
	for _, r := range w.reports {
		for _, v := range r.Verdicts {
			if v.Status == conformance.Fail && v.Rule != "TRAITS" {
				broken = append(broken, v.Rule)
			}
		}
	}
	if len(w.reports) == 0 {
		broken = append(broken, "nothing was judged")
	}
	return broken, nil
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
	for _, s := range t.all[t.taken].assumed {
		fmt.Fprintf(out, "assumed: %s\n", s)
	}
	for i, a := range t.all {
		switch by := (choice{a.c, a.kind}).String(); {
		case i < len(t.broke) && i != t.taken:
			fmt.Fprintf(out, "tried: as one of %s it breaks %s; if it is meant to be one, say -contract %s\n",
				by, t.broke[i], a.c.pkg)
		case i != t.taken:
			fmt.Fprintf(out, "it may be one of %s too: then say -contract %s\n", by, a.c.pkg)
		}
	}
	fmt.Fprintln(out, "Traits are left out: the subtest TRAITS prints the literal to paste.")
	if t.broke != nil {
		fmt.Fprintf(out, "\nIt was run once. This is what came:\n\n%s", &t.text)
	}
}
