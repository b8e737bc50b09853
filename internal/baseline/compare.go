package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// compare prints how what is found differs from what is on record, and returns the number
// of implementations that differ. Where both failure texts are in the directory texts, it
// shows the first line that differs.
func compare(w io.Writer, want, got results, texts string) int {
	var keys []string
	for k := range want {
		keys = append(keys, k)
	}
	for k := range got {
		if want[k] == nil {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	differ, rules := 0, map[string]int{}
	for _, k := range keys {
		was, is := want[k], got[k]
		switch {
		case was == nil:
			fmt.Fprintf(w, "%s  is not on record\n", k)
			differ++
			continue
		case is == nil:
			fmt.Fprintf(w, "%s  is on record, but has not run\n", k)
			differ++
			continue
		}
		head := k + "\n"
		for _, item := range union(was.items, is.items) {
			a, b := was.is[item], is.is[item]
			if a == b {
				continue
			}
			rules[item]++
			fmt.Fprintf(w, "%s  %-14s was: %s\n  %-14s  is: %s\n", head, item, orNone(a), "", orNone(b))
			fmt.Fprint(w, textDiff(texts, a, b))
			if racing.MatchString(item) && strings.HasPrefix(k, "mutant|") {
				fmt.Fprintln(w, "    goroutines race here: see whether it is so again, and if not, whether it belongs to what is chance")
			}
			head = ""
		}
		if head == "" {
			differ++
		}
	}
	if len(rules) > 0 {
		fmt.Fprintf(w, "\ndifferences by rule:%s\n", counts(rules))
	}
	return differ
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, item := range b {
		if !slices.Contains(out, item) {
			out = append(out, item)
		}
	}
	return out
}

func orNone(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// counts prints the largest numbers first.
func counts(of map[string]int) string {
	var names []string
	for name := range of {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if of[a] != of[b] {
			return of[b] - of[a]
		}
		return strings.Compare(a, b)
	})
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, " %s %d", name, of[name])
	}
	return b.String()
}

var hashed = regexp.MustCompile(` #([0-9a-f]{10})\b`)

// textDiff shows where two failure texts part.
func textDiff(dir, was, is string) string {
	a, b := hashed.FindStringSubmatch(was), hashed.FindStringSubmatch(is)
	if dir == "" || a == nil || b == nil || a[1] == b[1] {
		return ""
	}
	before, err1 := os.ReadFile(filepath.Join(dir, a[1]+".txt"))
	after, err2 := os.ReadFile(filepath.Join(dir, b[1]+".txt"))
	if err1 != nil || err2 != nil {
		return ""
	}
	old, now := strings.Split(string(before), "\n"), strings.Split(string(after), "\n")
	for i := range min(len(old), len(now)) {
		if old[i] != now[i] {
			return fmt.Sprintf("    - %s\n    + %s\n", old[i], now[i])
		}
	}
	return fmt.Sprintf("    the text had %d lines and has %d\n", len(old), len(now))
}
