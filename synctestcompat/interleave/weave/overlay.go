package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// prepare rewrites what is to be, and makes the flags and variables by which go test finds it.
func (w *weaver) prepare() error {
	if err := w.load(); err != nil {
		return err
	}
	if err := w.replace(); err != nil {
		return err
	}
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	overlay := map[string]map[string]string{"Replace": {}}
	c := newChecker(w)
	for _, p := range w.targets {
		files, err := c.rewrite(p)
		if err != nil {
			return err
		}
		for name, src := range files {
			// The place follows from the content, so that the build cache works.
			to, err := keep(cache, filepath.Base(name), src)
			if err != nil {
				return err
			}
			overlay["Replace"][name] = to
		}
	}
	list, err := json.MarshalIndent(overlay, "", "\t")
	if err != nil {
		return err
	}
	to, err := keep(cache, "overlay.json", string(list))
	if err != nil {
		return err
	}
	if w.flags = append(w.flags, "-overlay="+to); !w.covers() {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	w.rest = append(w.rest, fmt.Sprintf("-toolexec=%q -tool %q", self, to))
	return nil
}

func cacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "escapement-weave"), nil
}

// keep writes a file to a place that follows from its content.
func keep(cache, name, content string) (string, error) {
	dir := filepath.Join(cache, fmt.Sprintf("%x", sha256.Sum256([]byte(content)))[:20])
	to := filepath.Join(dir, name)
	if old, err := os.ReadFile(to); err == nil && string(old) == content {
		return to, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	temp, err := os.CreateTemp(dir, name)
	if err != nil {
		return "", err
	}
	defer os.Remove(temp.Name())
	if _, err := temp.WriteString(content); err != nil {
		return "", err
	}
	if err := temp.Close(); err != nil {
		return "", err
	}
	return to, os.Rename(temp.Name(), to)
}

// rewrite returns the files of a package that change.
func (c *checker) rewrite(p *listed) (map[string]string, error) {
	files, err := c.parse(p, append(append([]string{}, p.GoFiles...), p.CgoFiles...))
	if err != nil {
		return nil, err
	}
	c.byPath[p.ImportPath] = c.check(p, p.ImportPath, files, nil)
	all, register := files, p.ImportPath
	if !p.DepOnly && len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 {
		tests, err := c.parse(p, p.TestGoFiles)
		if err != nil {
			return nil, err
		}
		external, err := c.parse(p, p.XTestGoFiles)
		if err != nil {
			return nil, err
		}
		all = append(append(all[:len(all):len(all)], tests...), external...)
		variant := c.byPath[p.ImportPath]
		if len(tests) > 0 {
			variant = c.check(p, p.ImportPath, append(files[:len(files):len(files)], tests...), nil)
		}
		if len(external) > 0 {
			c.check(p, p.ImportPath+"_test", external, variant)
		}
	}
	changed := make(map[string]string)
	for _, f := range all {
		if f.cgo() {
			fmt.Fprintf(c.w.err, "weave: %s imports C and stays as it is: what it does is no point\n", f.name)
			continue
		}
		out := f.rewrite(register)
		if register != "" {
			register = ""
		}
		if out != f.src {
			changed[f.name] = out
		}
	}
	return changed, nil
}

// cgo reports whether the file imports C.
func (f *file) cgo() bool {
	for _, spec := range f.syntax.Imports {
		if spec.Path.Value == `"C"` {
			return true
		}
	}
	return false
}
