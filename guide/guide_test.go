package guide

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the code into GUIDE.md")

const text = "../GUIDE.md"

// quotes are the blocks of code in the text, each behind a line that names its function.
var quotes = regexp.MustCompile("<!-- code: (\\w+) -->\n```go\n((?s:.*?))```\n")

// The code that the text shows is the code that runs.
func TestGuide_showsTheCode(t *testing.T) {
	functions := declared(t, ".")
	raw, err := os.ReadFile(text)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	got := quotes.ReplaceAllStringFunc(string(raw), func(block string) string {
		parts := quotes.FindStringSubmatch(block)
		name, code := parts[1], parts[2]
		want, ok := functions[name]
		if !ok {
			t.Errorf("it shows %s, which does not exist", name)
			return block
		}
		if code != want && !*update {
			t.Errorf("it shows another %s than the one that runs; write it anew with -update", name)
		}
		shown[name] = true
		return "<!-- code: " + name + " -->\n```go\n" + want + "```\n"
	})
	if *update {
		if err := os.WriteFile(text, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(got, "```go\n"); n != strings.Count(got, "<!-- code: ") {
		t.Errorf("%d blocks of code, of which some do not name their function", n)
	}
	for name := range functions {
		if pattern := strings.HasSuffix(name, "_bubble") || strings.HasSuffix(name, "Before"); pattern && !shown[name] {
			t.Errorf("%s is not shown", name)
		}
	}
}

// The tests and files that the text names exist.
func TestGuide_namesWhatExists(t *testing.T) {
	raw, err := os.ReadFile(text)
	if err != nil {
		t.Fatal(err)
	}
	functions := declared(t, ".", "../fakeclock", "../synctestcompat", "../synctestcompat/rapidbubble")
	for _, name := range regexp.MustCompile(`\b(Test|Example)[A-Z]\w+_\w+`).FindAllString(string(raw), -1) {
		if functions[name] == "" {
			t.Errorf("no test %s", name)
		}
	}
	headings := map[string]bool{}
	for _, h := range regexp.MustCompile(`(?m)^##+ (.*)$`).FindAllStringSubmatch(string(raw), -1) {
		headings[anchor(h[1])] = true
	}
	for _, link := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(string(raw), -1) {
		to, at, _ := strings.Cut(link[1], "#")
		switch {
		case strings.Contains(to, "://"):
		case to == "":
			if !headings[at] {
				t.Errorf("no heading for the link #%s", at)
			}
		default:
			if _, err := os.Stat(filepath.Join(filepath.Dir(text), to)); err != nil {
				t.Error(err)
			}
		}
	}
}

// The tests, examples, benchmarks and rules that SOURCES.md names exist, and no cell is empty
// without a reason.
func TestSources_nameWhatExists(t *testing.T) {
	raw, err := os.ReadFile("SOURCES.md")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("../conformance/*/RULES.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	var rules []byte
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, text...)
	}
	functions := declared(t, ".", "../fakeclock", "../fakeclock/clockctx", "../debounce",
		"../limiters", "../limiters/httplimit")
	named := regexp.MustCompile("`((?:Test|Example|Benchmark)[A-Z]\\w+)`")
	for _, m := range named.FindAllStringSubmatch(string(raw), -1) {
		if functions[m[1]] == "" {
			t.Errorf("no test %s", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`\b(?:CK|X)-[A-Z]+\b`).FindAllString(string(raw), -1) {
		if !strings.Contains(string(rules), "## "+m+"\n") {
			t.Errorf("no rule %s", m)
		}
	}
	if strings.Contains(string(raw), "| – |") {
		t.Error("something is left out without a reason")
	}
}

// anchor is the name that a heading has in links.
func anchor(heading string) string {
	kept := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(heading), "")
	return strings.ReplaceAll(kept, " ", "-")
}

// declared returns the functions of the tests in some folders, as they are written.
func declared(t *testing.T, folders ...string) map[string]string {
	t.Helper()
	functions := map[string]string{}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d tests, %v", folder, len(files), err)
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			set := token.NewFileSet()
			parsed, err := parser.ParseFile(set, file, src, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, decl := range parsed.Decls {
				if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil {
					from, to := set.Position(f.Pos()).Offset, set.Position(f.End()).Offset
					functions[f.Name.Name] = string(src[from:to]) + "\n"
				}
			}
		}
	}
	return functions
}
