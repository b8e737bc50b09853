package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// results are by implementation, as key names it.
type results map[string]*result

// result has a line for each rule, and for "explored", "left-out" and "partial", which are none.
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

// add enters a report, in full or what is on record of it.
func (rs results) add(set string, r report, full bool) error {
	k := key(set, r)
	out := newResult()
	left := 0
	for _, n := range r.LeftOut {
		left += n
	}
	switch {
	case full:
		out.put("explored", fmt.Sprintf("%d schedules, %d runs, %d left out", r.Schedules, r.Runs, left))
	case left*20 > r.Schedules:
		out.put("left-out", "more than 1 schedule in 20")
	}
	if r.Partial != "" {
		out.put("partial", oneLine(r.Partial))
	}
	for _, v := range r.Verdicts {
		v.Text = withoutTest(v.Text)
		for _, c := range chances {
			c.apply(k, &v)
		}
		if full {
			out.put(v.Rule, v.String())
		} else {
			out.put(v.Rule, v.brief())
		}
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

// brief is what is on record of a verdict.
func (v verdict) brief() string {
	if v.Schedule == "" {
		return v.Status
	}
	return oneLine(fmt.Sprintf("%s [%s]", v.Status, v.Schedule))
}

// String is all of a verdict in one line.
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
