package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// hook is the function that says whether a mutant is the one to run.
const hook = "mutantIs"

// hookFile is what a package with mutants has besides its own files. The variables are read
// once; with a file to record to, the numbers of the mutants that the run reaches are
// written there and none of them is run.
const hookFile = `package %s

import (
	"os"
	"strconv"
	"sync/atomic"
)

var (
	mutantNumber, _ = strconv.Atoi(os.Getenv("%s"))
	mutantRecord    = mutantOpen(os.Getenv("%s"))
	mutantReached   [%d]atomic.Bool
)

func mutantOpen(name string) *os.File {
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		panic(err)
	}
	return f
}

func %s(n int) bool {
	if mutantRecord != nil && !mutantReached[n].Swap(true) {
		mutantRecord.WriteString(strconv.Itoa(n) + "\n")
	}
	return n == mutantNumber
}
`

// foundFile ends the process of a mutant as soon as a rule has found it.
const foundFile = `package inside

import (
	"fmt"
	"os"
)

func init() {
	Found = func(rule string) {
		fmt.Println("%s" + rule)
		os.Exit(1)
	}
}
`

// inside is the package to which that file is added, and found what it prints first.
const (
	inside = "conformance/internal/inside"
	found  = "mutant found by "
)

// The variables that the hook reads.
const (
	numberVariable = "MUTATE_NUMBER"
	recordVariable = "MUTATE_RECORD"
)

// rendered is the text of a file with all its sites built.
func (f *file) rendered() string {
	sites := slices.Clone(f.sites)
	slices.SortStableFunc(sites, func(a, b site) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return b.end - a.end
	})
	r := renderer{text: string(f.text), sites: sites}
	return r.until(0, len(f.text))
}

// renderer builds sites from the outside in; of those with one range, the first is the
// outermost.
type renderer struct {
	text  string
	sites []site
}

// until renders a range.
func (r *renderer) until(from, to int) string {
	var b strings.Builder
	for len(r.sites) > 0 && r.sites[0].end <= to {
		s := r.sites[0]
		r.sites = r.sites[1:]
		b.WriteString(r.text[from:s.start])
		b.WriteString(s.build(r.until(s.start, s.end)))
		from = s.end
	}
	b.WriteString(r.text[from:to])
	return b.String()
}

// overlay writes the files of a package with their mutants to a folder, and what the option
// -overlay of the go command reads. It returns that file.
func overlay(root string, s *source, dir string) (string, error) {
	replace := map[string]string{}
	write := func(name, path, text string) error {
		replace[path] = filepath.Join(dir, name)
		return os.WriteFile(replace[path], []byte(text), 0o666)
	}
	for _, f := range s.files {
		if err := write(f.name, f.path, f.rendered()); err != nil {
			return "", err
		}
	}
	const name = "mutant_hook.go"
	text := fmt.Sprintf(hookFile, s.pkg.Name(), numberVariable, recordVariable, s.made+1, hook)
	if err := write(name, filepath.Join(filepath.Dir(s.files[0].path), name), text); err != nil {
		return "", err
	}
	const end = "mutant_found.go"
	if err := write(end, filepath.Join(root, inside, end), fmt.Sprintf(foundFile, found)); err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	out := filepath.Join(dir, "overlay.json")
	return out, os.WriteFile(out, list, 0o666)
}
