package main

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/escapement-go/escapement/conformance"
)

// An annotation stands at the line of the spec, its path from the root of the repository; what would end a command
// early is escaped.
func TestAnnotate(t *testing.T) {
	root := t.TempDir()
	r := bad
	r.File, r.Line, r.Name = filepath.Join(root, "a,b", "mine_test.go"), 12, "mine: 2"
	r.Verdicts = []conformance.Verdict{
		{Rule: "DB-ONE", Level: conformance.Core, Status: conformance.Fail, Reason: "fired at 100%,\nwant: once",
			Law: "A burst MUST fire once.", Because: "it is one"},
		{Rule: "DB-TIE", Level: conformance.Provisional, Status: conformance.Fail, Reason: "fails no test"},
		{Rule: "DB-KEY", Level: conformance.Core, Status: conformance.Pass},
		{Rule: "X-CONC", Level: conformance.Core, Status: conformance.Inconclusive, Reason: "it hangs", Text: "X-CONC"},
	}
	elsewhere := bad
	elsewhere.File, elsewhere.Line = "/elsewhere/x_test.go", 3
	var out bytes.Buffer
	annotate(&out, []*report{{Report: good}, {Report: r}, {Report: bad}, {Report: elsewhere}}, root)
	want := "::error file=a%2Cb/mine_test.go,line=12,title=DB-ONE of mine%3A 2" +
		"::DB-ONE: fired at 100%25,%0Awant: once%0AA burst MUST fire once.%0Abecause it is one\n" +
		"::error title=DB-ONE of bad::DB-ONE: fired twice\n" +
		"::error file=/elsewhere/x_test.go,line=3,title=DB-ONE of bad::DB-ONE: fired twice\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
}
