package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// event is a line of go test -json.
type event struct {
	Action, Package, Test, Output string
	ImportPath                    string // of build output
}

// readEvents reads the lines of go test -json. A line that is no event is kept as output.
func readEvents(r io.Reader, to chan<- event) {
	defer close(to)
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) != nil {
				e = event{Action: "output", Output: line}
			}
			to <- e
		}
		if err != nil {
			return
		}
	}
}

// tests is what go test says besides the reports.
type tests struct {
	order  []string // tests by package and name, in the order in which they came
	output map[string]*strings.Builder
	ended  map[string]string // how each ended
}

// id names a test of a package; a package itself has no test.
func id(pkg, test string) string { return pkg + " " + test }

// add takes an event in.
func (t *tests) add(e event) {
	if t.output == nil {
		t.output, t.ended = map[string]*strings.Builder{}, map[string]string{}
	}
	key := id(e.Package, e.Test)
	if e.ImportPath != "" {
		key = id(e.ImportPath, "build")
	}
	switch e.Action {
	case "output", "build-output":
		if t.output[key] == nil {
			t.output[key] = &strings.Builder{}
			t.order = append(t.order, key)
		}
		t.output[key].WriteString(e.Output)
	case "pass", "fail", "skip":
		t.ended[key] = e.Action
	case "build-fail":
		t.ended[key] = "fail"
	}
}

// noise are lines that say nothing which the tables do not say.
var noise = regexp.MustCompile(`^(\s*(=== |--- )|PASS$|FAIL$|(FAIL|ok|exit status)\s|\?\s|coverage: )|` +
	`^\s+\S+: conformance: (begin with|what is inconclusive is so because) |^\s+on [a-z]+=\S+ .*\|`)

// earlier is what a test says of the process of an earlier run, which is no failure of this one.
var earlier = regexp.MustCompile(`(?m)^conformance: (the process of an earlier run of .*\n(?:.*\n)??replay: .*\n)`)

func (t *tests) failsBelow(key string) bool {
	for other, ended := range t.ended {
		if ended == "fail" && strings.HasPrefix(other, key+"/") {
			return true
		}
	}
	return false
}

// printRest prints what failed and is told by no report: builds, panics, other tests.
func (t *tests) printRest(w io.Writer, all []*report) {
	told, lines := map[string]bool{}, []string{}
	judges := map[string]bool{}
	for _, r := range all {
		judges[id(r.Package, r.Test)] = true
		lines = append(lines, "conformance: "+cmp.Or(r.said, r.String()))
		for _, v := range r.Verdicts {
			told[id(r.Package, r.Test+"/"+v.Rule)] = v.Text != ""
		}
	}
	known := func(line string) bool {
		inReport := func(s string) bool { return strings.HasSuffix(line, s) }
		return noise.MatchString(line) || slices.ContainsFunc(lines, inReport)
	}
	for _, key := range t.order {
		pkg, test, _ := strings.Cut(key, " ")
		unended := test != "" && t.ended[key] == "" && t.ended[id(pkg, "")] == "fail"
		if told[key] || t.ended[key] != "fail" && !unended || t.failsBelow(key) && !judges[key] {
			continue
		}
		said := t.output[key].String()
		for _, note := range earlier.FindAllStringSubmatch(said, -1) {
			fmt.Fprintf(w, "\nnote: %s", printable(note[1]))
		}
		text := strings.Split(strings.TrimRight(earlier.ReplaceAllString(said, ""), "\n"), "\n")
		text = slices.DeleteFunc(text, known)
		if len(text) > 0 && strings.TrimSpace(strings.Join(text, "")) != "" {
			fmt.Fprintf(w, "\n--- FAIL: %s\n%s\n", strings.TrimSpace(key), printable(strings.Join(text, "\n")))
		}
	}
}
