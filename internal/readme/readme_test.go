// Package readme has nothing but a test: that README and the documents beside it say what is
// so. Their commands are run by .ci/new-user and .ci/run, the code of GUIDE.md by package
// guide, and what Go 1.24 skips by go1.24.
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

const root = "../.."

// read is the text of a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(path.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestReadme_isShort(t *testing.T) {
	if n := strings.Count(read(t, "README.md"), "\n"); n > 150 {
		t.Errorf("%d lines, want 150 at most", n)
	}
}

// The failure that README shows is, but for the names in its replay line, the one that the
// suite prints for a mutant with the same mistake.
func TestReadme_failureIsWhatTheSuitePrints(t *testing.T) {
	shown := regexp.MustCompile("(?s)```\n(DB-QUIET: .*?)```").FindStringSubmatch(read(t, "README.md"))
	if shown == nil {
		t.Fatal("no failure of DB-QUIET")
	}
	mutant := regexp.MustCompile(`\^TestMutants\$/[^']*' \S*`)
	golden := mutant.ReplaceAllString(read(t, "conformance/debouncertest/testdata/failures.golden"),
		"^TestConformance_New$$/^DB-QUIET$$' example.com/mine")
	if text := shown[1]; !strings.Contains(golden, text) {
		t.Errorf("the suite does not print\n%s", text)
	}
}

// Each link leads to a file, a heading or a package that exists.
func TestDocuments_linksLead(t *testing.T) {
	for _, name := range []string{
		"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "RELEASING.md", "SECURITY.md",
		"sleeplint/README.md", "fakeclock/MOVING.md", "debounce/COMPARISON.md", "limiters/VOCABULARY.md",
		"conformance/peers/README.md", "go1.24/README.md", "guide/SOURCES.md",
	} {
		for _, link := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(read(t, name), -1) {
			if why := misleads(t, name, link[1]); why != "" {
				t.Errorf("%s: the link %s: %s", name, link[1], why)
			}
		}
	}
}

// misleads says what is wrong with a link of a document; links to other sites are not looked at.
func misleads(t *testing.T, from, link string) string {
	const packages = "https://pkg.go.dev/github.com/escapement-go/escapement"
	to, heading, _ := strings.Cut(link, "#")
	switch {
	case strings.HasPrefix(to, packages):
		to = strings.TrimPrefix(to, packages)
	case strings.Contains(to, "://"):
		return ""
	case to == "":
		to = from
	default:
		to = path.Join(path.Dir(from), to)
	}
	if _, err := os.Stat(path.Join(root, to)); err != nil {
		return "no such file"
	}
	if heading != "" && strings.HasSuffix(to, ".md") && !slices.Contains(headings(read(t, to)), heading) {
		return "no such heading"
	}
	return ""
}

// headings are the names that the headings of a text have in links.
func headings(text string) (all []string) {
	for _, h := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		kept := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(h[1]), "")
		all = append(all, strings.ReplaceAll(kept, " ", "-"))
	}
	return all
}

// Each package that others can import is named by README, or by that of its folder.
func TestReadme_namesEachPackage(t *testing.T) {
	text := read(t, "README.md") + read(t, "sleeplint/README.md")
	forNobody := []string{ // but our tests, and code that weave has rewritten
		"guide", "go1.24", "conformance/peers", "sleeplint/checks", "synctestcompat/interleave/shim",
	}
	seen := 0
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if base := path.Base(name); base == "internal" || base == "testdata" || slices.Contains(forNobody, name) ||
			name != "." && strings.HasPrefix(base, ".") {
			return fs.SkipDir
		}
		if code, err := fs.Glob(os.DirFS(root), path.Join(name, "*.go")); err != nil || len(code) == 0 {
			return err
		}
		seen++
		if !strings.Contains(text, path.Base(name)) {
			t.Errorf("README does not name %s", name)
		}
		return nil
	})
	if err != nil || seen < 10 {
		t.Errorf("%d packages, %v", seen, err)
	}
}

// The releases that README's table names are those that .ci/run tries, and the lowest is
// that of go.mod.
func TestReadme_releasesAreTried(t *testing.T) {
	rows := regexp.MustCompile(`(?m)^\| (1\.[\d., ]+)`).FindAllStringSubmatch(read(t, "README.md"), -1)
	if len(rows) == 0 {
		t.Fatal("no table of releases")
	}
	run, seen := read(t, ".ci/run"), map[string]bool{}
	for _, row := range rows {
		for _, release := range regexp.MustCompile(`1\.\d+`).FindAllString(row[1], -1) {
			seen[release] = true
			if !strings.Contains(run, "GOTOOLCHAIN=go"+release+".") {
				t.Errorf(".ci/run does not try Go %s", release)
			}
		}
	}
	least := regexp.MustCompile(`(?m)^go (1\.\d+)`).FindStringSubmatch(read(t, "go.mod"))[1]
	if !seen[least] || seen["1.23"] {
		t.Errorf("go.mod says %s, and README names %v", least, seen)
	}
}

// CHANGELOG begins with what is not released, then has versions with their dates, and the
// rules that it lists exist.
func TestChangelog(t *testing.T) {
	text, rules := read(t, "CHANGELOG.md"), ""
	pages, err := fs.Glob(os.DirFS(root), "conformance/*/RULES.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	for _, page := range pages {
		rules += read(t, page)
	}
	for i, h := range regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(text, -1) {
		if i == 0 && h[1] != "Unreleased" ||
			i > 0 && !regexp.MustCompile(`^\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d$`).MatchString(h[1]) {
			t.Errorf("heading %d is %q", i, h[1])
		}
	}
	ids := regexp.MustCompile(`\b(?:CK|CN|CT|DB|LB|RL|RS|SB|TH|W|X)-[A-Z0-9]+\b`).FindAllString(text, -1)
	for _, id := range ids {
		if !strings.Contains(rules, "## "+id+"\n") {
			t.Errorf("no rule %s", id)
		}
	}
}
