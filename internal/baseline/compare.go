package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// compare prints how what is found differs from what is on record, and returns the number
// of implementations that differ.
func compare(w io.Writer, want, got results) int {
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
