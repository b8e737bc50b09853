package readme

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// README says of each contract when to choose it, and of quotatest each Kind.
func TestReadme_choosesContracts(t *testing.T) {
	text := read(t, "README.md")
	pages, err := fs.Glob(os.DirFS(root), "conformance/*/RULES.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	for _, page := range pages {
		if row := "| `" + path.Base(path.Dir(page)) + "` |"; !strings.Contains(text, row) {
			t.Errorf("README has no row with %s", row)
		}
	}
	kinds := regexp.MustCompile(`(?s)// The kinds\.\nconst \((.*?)\n\)`).FindStringSubmatch(
		read(t, "conformance/quotatest/spec.go"))
	if kinds == nil {
		t.Fatal("quotatest has no kinds")
	}
	for _, kind := range regexp.MustCompile(`(?m)^\t(\w+)`).FindAllStringSubmatch(kinds[1], -1) {
		if !strings.Contains(text, "`"+kind[1]+"`: ") {
			t.Errorf("README does not say what the Kind %s is", kind[1])
		}
	}
}

// What is counted in the documents for users and contributors grows with the code, so no number of it stands there
// unless something else holds it: tables of measurements name their commands, and generated pages their makers.
func TestDocuments_countNothing(t *testing.T) {
	counted := regexp.MustCompile(`(?i)\b(\d[\d,.]*|one to \w+|two|three|four|five|six|seven|eight|nine|ten) (core )?` +
		`(rules|contracts|mutants|designs|traits|libraries|implementations|packages|failures|findings)\b`)
	held := []string{
		"60 implementations", // FINDINGS.md, which a command makes
		"two failures",       // a comment of code in GUIDE.md
	}
	generated := regexp.MustCompile(`^(<!-- Made by|# Findings)`)
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && name != "." && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		isDoc := path.Ext(name) == ".md" || path.Base(name) == "doc.go"
		if d.IsDir() || !isDoc || strings.Contains(name, "testdata/") {
			return err
		}
		text := read(t, name)
		if generated.MatchString(text) {
			return nil
		}
		for _, number := range counted.FindAllString(text, -1) {
			if !slices.Contains(held, number) {
				t.Errorf("%s says %q, which nothing holds", name, number)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
