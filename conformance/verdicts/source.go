package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/escapement-go/escapement/conformance"
)

func (a *adapter) test() string {
	name := "TestConformance"
	if token.IsExported(a.name) {
		name += "_" + a.name
	}
	return cmp.Or(a.testName, name)
}

func (a *adapter) source() []byte {
	var b bytes.Buffer
	body := a.body()
	fmt.Fprintf(&b, "package %s\n\nimport (\n", a.pkg.testPackage())
	code := noCode.ReplaceAll(body, nil)
	var others []string // than those of the standard library
	for _, p := range slices.Sorted(maps.Keys(a.imports)) {
		name := a.imports[p]
		line := fmt.Sprintf("%q\n", p)
		if p == a.pkg.ImportPath && name != a.pkg.Name || p != a.pkg.ImportPath && name != path.Base(p) {
			line = name + " " + line
		}
		if !regexp.MustCompile(`\b` + name + `\.`).Match(code) { // of what was tried and left
			continue
		}
		if domain, _, _ := strings.Cut(p, "/"); strings.Contains(domain, ".") {
			others = append(others, line)
		} else {
			b.WriteString(line)
		}
	}
	fmt.Fprintf(&b, "\n%s)\n", strings.Join(others, ""))
	b.Write(body)
	text, err := format.Source(b.Bytes())
	if err != nil {
		return b.Bytes() // what could not be told is no Go
	}
	return text
}

// noCode are comments and texts.
var noCode = regexp.MustCompile(`//.*|"(\\.|[^"\\])*"`)

// body is what follows the imports.
func (a *adapter) body() []byte {
	var b bytes.Buffer
	params, field := fmt.Sprintf("env %s.Env, cfg %[1]s.Config", a.c.pkg), "New"
	if a.batched {
		field = "NewBatch"
	}
	switch {
	case a.c.pkg == "clocktest":
		params = "env clocktest.Env"
	case a.batched || a.c.pkg == "batchtest":
		params += ", " + a.c.made + " func([]int)"
	case a.c.made != "":
		params += ", " + a.c.made + " func(int)"
	}
	fmt.Fprintf(&b, "\nfunc %s(t *testing.T) {\n", a.test())
	if len(a.lacking) > 0 {
		fmt.Fprintf(&b, "t.Skip(%q)\n", "not complete: "+strings.Join(a.lacking, "; "))
	}
	fmt.Fprintf(&b, "%s.Run(t, %s.Spec{\n", a.c.pkg, a.c.pkg)
	fmt.Fprintf(&b, "Name: %q,\n", a.pkg.ImportPath+" "+a.name)
	if a.c.pkg != "clocktest" { // which knows no other time than that of the clock
		other := "PackageTime, if it calls package time too"
		if a.time == "PackageTime" {
			other = "Injected, if it takes a clock: env.Clock"
		}
		fmt.Fprintf(&b, "Time: %s.%s, // or %s\n", a.c.pkg, a.time, other)
	}
	if a.kind != "" {
		fmt.Fprintf(&b, "Kind: %s.%s,\n", a.c.pkg, a.kind)
	}
	fmt.Fprintf(&b, "%s: func(%s) %s.Funcs {\n%s\n", field, params, a.c.pkg, a.making())
	for _, n := range a.notes {
		fmt.Fprintf(&b, "// %s\n", n)
	}
	funcs := cmp.Or(a.whole, a.c.pkg+".Funcs{\n"+strings.Join(a.fields, "\n")+"\n}")
	if !regexp.MustCompile(`\b` + instance + `\b`).MatchString(funcs) {
		fmt.Fprintf(&b, "_ = %s\n", instance)
	}
	fmt.Fprintf(&b, "return %s\n},\n", funcs)
	for _, q := range a.asked {
		fmt.Fprintf(&b, "// %s\n", q)
	}
	if len(a.traits) == 0 {
		b.WriteString(noTraits)
	} else {
		var told []string
		for _, name := range slices.Sorted(maps.Keys(a.traits)) {
			told = append(told, name+": "+a.traits[name])
		}
		fmt.Fprintf(&b, "%sTraits: %s.Traits{%s},\n", someTraits, a.c.pkg, strings.Join(told, ", "))
	}
	b.WriteString("})\n}\n")
	b.WriteString(a.own)
	for _, h := range helpers {
		if regexp.MustCompile(`\b` + h.name + `\{`).Match(b.Bytes()) {
			b.WriteString(h.text)
		}
	}
	return b.Bytes()
}

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
		if v, _ := r.Verdict("TRAITS"); toPaste(v) != "" {
			if text, err = withTraits(text, r.Test, toPaste(v)); err != nil {
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
	tests, err := testsIn(files, "", text)
	if err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(test, "/")
	spec, err := specOf(tests, name)
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
	// The name stands for the package in a value of the literal, and not only in its comments.
	e, err := parser.ParseExpr("T{" + strings.TrimSuffix(strings.TrimSpace(traits), ",") + "}")
	if err == nil && mentions(e, "time") && !bytes.Contains(text, []byte(`"time"`)) {
		text = bytes.Replace(text, []byte("import ("), []byte("import (\n\"time\""), 1)
	}
	return format.Source(text)
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

// testsIn are the tests of a file, of which the text may be given.
func testsIn(files *token.FileSet, file string, text any) (tests []*ast.FuncDecl, err error) {
	f, err := parser.ParseFile(files, file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
			tests = append(tests, fn)
		}
	}
	return tests, nil
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

// specOf is the spec in the test of a name.
func specOf(tests []*ast.FuncDecl, test string) (*ast.CompositeLit, error) {
	var specs []*ast.CompositeLit
	for _, fn := range tests {
		ast.Inspect(fn, func(n ast.Node) bool {
			if lit, ok := n.(*ast.CompositeLit); ok && fn.Name.Name == test {
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
