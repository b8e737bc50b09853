package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Of the contracts that a type may keep, that which it keeps is left, with the traits that were observed, and a page.
func TestInit_tries(t *testing.T) {
	if !synctestcompat.Available {
		t.Skip("package time can only be held in a bubble: " + synctestcompat.Reason)
	}
	dir := keptModule(t)
	var out, failed bytes.Buffer
	if code := run([]string{"init", "-write-traits", "-html", "page.html", ".NewRing"}, &out, &failed); code != 0 {
		t.Fatalf("init ends with %d: %s%s", code, &out, &failed)
	}
	test := read(t, dir, "conformance_test.go")
	for _, want := range []string{"Kind: quotatest.SlidingLog,", "Traits: quotatest.Traits{", "OneAtATime: true,"} {
		if !strings.Contains(strings.Join(strings.Fields(test), " "), want) {
			t.Errorf("there is no %q in\n%s", want, test)
		}
	}
	for _, want := range []string{"tried: by quotatest, as a FixedWindow it breaks", "It was run once."} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no %q in\n%s", want, &out)
		}
	}
	t.Run("what ends the process anyhow is refused nothing", func(t *testing.T) {
		prove.Require(t, prove.Suite)
		if err := os.Remove(filepath.Join(dir, "conformance_test.go")); err != nil {
			t.Fatal(err)
		}
		code := run([]string{"init", "-contract", "throttletest", ".NewDoomed"}, &out, &failed)
		if code != 0 { // it was written, whatever became of the run
			t.Errorf("init ends with %d: %s", code, &failed)
		}
		if test := read(t, dir, "conformance_test.go"); strings.Contains(test, "panic(") {
			t.Errorf("it refuses what it is made with:\n%s", test)
		}
		if want := "Nothing was judged. What it printed:"; !strings.Contains(out.String(), want) {
			t.Errorf("there is no %q in\n%s", want, &out)
		}
		if run(nil, &out, &failed); strings.Contains(failed.String(), "in . alone") {
			t.Errorf("other packages are said to be missing: %s", &failed)
		}
	})
	t.Run("a second type", func(t *testing.T) {
		prove.Require(t, prove.Suite)
		failed.Reset()
		code, before := 0, read(t, dir, "conformance_test.go")
		for _, args := range [][]string{{"init", ".NewRing"}, {"init", "-write-traits", ".NewRing"}} {
			failed.Reset()
			code = run(args, &out, &failed)
			want := "tests NewDoomed, not NewRing: use -o ring_conformance_test.go"
			if code != 1 || !strings.Contains(failed.String(), want) {
				t.Errorf("%v over the test of another ends with %d: %s", args, code, &failed)
			}
		}
		if read(t, dir, "conformance_test.go") != before {
			t.Error("the test of another was written")
		}
		for range 2 { // the second time it is there, beside the test of another file
			code = run([]string{"init", "-write-traits", "-o", "ring_test.go", ".NewRing"}, &out, &failed)
			if code != 0 {
				t.Fatalf("init ends with %d: %s", code, &failed)
			}
		}
		if test := read(t, dir, "ring_test.go"); !strings.Contains(test, "Traits: quotatest.Traits{") {
			t.Errorf("it has no traits:\n%s", test)
		}
		out.Reset()
		if code = run([]string{"init", "-write-traits", "ring_test.go"}, &out, &failed); code != 0 ||
			!strings.HasPrefix(out.String(), "nothing to write into ring_test.go") {
			t.Errorf("init of a file that has its traits ends with %d: %s%s", code, &out, &failed)
		}
		out.Reset()
		run([]string{"init", "-o", "other_conformance_test.go", ".NewRing"}, &out, &failed)
		test := read(t, dir, "other_conformance_test.go")
		if !strings.Contains(test, "func TestConformance_NewRing_2(") {
			t.Errorf("its name is taken:\n%s", test)
		}
		next := "next: go tool verdicts -run '^TestConformance_NewRing_2$' .\n"
		if !strings.Contains(out.String(), next) {
			t.Errorf("of a test that was not run there is no %q in\n%s", next, &out)
		}
		failed.Reset()
		run([]string{"init", "-write-traits", ".NewRing"}, &out, &failed)
		if !strings.Contains(failed.String(), "use -o other_conformance_test.go") {
			t.Errorf("the file that tests it is not named: %s", &failed)
		}
	})
	if page := read(t, dir, "page.html"); !strings.Contains(page, "example.com/kept NewRing") {
		t.Error("the page does not name what was judged")
	}
}

// A file without a folder goes beside the type.
func TestInit_beside(t *testing.T) {
	dir := keptModule(t)
	var out, failed bytes.Buffer
	code := run([]string{"init", "-o", "ring_test.go", "./sub.NewRing"}, &out, &failed)
	if test := read(t, dir, "sub/ring_test.go"); code != 0 || !strings.HasPrefix(test, "package kept_test\n") {
		t.Errorf("init ends with %d and writes\n%s", code, test)
	}
}

// An open decision counts as a broken rule where a Kind is chosen.
func TestInit_decision(t *testing.T) {
	prove.Require(t, prove.Suite)
	if !synctestcompat.Available {
		t.Skip("package time can only be held in a bubble: " + synctestcompat.Reason)
	}
	dir := keptModule(t)
	var out, failed bytes.Buffer
	args := []string{"init", "-html", "late.html", "-o", "late_test.go", ".NewLate"}
	if code := run(args, &out, &failed); code != 0 {
		t.Fatalf("init ends with %d: %s", code, &failed)
	}
	if test := read(t, dir, "late_test.go"); !strings.Contains(test, "quotatest.SlidingLog,") {
		t.Errorf("it is judged by another Kind:\n%s", test)
	}
	const tried = "as a SlidingCounter it breaks no rule and leaves a decision open"
	if !strings.Contains(out.String(), tried) || strings.Contains(out.String(), "FixedWindow") {
		t.Errorf("there is no %q, or a FixedWindow, in\n%s", tried, &out)
	}
}

