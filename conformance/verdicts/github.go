package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/escapement-go/escapement/conformance"
)

// annotate prints a workflow command of GitHub Actions for each rule that fails, at the line of its spec: a path from
// the root. What could not be judged fails a test only where nothing else does.
func annotate(w io.Writer, all []*report, root string) {
	for _, r := range all {
		causes := r.causes()
		for _, c := range causes {
			if c.Status == conformance.Inconclusive && c.Status != causes[0].Status {
				break
			}
			for _, rule := range c.Rules {
				if v, _ := r.Verdict(rule); failing(&v) {
					text := v.Rule + ": " + v.Reason
					if v.Because != "" {
						text += "\n" + v.Law + "\nbecause " + v.Because
					}
					fmt.Fprintf(w, "::error %stitle=%s::%s\n", r.place(root),
						escapedProperty(v.Rule+" of "+r.Name), escapedMessage(text))
				}
			}
		}
	}
}

// place is where Run was called, as properties of a command; "" where that is not known.
func (r *report) place(root string) string {
	if r.Line == 0 {
		return ""
	}
	return fmt.Sprintf("file=%s,line=%d,", escapedProperty(filepath.ToSlash(below(root, r.File))), r.Line)
}

// below is a path from a folder, if it is in there.
func below(folder, path string) string {
	if rel, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// escapedMessage is a text as the message of a workflow command, which ends with its line.
func escapedMessage(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

// escapedProperty is a text as a property of a workflow command, which ends with a comma or colons.
func escapedProperty(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(escapedMessage(text))
}
