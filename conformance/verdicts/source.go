package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/format"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// test is the name of the test.
func (a *adapter) test() string {
	name := "TestConformance"
	if token.IsExported(a.name) {
		name += "_" + a.name
	}
	return cmp.Or(a.testName, name)
}

// source is the text of the test.
func (a *adapter) source() []byte {
	var b bytes.Buffer
	body := a.body()
	fmt.Fprintf(&b, "package %s\n\nimport (\n", a.pkg.testPackage())
	isStd := func(p string) bool { return !strings.Contains(strings.SplitN(p, "/", 2)[0], ".") }
	code := noCode.ReplaceAll(body, nil)
	paths := slices.DeleteFunc(slices.Sorted(maps.Keys(a.imports)), func(p string) bool {
		return !bytes.Contains(code, []byte(a.imports[p]+".")) // of what was tried and left
	})
	for _, p := range paths {
		if isStd(p) {
			fmt.Fprintf(&b, "%q\n", p)
		}
	}
	fmt.Fprintf(&b, "\"testing\"\n\n%q\n", root+"conformance/"+a.c.pkg)
	for _, p := range paths {
		if isStd(p) { // with those of the standard library
			continue
		}
		if name := a.imports[p]; name != a.named(p) {
			fmt.Fprintf(&b, "%s ", name)
		}
		fmt.Fprintf(&b, "%q\n", p)
	}
	b.WriteString(")\n")
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
	params := fmt.Sprintf("env %s.Env, cfg %s.Config", a.c.pkg, a.c.pkg)
	field := "New"
	switch {
	case a.batched:
		field, params = "NewBatch", params+", "+a.c.made+" func([]int)"
	case a.c.pkg == "batchtest":
		params += ", " + a.c.made + " func([]int)"
	case a.c.made != "":
		params += ", " + a.c.made + " func(int)"
	}
	if a.c.pkg == "clocktest" {
		params = "env clocktest.Env"
	}
	fmt.Fprintf(&b, "\nfunc %s(t *testing.T) {\n", a.test())
	if len(a.lacking) > 0 {
		fmt.Fprintf(&b, "t.Skip(%q)\n", "not complete: "+strings.Join(a.lacking, "; "))
	}
	fmt.Fprintf(&b, "%s.Run(t, %s.Spec{\n", a.c.pkg, a.c.pkg)
	fmt.Fprintf(&b, "Name: %q,\n", a.pkg.ImportPath+" "+a.name)
	if a.c.pkg != "clocktest" { // which knows no other time than that of the clock
		fmt.Fprintf(&b, "Time: %s.%s, // or %s\n", a.c.pkg, a.time, a.otherTime())
	}
	if a.kind != "" {
		fmt.Fprintf(&b, "Kind: %s.%s,\n", a.c.pkg, a.kind)
	}
	fmt.Fprintf(&b, "%s: func(%s) %s.Funcs {\n%s\n", field, params, a.c.pkg, strings.Join(a.lines, "\n"))
	for _, n := range a.notes {
		fmt.Fprintf(&b, "// %s\n", n)
	}
	if !regexp.MustCompile(`\b` + instance + `\b`).MatchString(a.whole + strings.Join(a.fields, "\n")) {
		fmt.Fprintf(&b, "_ = %s\n", instance)
	}
	if a.whole != "" {
		fmt.Fprintf(&b, "return %s\n},\n", a.whole)
	} else {
		fmt.Fprintf(&b, "return %s.Funcs{\n%s\n}\n},\n", a.c.pkg, strings.Join(a.fields, "\n"))
	}
	if len(a.traits) == 0 {
		b.WriteString(a.questions() + noTraits + "})\n}\n")
	} else {
		var told []string
		for _, name := range slices.Sorted(maps.Keys(a.traits)) {
			told = append(told, name+": "+a.traits[name])
		}
		fmt.Fprintf(&b, "%sTraits: %s.Traits{%s},\n})\n}\n",
			a.questions()+someTraits, a.c.pkg, strings.Join(told, ", "))
	}
	b.WriteString(a.own)
	for _, h := range helpers {
		if a.helpers[h.name] {
			b.WriteString(h.text)
		}
	}
	return b.Bytes()
}

// questions are comments on traits that nothing shows.
func (a *adapter) questions() string {
	var b strings.Builder
	for _, q := range a.asked {
		b.WriteString("// " + q + "\n")
	}
	return b.String()
}

// otherTime is the source of time that it could be instead.
func (a *adapter) otherTime() string {
	if a.time != "PackageTime" {
		return "PackageTime, if it calls package time too"
	}
	return "Injected, if it takes a clock: env.Clock"
}

// named is the name that an import has without saying so, as far as its path tells.
func (a *adapter) named(importPath string) string {
	if importPath == a.pkg.ImportPath {
		return a.pkg.Name
	}
	return path.Base(importPath)
}