// keptModule is a module of its own with package kept, and is the current folder.
func keptModule(t *testing.T) (dir string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	const path = "github.com/escapement-go/escapement"
	module := strings.Replace(read(t, root, "go.mod"), "module "+path, "module example.com/kept", 1) +
		"\nrequire " + path + " v0.0.0\n\nreplace " + path + " => " + root + "\n"
	for name, text := range map[string]string{
		"go.mod": module, "go.sum": read(t, root, "go.sum"),
		"kept.go":     read(t, root, "conformance/verdicts/testdata/kept/kept.go"),
		"sub/kept.go": read(t, root, "conformance/verdicts/testdata/kept/kept.go"),
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	return dir
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What TRAITS prints replaces the traits of a spec, or comes behind its last field.
func TestWithTraits(t *testing.T) {
	const (
		value   = "Latency: time.Second, // decision 1"
		comment = "Align: quotatest.AlignEpoch, // as of time.Truncate"
		both    = `import ( "testing" "time" )`
	)
	for _, c := range []struct{ name, before, trait, imports string }{
		{"none", "Name: \"x\",\n" + noTraits, value, both},
		{"asked for", "Name: \"x\",\n\t\t// declare Latency: say it\n" + noTraits, value, both},
		{"some", "Name: \"x\",\n" + someTraits + "Traits: quotatest.Traits{OneAtATime: true},\n", value, both},
		{"before others", "Traits: quotatest.Traits{},\nName: \"x\",\n", value, both},
		{"time in a comment", "Name: \"x\",\n" + noTraits, comment, `import ( "testing" )`},
	} {
		traits := "Traits: quotatest.Traits{\n\t\t" + c.trait + "\n\t},"
		text := "package x\n\nimport (\n\t\"testing\"\n)\n\n" +
			"func TestX(t *testing.T) {\nquotatest.Run(t, quotatest.Spec{\n" + c.before + "})\n}\n"
		got, err := withTraits([]byte(text), "TestX/sub", traits)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		plain := strings.Join(strings.Fields(string(got)), " ")
		for _, want := range []string{"Traits: quotatest.Traits{ " + c.trait + " }", c.imports} {
			if strings.Count(plain, "Traits:") != 1 || strings.Contains(plain, "// declare") ||
				!strings.Contains(plain, want) {
				t.Errorf("%s: there is no %q in\n%s", c.name, want, got)
			}
		}
	}
	if _, err := withTraits([]byte("package x\n\nfunc TestX() {}\n"), "TestX", "Traits: x.Traits{},"); err == nil {
		t.Error("a test without a spec gets traits")
	}
}

// A process that dies of a duration of 0 is no verdict: the constructor is not asked for it again. The same goes for a
// count, if that was not enough.
func TestAdapter_needMore(t *testing.T) {
	pkg, err := load("./testdata/subjects")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"Often": {"cfg.Interval"}, "Turns": {"cfg.Window", "cfg.Limit"},
		"PatientPacer": {"cfg.Rate.Interval()", "cfg.Burst"},
	} {
		all, err := newAdapters(pkg, name, "")
		if err != nil {
			t.Fatal(err)
		}
		for i, field := range want {
			more, text := all[0].needMore(), string(all[0].source())
			has := strings.Contains(text, "if "+field+" <= 0 {")
			if n := strings.Count(text, " <= 0 {"); !more || n != i+1 || !has {
				t.Errorf("needMore() = %v, with %d checks and none of %s in\n%s", more, n, field, text)
			}
		}
		if all[0].needMore() {
			t.Errorf("%s needs more than %v", name, want)
		}
	}
}

// What the suite cannot run compiles and says what is lacking.
func TestInit_notComplete(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x_test.go")
	var out, failed bytes.Buffer
	args := []string{"init", "-write-traits", "-o", file, "./testdata/subjects.AgelessBatcher"}
	if code := run(args, &out, &failed); code != 0 {
		t.Fatalf("init ends with %d: %s", code, &failed)
	}
	for _, want := range []string{
		"not complete: say which room (chan int)", "not complete: set its Delay", "It was not run: complete New",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no %q in\n%s", want, &out)
		}
	}
	if text, err := exec.Command("go", "vet", file).CombinedOutput(); err != nil {
		t.Errorf("it does not compile: %s", text)
	}
}

// Of a type that cannot do what its name says another contract is tried, and that is said.
func TestInit_next(t *testing.T) {
	var out, failed bytes.Buffer
	file := filepath.Join(t.TempDir(), "x_test.go")
	code := run([]string{"init", "-o", file, "./testdata/subjects.DebounceGate"}, &out, &failed)
	if want := "it is no debouncer"; code != 0 || !strings.Contains(out.String(), want) {
		t.Errorf("init ends with %d, and there is no %q in\n%s%s", code, want, &out, &failed)
	}
}

// Comments that a literal has stay when it is written again.
func TestCommentedAs(t *testing.T) {
	const older = "Traits: x.Traits{\n\tTie:   x.FireFirst,   // observed: it fires\n\t\tFull: true,\n\t}"
	got := commentedAs("Traits: x.Traits{\n\tTie: x.FireFirst,\n\tFull: true,\n\tWait: x.Zero, // new\n},", older)
	want := "Traits: x.Traits{\n\tTie: x.FireFirst, // observed: it fires\n\tFull: true,\n\tWait: x.Zero, // new\n},"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
