package main

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/escapement-go/escapement/conformance"
)

const head = `<!-- Made by: go run ./findings -->

# Findings

What the suite says of published libraries, unmodified, at the versions named. A *defect* breaks what the library's own
documents promise, or what nobody can want; a *choice* is behaviour that its documents do not mention and that some may
rely on. That a fake clock differs from package time may be what its authors chose: few of those findings are sorted. The
same as pages with timelines, attached to each release: verdicts.html, recent/verdicts.html for those that need a recent
Go, and redis.html for what shares a Redis server.

`

// item is a finding and what is said of it.
type item struct {
	report judgement
	v      conformance.Verdict
	note   note
	sorted bool // a note says what it is
}

// key is the same for one finding on another source of time.
func (it item) key() string { return it.report.Contract + it.report.Name + it.v.Rule }

// rank is the place of a report: clocks come last, as nobody has sorted what they do.
func rank(r judgement) int {
	order := []string{"debouncer", "throttle", "limiter", "quota", "leaky bucket", "concurrency", "batcher", "clock"}
	return slices.Index(order, r.Contract)
}

// items are the findings of a report.
func items(r judgement, notes []note) ([]item, error) {
	var out []item
	for _, v := range r.Verdicts {
		if v.Status == conformance.Pass || v.Status == conformance.Skip {
			continue
		}
		n, ok := find(notes, r.Name, v.Rule)
		if !ok && r.Contract != "clock" {
			return nil, fmt.Errorf("notes.txt says nothing of %s %s", r.Name, v.Rule)
		}
		out = append(out, item{r, v, n, ok})
	}
	return out, nil
}

// document is FINDINGS.md.
func document(reports []judgement, notes []note) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(head)
	slices.SortStableFunc(reports, func(a, b judgement) int { return rank(a) - rank(b) })
	all := map[judgement][]item{}
	clean := 0
	var first []item
	told := map[string]bool{} // what is told of the same library on another source of time
	for _, r := range reports {
		found, err := items(r, notes)
		if err != nil {
			return nil, err
		}
		all[r] = found
		if len(found) == 0 {
			clean++
		}
		for _, it := range found {
			if it.note.five && !told[it.key()] {
				first = append(first, it)
				told[it.key()] = true
			}
		}
	}
	fmt.Fprintf(&b, "%d implementations were judged by rules %s; %d break none.\n\n", len(reports), reports[0].Version, clean)
	b.WriteString("| implementation | judged as | time | passed | broken | skipped |\n|---|---|---|---|---|---|\n")
	for _, r := range reports {
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %s | %d |\n", r.Name, r.Contract, r.Time,
			r.Count(conformance.Pass), broken(all[r]), r.Count(conformance.Skip))
	}
	b.WriteString("\n## To look at first\n")
	for _, it := range first {
		fmt.Fprintf(&b, "\n**%s**: %s.\n\n```\n%s\n```\n", it.report.Name, it.v.Reason, withoutReplay(it.v.Text))
	}
	clear(told)
	for _, r := range reports {
		if len(all[r]) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s (%s, %s)\n\n", r.Name, r.Contract, r.Time)
		for _, it := range all[r] {
			if told[it.key()] {
				fmt.Fprintf(&b, "- **%s**: as above.\n", it.v.Rule)
				continue
			}
			told[it.key()] = true
			if err := it.write(&b); err != nil {
				return nil, err
			}
		}
	}
	return b.Bytes(), nil
}

// broken lists the rules of findings.
func broken(found []item) string {
	var rules []string
	for _, it := range found {
		rules = append(rules, it.v.Rule)
	}
	if len(rules) == 0 {
		return "none"
	}
	return strings.Join(rules, ", ")
}

// withoutReplay is a failure's text without its last line.
func withoutReplay(text string) string {
	text, _, _ = strings.Cut(text, "\nreplay: ")
	return strings.TrimSpace(text)
}

// write writes one finding.
func (it item) write(b *bytes.Buffer) error {
	fmt.Fprintf(b, "- **%s**", it.v.Rule)
	if it.sorted {
		fmt.Fprintf(b, " (%s)", it.note.class)
	}
	fmt.Fprintf(b, ": %s.", strings.TrimSuffix(it.v.Reason, "."))
	if it.note.issue != "" {
		fmt.Fprintf(b, " [%s](https://%s)", issueName(it.note.issue), it.note.issue)
	}
	if it.v.Schedule != "" {
		fmt.Fprintf(b, "\n  `%s`", it.v.Schedule)
	}
	b.WriteString("\n")
	if it.note.test == "" {
		return nil
	}
	if it.note.class != "defect" {
		file, err := it.report.tests.file(it.note.test)
		fmt.Fprintf(b, "  Shown by `%s` in [%s](%s).\n", it.note.test, file, path.Join(it.report.dir, file))
		return err
	}
	code, err := it.report.tests.alone(it.note.test)
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "  <details><summary>as an issue for its tracker</summary>\n\n")
	fmt.Fprintf(b, "  %s: %s.\n", it.report.Name, it.v.Reason)
	fmt.Fprintf(b, "  This test needs nothing but the library%s, and passes as long as that is so.\n\n", server(code))
	fmt.Fprintf(b, "  ```go\n%s  ```\n  </details>\n", indented(code))
	return nil
}

// server is what a test needs beside a library that asks a server.
func server(code string) string {
	if strings.Contains(code, "miniredis.") {
		return " and [miniredis](https://github.com/alicebob/miniredis), a server in memory"
	}
	return ""
}

// issueName is the short form of an issue's address: github.com/a/b/issues/1 is a/b#1.
func issueName(address string) string {
	name := strings.TrimPrefix(address, "github.com/")
	return strings.NewReplacer("/issues/", "#", "/pull/", "#", "go.dev/issue/", "golang/go#").Replace(name)
}

// indented indents code as part of a list.
func indented(code string) string {
	var b strings.Builder
	for line := range strings.Lines(code) {
		if strings.TrimSpace(line) != "" {
			b.WriteString("  ")
		}
		b.WriteString(line)
	}
	return b.String()
}
