// Command baseline compares what the suite finds on every implementation in this module,
// and on the libraries of conformance/peers, with what is on record in testdata.
//
//	go run ./internal/baseline [flags] [contract ...]
//
// A name of a contract, such as clock, limits it to that contract. It runs the tests of
// the plan with ESCAPEMENT_REPORT set, and reads nothing but those reports: where an
// implementation is tested, and by which test, is free. It exits with 1 if a result
// differs or a test fails.
//
// What is on record of each implementation: why it is partial, and of each rule its status
// and the smallest schedule of its failure. What is chance is in chances, each with its
// reason. Where a change moves tests, the plan does.
//
// Left out are mutants that hang, as each waits 10 s for the watchdog (their texts are in
// testdata/hangs.golden of the suite), X-RACE, which runs with -race only, and what only
// ESCAPEMENT_PROVE=all adds to correct implementations.
//
// With -processors 1,2,8 all of it runs with each GOMAXPROCS, one after the other, and the runs
// are compared with each other in place of the record, with all counts and a hash of each text:
// they must not differ. The hash that it prints is of all that is compared.
//
// For a comparison of speed, -bench prints each report as a benchmark, for benchstat; on
// standard error are the seconds of CPU of each process.
package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

var (
	update = flag.Bool("update", false, "write what is found to testdata")
	sets   = flag.String("sets", strings.Join(allSets, ","), "the sets of implementations to look at")
	bench  = flag.Bool("bench", false, "print seconds and schedules per second of each implementation, as benchmarks do")
	keep   = flag.String("keep", "", "keep the reports and the output of the tests in this `directory`")
	from   = flag.String("from", "", "read the reports that -keep left in this `directory`, and run nothing")
	jobs   = flag.Int("p", 1, "how many processes run at once")

	processors = flag.String("processors", "", "run everything with each of these `numbers` for GOMAXPROCS, and compare the runs")
)

const records = "internal/baseline/testdata"

func main() {
	flag.Parse()
	if err := do(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "baseline:", err)
		os.Exit(1)
	}
}

func do(contracts []string) error {
	chosen, err := choose(contracts, strings.Split(*sets, ","))
	if err != nil {
		return err
	}
	if *processors != "" {
		return compareProcessors(chosen, strings.Split(*processors, ","))
	}
	found, failed, err := find(chosen, false)
	if err != nil {
		return err
	}
	if *update {
		if failed != nil {
			return failed
		}
		return found.write(chosen)
	}
	want, err := readRecords(chosen)
	if err != nil {
		return err
	}
	differ := compare(os.Stdout, want, found)
	switch {
	case failed != nil:
		return failed
	case differ > 0:
		return fmt.Errorf("%d of %d implementations differ", differ, len(want))
	}
	fmt.Printf("baseline: %d implementations, no difference\n", len(want))
	return nil
}

// find runs the tests, unless that was done before, and reads their reports. failed says that
// a test failed.
func find(chosen []run, full bool) (found results, failed, err error) {
	dir := *from
	if dir == "" {
		if dir, err = reportDir(*keep); err != nil {
			return nil, nil, err
		}
		if *keep == "" {
			defer os.RemoveAll(dir)
		}
		failed = runAll(chosen, dir, *jobs)
	}
	found = results{}
	for _, r := range chosen {
		reports, err := readReports(filepath.Join(dir, r.file()))
		if err != nil {
			return nil, failed, err
		}
		for _, rep := range reports {
			if rep.Contract != r.contract {
				return nil, failed, fmt.Errorf("%s of the plan runs %q, of the contract %s", r.file(), rep.Name, rep.Contract)
			}
			if err := found.add(r.set, rep, full); err != nil {
				return nil, failed, err
			}
		}
		if *bench {
			printBench(os.Stdout, r.set, reports)
		}
	}
	return found, failed, nil
}

// compareProcessors compares runs with these GOMAXPROCS with each other.
func compareProcessors(chosen []run, numbers []string) error {
	if *from != "" || *keep != "" || *update {
		return errors.New("-processors goes with none of -from, -keep and -update")
	}
	var first results
	for _, n := range numbers {
		if err := os.Setenv("GOMAXPROCS", n); err != nil {
			return err
		}
		found, failed, err := find(chosen, true)
		if err = errors.Join(err, failed); err != nil {
			return err
		}
		fmt.Printf("GOMAXPROCS %s: %d implementations, %x\n", n, len(found), sha256.Sum256(found.print()))
		if first == nil {
			first = found
		}
		if differ := compare(os.Stdout, first, found); differ > 0 {
			return fmt.Errorf("%d of %d implementations differ between GOMAXPROCS %s and %s", differ, len(first), numbers[0], n)
		}
	}
	return nil
}

// reportDir is where the tests write their reports.
func reportDir(keep string) (string, error) {
	if keep == "" {
		return os.MkdirTemp("", "baseline")
	}
	return keep, os.MkdirAll(keep, 0o777)
}

// choose returns the part of the plan that is asked for: all contracts if none is named.
func choose(contracts, sets []string) ([]run, error) {
	for i, c := range contracts {
		if strings.HasPrefix(c, "-") {
			return nil, fmt.Errorf("%s: flags come before contracts", c)
		}
		contracts[i] = strings.ReplaceAll(c, "_", " ")
		if !slices.ContainsFunc(plan, func(r run) bool { return r.contract == contracts[i] }) {
			return nil, fmt.Errorf("no contract %q", c)
		}
	}
	for _, s := range sets {
		if !slices.Contains(allSets, s) {
			return nil, fmt.Errorf("-sets: no set %q; there are %s", s, strings.Join(allSets, ", "))
		}
	}
	var out []run
	for _, r := range plan {
		if (len(contracts) == 0 || slices.Contains(contracts, r.contract)) && slices.Contains(sets, r.set) {
			out = append(out, r)
		}
	}
	return out, nil
}
