// Package prove says how far the tests of this module go. Without a word they show everything once: what each package
// does, the verdict on each bundled type, a mutant for each rule, some correct designs. What shows that the suite is
// right takes minutes or hours more, and runs if [Variable] says so.
package prove

import (
	"fmt"
	"os"
	"strconv"
	"testing"
)

// Variable is the environment variable: "1" for what must hold before a change lands, "all" for the long form.
const Variable = "ESCAPEMENT_PROVE"

// Level is how far the tests go.
type Level int

const (
	Once  Level = iota // everything once
	Suite              // all mutants, choices, designs and drivers, programs, random schedules
	All                // the same in numbers that take hours
)

// now is the level of this run.
func now() Level {
	switch v := os.Getenv(Variable); v {
	case "":
		return Once
	case "1":
		return Suite
	case "all":
		return All
	default:
		panic(fmt.Sprintf("prove: %s=%q; use 1, or all for the long form", Variable, v))
	}
}

// Reaches reports whether the tests go as far as a level.
func Reaches(l Level) bool { return now() >= l }

// Require skips a test, or a subtest, that is run from a level on.
func Require(t testing.TB, l Level) {
	t.Helper()
	switch {
	case Reaches(l):
	case l == All:
		t.Skip(Variable + "=all runs it")
	default:
		t.Skip(Variable + "=1 runs it")
	}
}

// Number is how often something is done: at each level, and with -short at whatever level.
func Number(short, once, suite, all int) int {
	if testing.Short() {
		return short
	}
	return []int{once, suite, all}[now()]
}

// Drawn is the environment variable that says how many designs with drawn choices there are, instead of [Number]:
// internal/mutate sets it, to judge the code of many choices by more than one of them.
const Drawn = "ESCAPEMENT_DRAWN"

// Draws is what [Drawn] says, or [Number].
func Draws(short, once, suite, all int) int {
	v := os.Getenv(Drawn)
	if v == "" {
		return Number(short, once, suite, all)
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		panic(fmt.Sprintf("prove: %s=%q; use a number", Drawn, v))
	}
	return n
}

// Long is n, or at level All as many as all.
func Long(n, all int) int { return Number(n, n, n, all) }
