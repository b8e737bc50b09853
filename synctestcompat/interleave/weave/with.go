package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// replace puts copies of modules in the place of those in the module cache that -with names, as an overlay may
// not change what is in there.
func (w *weaver) replace() error {
	cache, err := w.goenv("GOMODCACHE")
	if err != nil {
		return err
	}
	copies := make(map[string]string) // by the path of the module
	for _, path := range w.with {
		found := false
		for _, p := range w.byPath {
			if p.ImportPath != path && !strings.HasPrefix(p.ImportPath, path+"/") {
				continue
			}
			if p.Standard {
				return fmt.Errorf("-with %s: packages of std are not rewritten", path)
			}
			found = true
			if !within(cache, p.Dir) { // of a replaced module, or vendored
				continue
			}
			if copies[p.Module.Path], err = w.copyModule(p.Module); err != nil {
				return err
			}
		}
		if !found {
			return fmt.Errorf("-with %s: no test of these packages needs it", path)
		}
	}
	if len(copies) == 0 {
		return nil
	}
	work, err := w.goenv("GOWORK")
	if err != nil {
		return err
	}
	if work != "" && work != "off" {
		err = w.workfile(work, copies)
	} else {
		err = w.modfile(copies)
	}
	if err != nil {
		return err
	}
	w.targets = nil
	return w.load()
}

func (w *weaver) goenv(name string) (string, error) { return w.output("go", "env", name) }

func (w *weaver) output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = w.env
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); ok {
		return "", fmt.Errorf("%s %s: %s", name, strings.Join(args, " "), strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}

func within(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// copyModule copies a module out of the module cache, unless that was done before.
func (w *weaver) copyModule(m *module) (string, error) {
	if m.Replace != nil {
		m = m.Replace
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	to := filepath.Join(cache, "modules", filepath.FromSlash(m.Path)+"@"+m.Version)
	if _, err := os.Stat(filepath.Join(to, "go.mod")); err == nil {
		return to, nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return "", err
	}
	temp, err := os.MkdirTemp(filepath.Dir(to), "copy")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	err = filepath.WalkDir(m.Dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(temp, strings.TrimPrefix(name, m.Dir))
		if d.IsDir() {
			return os.MkdirAll(target, 0o777)
		}
		return copyFile(name, target)
	})
	gomod := filepath.Join(temp, "go.mod")
	if err == nil { // one from before modules has its go.mod elsewhere
		err = copyFile(m.GoMod, gomod)
	}
	if err == nil && older(m.GoVersion) { // what is inserted needs type parameters
		_, err = w.output("go", "mod", "edit", "-go=1.18", gomod)
	}
	if err != nil {
		return "", err
	}
	if err := os.Rename(temp, to); err != nil && !os.IsExist(err) {
		if _, gone := os.Stat(filepath.Join(to, "go.mod")); gone != nil { // another process was not faster
			return "", err
		}
	}
	return to, nil
}

// older reports whether the language of a module is older than Go 1.18.
func older(version string) bool {
	var minor int
	_, err := fmt.Sscanf(version, "1.%d", &minor)
	return err != nil || minor < 18
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o666)
}

// modfile makes a go.mod with replacements beside that of the main module, which is left alone.
func (w *weaver) modfile(copies map[string]string) error {
	gomod, err := w.goenv("GOMOD")
	if err != nil {
		return err
	}
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	args := []string{"mod", "edit", "-print"}
	for _, path := range sorted(copies) {
		args = append(args, "-replace="+path+"="+copies[path])
	}
	text, err := w.output("go", append(args, gomod)...)
	if err != nil {
		return err
	}
	to, err := keep(cache, "go.mod", text+"\n") // in a place that follows from the content
	if err != nil {
		return err
	}
	sum, err := os.ReadFile(strings.TrimSuffix(gomod, "mod") + "sum")
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := os.WriteFile(strings.TrimSuffix(to, "mod")+"sum", sum, 0o666); err != nil {
		return err
	}
	w.flags = append(w.flags, "-modfile="+to)
	return nil
}

// workfile makes a go.work with replacements, as a workspace takes no -modfile.
func (w *weaver) workfile(work string, copies map[string]string) error {
	text, err := w.output("go", "work", "edit", "-json", work)
	if err != nil {
		return err
	}
	type version struct{ Path, Version string }
	var file struct {
		Go      string
		Use     []struct{ DiskPath string }
		Replace []struct{ Old, New version }
	}
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		return err
	}
	absolute := func(path string) string {
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(work), path)
		}
		return path
	}
	out := "go " + file.Go + "\n"
	for _, u := range file.Use {
		out += fmt.Sprintf("use %q\n", absolute(u.DiskPath))
	}
	for _, r := range file.Replace {
		if copies[r.Old.Path] != "" {
			continue
		}
		if r.New.Version == "" {
			r.New.Path = absolute(r.New.Path)
		}
		line := fmt.Sprintf("replace %s %s => %q %s", r.Old.Path, r.Old.Version, r.New.Path, r.New.Version)
		out += strings.TrimRight(line, " ") + "\n"
	}
	for _, path := range sorted(copies) {
		out += fmt.Sprintf("replace %s => %q\n", path, copies[path])
	}
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	to, err := keep(cache, "go.work", out)
	if err != nil {
		return err
	}
	if sum, err := os.ReadFile(work + ".sum"); err == nil {
		if err := os.WriteFile(to+".sum", sum, 0o666); err != nil {
			return err
		}
	}
	w.env = append(w.env, "GOWORK="+to)
	return nil
}

func sorted(m map[string]string) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
