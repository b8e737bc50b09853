package readme

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// Each variable of the table of CONTRIBUTING is read by some code, and each that code reads by these names is in that
// table.
func TestVariables(t *testing.T) {
	const names = `(ESCAPEMENT|LIMITERS|PEERS|REDISLIMIT|REDIS|RAPIDBUBBLE)_[A-Z]+`
	used := readVariables(t, regexp.MustCompile(`"(`+names+`)"`))
	table := documented(t, "CONTRIBUTING.md")
	for name := range table {
		if !used[name] {
			t.Errorf("CONTRIBUTING.md has %s, which nothing reads", name)
		}
	}
	all := read(t, "CONTRIBUTING.md")
	for name := range used {
		if !strings.Contains(all, "`"+name+"`") {
			t.Errorf("CONTRIBUTING.md does not have %s", name)
		}
	}
}

// documented are the variables in the tables of a document.
func documented(t *testing.T, name string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Z]+_[A-Z]+)` \\|").FindAllStringSubmatch(read(t, name), -1) {
		all[row[1]] = true
	}
	if len(all) == 0 {
		t.Errorf("%s has no table of variables", name)
	}
	return all
}

// readVariables are the variables of that form in the code.
func readVariables(t *testing.T, form *regexp.Regexp) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || name != "." && strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		for _, m := range form.FindAllStringSubmatch(read(t, name), -1) {
			all[m[1]] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
