package main

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"sync"
)

// hinter reads what go test prints, and says what to do about errors of the compiler that come of rewriting.
type hinter struct {
	mu       sync.Mutex
	packages []string
}

// mixed is an error of the compiler about a value of ours that is handed to a package that is not rewritten.
var mixed = regexp.MustCompile(`cannot use .*interleave/shim/.* argument to ([\w./-]+)\.\w+`)

type tee struct {
	h  *hinter
	to io.Writer
}

func (h *hinter) tee(to io.Writer) io.Writer { return tee{h, to} }

func (t tee) Write(p []byte) (int, error) {
	t.h.mu.Lock()
	defer t.h.mu.Unlock()
	for _, line := range bytes.Split(p, []byte("\n")) {
		if m := mixed.FindSubmatch(line); m != nil {
			t.h.packages = append(t.h.packages, string(m[1]))
		}
	}
	return t.to.Write(p)
}

func (h *hinter) print(to io.Writer) {
	for _, p := range h.packages {
		fmt.Fprintf(to, "weave: %s is not rewritten, and takes a lock or timer of a package that is: add -with %s\n", p, p)
	}
}
