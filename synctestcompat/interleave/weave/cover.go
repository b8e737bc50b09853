package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// The go command lets the tool cover read what is on disk, and not the overlay. So for coverage it runs its tools
// by this command, which gives cover the rewritten files, and their own names to what that writes.

// covers reports whether coverage is asked for.
func (w *weaver) covers() bool {
	return slices.ContainsFunc(slices.Concat(w.flags, w.rest), func(f string) bool {
		return strings.HasPrefix(f, "-cover") && f != "-cover=false" || strings.HasPrefix(f, "-test.cover")
	})
}

// tool runs a tool of the go command: args are the file of the overlay, the tool and its arguments.
func tool(args []string) int {
	var overlay struct{ Replace map[string]string }
	data, err := os.ReadFile(args[0])
	if err == nil {
		err = json.Unmarshal(data, &overlay)
	}
	if err != nil {
		return complain(err)
	}
	name, args := args[1], slices.Clone(args[2:])
	sources := make(map[string]string) // by the rewritten file
	var list string
	if strings.TrimSuffix(filepath.Base(name), ".exe") == "cover" {
		for i, arg := range args {
			path, _ := filepath.Abs(arg)
			if to := overlay.Replace[path]; to != "" {
				args[i], sources[to] = to, path
			}
			if arg == "-outfilelist" && i+1 < len(args) {
				list = args[i+1]
			}
		}
	}
	cmd := exec.Command(name, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		if exit, ok := err.(*exec.ExitError); ok {
			return max(1, exit.ExitCode())
		}
		return complain(err)
	}
	if list == "" {
		return 0
	}
	return complain(rename(list, sources))
}

// rename puts the names of sources into the files that cover has written.
func rename(list string, sources map[string]string) error {
	names, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	for _, name := range strings.Fields(string(names)) {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		text := string(data)
		for to, from := range sources {
			text = strings.ReplaceAll(text, "//line "+to+":", "//line "+from+":")
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}
