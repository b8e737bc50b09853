// Command mutate makes every simple mutant of the code that has a contract, one change each,
// and tells which of them the conformance suite does not notice.
//
//	go run ./internal/mutate [flags] [target ...]
//
// A target is what stands in plan.go, such as gcra or own/keyed; without any, all of
// them are run, which takes hours. All mutants of a target are compiled into one test binary
// in which a number in the environment chooses one, so that each costs a run of those tests
// that reach it. They run with -short first; with -full, those that survive run again with
// everything that ESCAPEMENT_PROVE=1 adds. With -short, a model is judged by many of
// the designs whose choices are drawn, not only by the first. A mutant without a lock is run with
// -race only.
//
// Who survives stands in testdata/survivors, a file for each target, with the reason that
// somebody found by reading. The command keeps the reasons of survivors that it finds again,
// and exits with 1 if one has none. What is killed, and by what, is in the file of -results,
// which also lets a run that was ended go on where it was. With -argue, it draws claims that a
// survivor is equivalent, each of which somebody who doubts it argues out.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
)

var (
	results = flag.String("results", "mutants", "the `directory` of results, which a later run does not find again")
	inFull  = flag.Bool("full", false, "run survivors with ESCAPEMENT_PROVE=1, too")
	race    = flag.Bool("race", false, "run the mutants without a lock, with the race detector, and no others")
	list    = flag.Bool("list", false, "list the mutants and run nothing")
	record  = flag.Bool("update", false, "write who survives to testdata/survivors")
	jobs    = flag.Int("p", 2, "how many mutants run at once")
	sampled = flag.Int("sample", 0, "run `n` mutants of each target that a constant seed draws; 0 stands for all")
	argued  = flag.Int("argue", 0, "print `n` claims of equivalence that a constant seed draws, and run nothing")
	match   = flag.String("only", "", "the mutants whose name contains this `text`")
)

// survivors is the directory of who survives.
const survivors = "internal/mutate/testdata/survivors"

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	unexplained, err := do(ctx, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
	if unexplained > 0 {
		fmt.Printf("%d survivors have no reason\n", unexplained)
		os.Exit(1)
	}
}

// do runs the targets, and returns how many survivors nobody has explained.
func do(ctx context.Context, names []string) (unexplained int, err error) {
	root, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	if *argued > 0 {
		claims, err := drawClaims(filepath.Join(root, survivors), *argued)
		for _, c := range claims {
			fmt.Printf("%s: %s\n\t%s\n", c.file, c.survivor, c.reason)
		}
		return 0, err
	}
	for _, name := range names {
		if !slices.ContainsFunc(plan, func(t target) bool { return t.name == name }) {
			return 0, fmt.Errorf("no target %q", name)
		}
	}
	for _, t := range plan {
		if len(names) > 0 && !slices.Contains(names, t.name) {
			continue
		}
		n, err := t.do(ctx, root)
		if err != nil {
			return unexplained, err
		}
		unexplained += n
	}
	return unexplained, ctx.Err()
}

// do runs the mutants of one target.
func (t target) do(ctx context.Context, root string) (unexplained int, err error) {
	s, err := load(root, t.dir)
	if err == nil {
		err = s.choose(t.files)
	}
	if err != nil {
		return 0, err
	}
	all := makeMutants(s)
	if *list {
		for _, m := range all {
			fmt.Printf("%d %s: %s\n", m.ID, m.Place, m.Key)
		}
		return 0, nil
	}
	known, err := readResults(t.name)
	if err != nil {
		return 0, err
	}
	depths := []depth{short}
	if *inFull {
		depths = append(depths, full)
	}
	if *race {
		depths = []depth{racing}
	}
	for _, d := range depths {
		if err := t.at(ctx, root, s, all, d, known); err != nil {
			return 0, err
		}
	}
	return known.summary(t, all, filepath.Join(root, survivors))
}

// at runs those mutants of a target that have to be run at a depth.
func (t target) at(ctx context.Context, root string, s *source, all []mutant, d depth, known *verdicts) error {
	open := slices.DeleteFunc(draw(all), func(m mutant) bool { return known.settled(m, d) })
	if len(open) == 0 {
		return nil
	}
	p, err := build(ctx, root, t, s, d)
	if err != nil {
		return err
	}
	defer os.RemoveAll(p.tmp)
	if err := p.measure(ctx); err != nil {
		return err
	}
	var wg sync.WaitGroup
	failures := make([]error, len(open))
	slots := make(chan struct{}, *jobs)
	for i, m := range open {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() { <-slots }()
			v := p.try(ctx, m.ID)
			if v.Status == "" {
				return
			}
			v.Depth = d
			failures[i] = known.set(t.name, m, v)
			fmt.Printf("%s %s %d/%d %s: %s: %s %s\n", t.name, d, i+1, len(open), m.Place, m.Key, v.Status, v.By)
		}()
	}
	wg.Wait()
	return errors.Join(failures...)
}
