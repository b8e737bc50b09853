package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/escapement-go/escapement/conformance"
)

// literal is what TRAITS prints to be pasted, behind a tab.
var literal = regexp.MustCompile(`(?s)\n\tTraits: \w+\.Traits\{\n.*?\n\t\},`)

// toPaste is the literal that a verdict says to paste, "" if it says none.
func toPaste(v conformance.Verdict) string {
	if v.Rule != "TRAITS" {
		return ""
	}
	return strings.TrimSpace(literal.FindString(v.Text))
}

// writeTraits puts what TRAITS has printed into the specs of a file, and reports whether that changed it.
func writeTraits(path string, reports []*report) (changed bool, err error) {
	before, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	text := before
	for _, r := range reports {
		for _, v := range r.Verdicts {
			traits := toPaste(v)
			if traits == "" {
				continue
			}
			if text, err = withTraits(text, r.Test, traits); err != nil {
				return false, fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	return !bytes.Equal(text, before), os.WriteFile(path, text, 0o666)
}

// Comments that init writes where traits are to come.
const (
	noTraits   = "// Traits: left out at first; the subtest TRAITS prints the literal to paste.\n"
	someTraits = "// The subtest TRAITS prints the rest of the literal.\n"
)

// withTraits is the text of a file in which the spec of a test has other traits.
func withTraits(text []byte, test, traits string) ([]byte, error) {
	for _, comment := range []string{noTraits, someTraits} {
		text = bytes.Replace(text, []byte(comment), nil, 1)
	}
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(test, "/")
	spec, err := specOf(f, name)
	if err != nil {
		return nil, err
	}
	from, to := files.Position(spec.Rbrace).Offset, files.Position(spec.Rbrace).Offset
	for _, e := range spec.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if key, isName := kv.Key.(*ast.Ident); ok && isName && key.Name == "Traits" {
			from, to = files.Position(kv.Pos()).Offset, files.Position(kv.End()).Offset
			traits = strings.TrimSuffix(commentedAs(traits, string(text[from:to])), ",")
		}
	}
	if from == to {
		traits += "\n"
	}
	text = slices.Concat(text[:from], []byte(traits), text[to:])
	for _, declared := range declares.FindAllStringSubmatch(traits, -1) {
		text = regexp.MustCompile(`\n\t*// declare `+declared[1]+`\b.*`).ReplaceAll(text, nil)
	}
	if usesTime(traits) && !bytes.Contains(text, []byte(`"time"`)) {
		text = bytes.Replace(text, []byte("import ("), []byte("import (\n\"time\""), 1)
	}
	return format.Source(text)
}

// usesTime reports whether a field of a literal, which is no more than its comments' word, has a value of package time.
func usesTime(traits string) bool {
	e, err := parser.ParseExpr("T{" + strings.TrimSuffix(strings.TrimSpace(traits), ",") + "}")
	return err == nil && mentions(e, "time")
}

// declares matches a trait that a literal has, and not only as a comment.
var declares = regexp.MustCompile(`(?m)^\s*(\w+): `)

// commentedAs is a literal whose lines have the comments that they have in an older one.
func commentedAs(traits, older string) string {
	comments := map[string]string{}
	for line := range strings.Lines(older) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		if _, comment, ok := strings.Cut(rest, " // "); ok {
			comments[name] = strings.TrimSpace(comment)
		}
	}
	lines := strings.Split(traits, "\n")
	for i, line := range lines {
		name, _, _ := strings.Cut(strings.TrimSpace(line), ":")
		if comment := comments[name]; comment != "" && !strings.Contains(line, "//") {
			lines[i] += " // " + comment
		}
	}
	return strings.Join(lines, "\n")
}

// testsIn are the tests of a file.
func testsIn(f *ast.File) []*ast.FuncDecl {
	var tests []*ast.FuncDecl
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
			tests = append(tests, fn)
		}
	}
	return tests
}

// mentions reports whether a name stands for something in a part of a file, and is not that of a field.
func mentions(part ast.Node, name string) bool {
	found := false
	ast.Inspect(part, func(n ast.Node) bool {
		if field, ok := n.(*ast.KeyValueExpr); ok {
			found = found || mentions(field.Value, name)
			return false
		}
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return !found
	})
	return found
}

// specOf is the spec in a test.
func specOf(f *ast.File, test string) (*ast.CompositeLit, error) {
	var specs []*ast.CompositeLit
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name != test {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			if lit, ok := n.(*ast.CompositeLit); ok {
				if of, ok := lit.Type.(*ast.SelectorExpr); ok && of.Sel.Name == "Spec" {
					specs = append(specs, lit)
				}
			}
			return true
		})
	}
	if len(specs) != 1 {
		return nil, fmt.Errorf("%d specs in %s, want one: paste what TRAITS prints", len(specs), test)
	}
	return specs[0], nil
}
