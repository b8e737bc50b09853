package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// results are by implementation, as key names it.
type results map[string]*result

// result has a line for each rule, and for "explored" and "partial", which are none.
type result struct {
	items []string // in the order of the report
	is    map[string]string
}

func (r *result) put(item, is string) {
	if _, old := r.is[item]; !old {
		r.items = append(r.items, item)
	}
	r.is[item] = is
}

func newResult() *result { return &result{is: map[string]string{}} }

// add enters a report. If texts is a directory, failure texts go there.
func (rs results) add(set string, r report, names *strings.Replacer, texts string) error {
	k := names.Replace(key(set, r))
	out := newResult()
	explored := fmt.Sprintf("%d schedules, %d runs", r.Schedules, r.Runs)
	if !r.Bubbles {
		explored += ", without bubbles"
	}
	for _, why := range slices.Sorted(maps.Keys(r.LeftOut)) {
		explored += fmt.Sprintf(", %d left out: %s", r.LeftOut[why], oneLine(names.Replace(why)))
	}
	out.put("explored", explored)
	if r.Partial != "" {
		out.put("partial", oneLine(names.Replace(r.Partial)))
	}
	for _, v := range r.Verdicts {
		v.Reason, v.Text = names.Replace(v.Reason), names.Replace(withoutTest(v.Text))
		for _, c := range chances {
			c.apply(k, &v)
		}
		if err := keepText(texts, v.Text); err != nil {
			return err
		}
		out.put(v.Rule, v.String())
	}
	if old := rs[k]; old != nil && !equal(old, out) {
		return fmt.Errorf("two reports of %q differ: give them names of their own", k)
	}
	rs[k] = out
	return nil
}

func equal(a, b *result) bool {
	return slices.Equal(a.items, b.items) && !slices.ContainsFunc(a.items, func(i string) bool { return a.is[i] != b.is[i] })
}

// String is a verdict in one line.
func (v verdict) String() string {
	var b strings.Builder
	if v.Level != "core" {
		b.WriteString(v.Level + " ")
	}
	b.WriteString(v.Status)
	if v.Status != "skip" {
		fmt.Fprintf(&b, " %d", v.Judged)
	}
	if v.Family != "" {
		fmt.Fprintf(&b, " in %s", v.Family)
	}
	if v.Text != "" {
		fmt.Fprintf(&b, " #%s", hash(v.Text))
	}
	if v.Schedule != "" {
		fmt.Fprintf(&b, " [%s]", v.Schedule)
	}
	if v.Reason != "" {
		fmt.Fprintf(&b, " %s", v.Reason)
	}
	return oneLine(b.String())
}

func oneLine(s string) string { return strings.ReplaceAll(s, "\n", `\n`) }

// withoutTest takes from the replay line of a failure text which test of which package
// it runs.
func withoutTest(text string) string { return replayed.ReplaceAllString(text, "$1") }

var replayed = regexp.MustCompile(`(?m)^(replay: .*go test) -run '[^\n]*$`)

func hash(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:10] }

func keepText(dir, text string) error {
	if dir == "" || text == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, hash(text)+".txt"), []byte(text), 0o666)
}

// print writes what parse reads: rules of which the same is said share a line.
func (rs results) print() []byte {
	var keys []string
	for k := range rs {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var b bytes.Buffer
	b.WriteString("# Made by: bash .ci/baseline -update\n")
	for _, k := range keys {
		fmt.Fprintf(&b, "\n## %s\n", k)
		r := rs[k]
		said := map[string]bool{}
		for _, item := range r.items {
			is := r.is[item]
			if said[is] {
				continue
			}
			said[is] = true
			same := slices.DeleteFunc(slices.Clone(r.items), func(o string) bool { return r.is[o] != is })
			fmt.Fprintf(&b, "\t%s: %s\n", strings.Join(same, " "), is)
		}
	}
	return b.Bytes()
}

func parse(text []byte) (results, error) {
	rs := results{}
	var r *result
	for i, line := range strings.Split(string(text), "\n") {
		switch {
		case strings.HasPrefix(line, "## "):
			r = newResult()
			rs[line[3:]] = r
		case strings.HasPrefix(line, "\t"):
			items, is, ok := strings.Cut(line[1:], ": ")
			if !ok || r == nil {
				return nil, fmt.Errorf("line %d: want rules, a colon and what is found", i+1)
			}
			for _, item := range strings.Fields(items) {
				r.put(item, is)
			}
		case line != "" && line[0] != '#':
			return nil, fmt.Errorf("line %d: want ## or a tab", i+1)
		}
	}
	return rs, nil
}

// recordOf is the file of a contract.
func recordOf(contract string) string {
	return filepath.Join(records, strings.ReplaceAll(contract, " ", "_")+".txt")
}

// of are the results of one contract, those in the plan or all others.
func (rs results) of(contract string, chosen []run, in bool) results {
	out := results{}
	for k, r := range rs {
		part := strings.SplitN(k, "|", 3)
		planned := slices.ContainsFunc(chosen, func(r run) bool { return r.set == part[0] && r.contract == part[1] })
		if part[1] == contract && planned == in {
			out[k] = r
		}
	}
	return out
}

// write puts the results on record. What is on record of other sets stays.
func (rs results) write(chosen []run) error {
	for _, contract := range contractsOf(chosen) {
		text, err := os.ReadFile(recordOf(contract))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		old, err := parse(text)
		if err != nil {
			return fmt.Errorf("%s: %v", recordOf(contract), err)
		}
		all := old.of(contract, chosen, false)
		for k, r := range rs.of(contract, chosen, true) {
			all[k] = r
		}
		if err := os.WriteFile(recordOf(contract), all.print(), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// readRecords reads what is on record of the chosen part of the plan.
func readRecords(chosen []run) (results, error) {
	all := results{}
	for _, contract := range contractsOf(chosen) {
		text, err := os.ReadFile(recordOf(contract))
		if err != nil {
			return nil, err
		}
		rs, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %v", recordOf(contract), err)
		}
		for k, r := range rs.of(contract, chosen, true) {
			all[k] = r
		}
	}
	return all, nil
}

func contractsOf(chosen []run) []string {
	var out []string
	for _, r := range chosen {
		if !slices.Contains(out, r.contract) {
			out = append(out, r.contract)
		}
	}
	return out
}

// readNames reads the names that have changed since the record was made: on each line what
// stands in reports now, a tab, and what stood there before.
func readNames(path string) (*strings.Replacer, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var pairs []string
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		now, before, ok := strings.Cut(line, "\t")
		if !ok || now == "" {
			return nil, fmt.Errorf("%s:%d: want the name that is used now, a tab, and the name before", path, i+1)
		}
		pairs = append(pairs, now, before)
	}
	return strings.NewReplacer(pairs...), nil
}
