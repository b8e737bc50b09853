package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// initialize writes the test that judges a type. What the verdicts on it are does not change the exit code.
func initialize(args []string, stdout, stderr io.Writer) int {
	flags, o := initFlags(stderr)
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil || flags.NArg() != 1 {
		if err == nil {
			flags.Usage()
		}
		return usageFailed
	}
	if err := o.write(flags.Arg(0), stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "verdicts init:", err)
		if errors.Is(err, errUsage) {
			return usageFailed
		}
		return 1
	}
	return 0
}

type initOptions struct {
	contract, out, html string
	writeTraits         bool
}

func initFlags(stderr io.Writer) (*flag.FlagSet, *initOptions) {
	fs, o := flag.NewFlagSet("verdicts init", flag.ContinueOnError), &initOptions{}
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprint(stderr, "usage: verdicts init [flags] package.Type\n"+
			"       or package.Constructor; a type of this folder is .Type\n"+
			"       verdicts init -write-traits [flags] file_test.go\n\n")
		fs.PrintDefaults()
	}
	fs.StringVar(&o.contract, "contract", "",
		"the `package` of the contract, such as limitertest; otherwise it is guessed")
	fs.StringVar(&o.out, "o", "",
		"the `file` to write, beside the type if it has no folder, which is run only with -html or -write-traits; "+
			"otherwise conformance_test.go, and it is run")
	fs.StringVar(&o.html, "html", "", "write a page on that run to this `file`")
	fs.BoolVar(&o.writeTraits, "write-traits", false,
		"insert the observed Traits into the test, also into an existing one")
	return fs, o
}

// write writes the test, runs it and tells what came of it.
func (o *initOptions) write(arg string, stdout, stderr io.Writer) error {
	if o.writeTraits && strings.HasSuffix(arg, "_test.go") {
		folder, err := filepath.Abs(filepath.Dir(arg))
		if err != nil {
			return err
		}
		return (&trial{file: arg, folder: folder, o: o}).again(stdout, stderr)
	}
	dot := strings.LastIndex(arg, ".") // a name alone is one of the package in this folder
	path, name := cmp.Or(arg[:max(dot, 0)], "."), arg[dot+1:]
	if !token.IsIdentifier(name) {
		return fmt.Errorf("%w: %s names no type, constructor or test file", errUsage, arg)
	}
	pkg, err := load(path)
	if err != nil {
		return err
	}
	all, err := newAdapters(pkg, name, o.contract)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(a *adapter) bool {
		fault := a.check()
		if fault != nil {
			err = fmt.Errorf("nothing is written, as what fits %s does not compile: %w", a.c.pkg, fault)
		}
		return fault != nil
	})
	if len(all) == 0 {
		return err
	}
	t := trial{file: cmp.Or(o.out, "conformance_test.go"), folder: pkg.folder(), all: all, took: all[0], o: o}
	if filepath.Base(t.file) == t.file {
		t.file = filepath.Join(t.folder, t.file)
	} else if t.folder, err = filepath.Abs(filepath.Dir(o.out)); err != nil {
		return err
	}
	t.rename()
	if _, err := os.Lstat(t.file); err == nil {
		return t.again(stdout, stderr)
	}
	if err := os.WriteFile(t.file, all[0].source(), 0o666); err != nil {
		return err
	}
	if len(all[0].lacking) == 0 && (o.out == "" || o.html != "" || o.writeTraits) {
		if err := t.run(stderr); err != nil {
			return err
		}
	}
	t.tell(stdout)
	return nil
}

// loaded is a package as the go command sees it.
type loaded struct {
	ImportPath, Name, Dir, Export string

	Module *struct{ Main bool }
	Error  *struct{ Err string }
	types  *types.Package
	lookup importer.Lookup
	text   string // see files
}

// folder is where its test goes: beside it, if it is one of the main module.
func (l *loaded) folder() string {
	if l.Module != nil && l.Module.Main {
		return l.Dir
	}
	return "."
}

// testPackage is the name of the package of a test there.
func (l *loaded) testPackage() string {
	if l.Module != nil && l.Module.Main {
		return l.Name + "_test"
	}
	name, _ := exec.Command("go", "list", "-f", "{{.Name}}", ".").Output()
	return cmp.Or(string(bytes.TrimSpace(name)), "conformance") + "_test"
}

// load reads the exported declarations of a package, the last, from what the compiler writes.
func load(paths ...string) (*loaded, error) {
	path := strings.Join(paths, " ")
	cmd := exec.Command("go", slices.Concat(list, paths)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w\n%s", path, err, stderr.Bytes())
	}
	exports := map[string]string{}
	var last *loaded
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		last = &loaded{}
		if err := dec.Decode(last); err != nil {
			return nil, fmt.Errorf("go list %s: %w", path, err)
		}
		exports[last.ImportPath] = last.Export
	}
	if last == nil || last.Error != nil {
		return nil, fmt.Errorf("go list %s: no such package, or it does not compile\n%s", path, stderr.Bytes())
	}
	last.lookup = func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			said, _ := exec.Command("go", "build", "-o", os.DevNull, path).CombinedOutput()
			return nil, fmt.Errorf("no export data for %s\n%s", path, said)
		}
		return os.Open(exports[path])
	}
	last.types, err = importer.ForCompiler(token.NewFileSet(), "gc", last.lookup).Import(last.ImportPath)
	return last, err
}

var list = []string{"list", "-e", "-export", "-deps", "-json=ImportPath,Name,Dir,Export,Module,Error"}

// check is what the compiler says. Where an import cannot be found, the go command is to say so.
func (a *adapter) check() error {
	files, paths := token.NewFileSet(), []string{}
	file, err := parser.ParseFile(files, "conformance_test.go", a.source(), parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, s := range file.Imports {
		paths = append(paths, strings.Trim(s.Path.Value, `"`))
	}
	used, err := load(paths...)
	if err != nil {
		return nil
	}
	config := types.Config{Importer: importer.ForCompiler(files, "gc", used.lookup)}
	_, err = config.Check(file.Name.Name, files, []*ast.File{file}, nil)
	if err != nil && strings.Contains(err.Error(), "could not import") {
		return nil
	}
	return err
}

// files are the sources of a package, read once. What cannot be read tells nothing.
func (l *loaded) files() string {
	if l.text == "" {
		l.text = texts(filepath.Join(l.Dir, "*.go"))
	}
	return l.text
}

// texts are those of the files that match a pattern.
func texts(pattern string) string {
	var b strings.Builder
	names, _ := filepath.Glob(pattern)
	for _, name := range names {
		text, _ := os.ReadFile(name)
		b.Write(append(text, '\n'))
	}
	return b.String()
}
