package peers

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A costRow is something that a bundled type does, beside what else does it and beside a
// floor, which is the least that it can cost. All of it is measured in one binary, in
// rounds so short that some are not disturbed, in which the sides alternate, so that what
// else the machine does falls on all of them. The rows are in the files rows_*_test.go:
//
//	go test -run '^$' -bench Rows -benchtime 300x -cpu 2 .
//
// measures 300 rounds of each side, and prints the least and the median of each; the
// ratio of the least, as what disturbs only adds; and in parentheses the median of the
// ratios of each round. A goal is for the first, and with more than one goroutine for the
// second: in the round that takes least they did not meet.
type costRow struct {
	name       string
	goroutines int     // that share the calls of a round; 0: one
	unit       string  // "": nanoseconds a call
	most       float64 // a goal in units; 0: none
	sides      func(b *testing.B) []side
}

// A side of a costRow. The first is the bundled type.
type side struct {
	name string
	most float64 // the goal: the bundled type takes at most so many times as much; 0: none

	loop    func(n int)         // makes n calls, on each of the goroutines
	measure func(n int) float64 // or makes n calls in all, and returns their sum in units
	calls   int                 // n; 0: as many as take a round
}

// round is how long a side is measured before the next one is.
const round = 2 * time.Millisecond

// measureRows measures rows, b.N rounds of each, and prints them.
func measureRows(b *testing.B, rows []costRow) {
	var table []string
	for _, r := range rows {
		var lines []string
		ran := b.Run(strings.ReplaceAll(r.title(), ", ", "/"), func(b *testing.B) {
			sides := r.sides(b)
			lines = r.lines(b, sides, r.rounds(b.N, sides))
		})
		if ran {
			table = append(table, lines...)
		}
	}
	if len(table) > 0 {
		fmt.Printf("\n%-42s %9s %9s   %-13s goal\n%s\n\n", "", "least", "median", "own to this", strings.Join(table, "\n"))
	}
}

// title returns the name of r, and of how many goroutines it is.
func (r costRow) title() string {
	if r.goroutines > 1 {
		return fmt.Sprintf("%s, %d goroutines", r.name, r.goroutines)
	}
	return r.name
}

// rounds measures n rounds of each side, and begins each with another one.
func (r costRow) rounds(n int, sides []side) [][]float64 {
	calls, got := make([]int, len(sides)), make([][]float64, len(sides))
	for i, s := range sides {
		calls[i] = r.calibrate(s)
	}
	for i := range n {
		for j := range sides {
			k := (i + j) % len(sides)
			got[k] = append(got[k], r.measure(sides[k], calls[k])/float64(calls[k]))
		}
	}
	return got
}

// calibrate returns how many calls take a round.
func (r costRow) calibrate(s side) int {
	if s.calls > 0 {
		return s.calls
	}
	for n := 1024; ; n *= 2 {
		start := time.Now()
		r.measure(s, n)
		if took := time.Since(start); took >= round/4 || n >= 1<<30 {
			return max(1, int(float64(n)*float64(round)/float64(max(took, 1))))
		}
	}
}

// measure returns what n calls take.
func (r costRow) measure(s side, n int) float64 {
	if s.measure != nil {
		return s.measure(n)
	}
	if r.goroutines <= 1 {
		start := time.Now()
		s.loop(n)
		return float64(time.Since(start))
	}
	var ready, done sync.WaitGroup
	begin := make(chan struct{})
	for i := range r.goroutines {
		ready.Add(1)
		done.Add(1)
		go func() {
			defer done.Done()
			ready.Done()
			<-begin
			s.loop((n + i) / r.goroutines)
		}()
	}
	ready.Wait()
	start := time.Now()
	close(begin)
	done.Wait()
	return float64(time.Since(start))
}

// lines prints what was measured, and reports it.
func (r costRow) lines(b *testing.B, sides []side, got [][]float64) []string {
	unit := r.unit
	if unit == "" {
		unit = "ns"
	}
	lines := []string{r.title() + ", " + unit}
	least := slices.Min(got[0])
	for i, s := range sides {
		beside, goal := "", verdict(least, r.most)
		if i == 0 {
			b.ReportMetric(least, unit+"/op")
		} else {
			ratio, paired := least/slices.Min(got[i]), make([]float64, len(got[i]))
			for j := range paired {
				paired[j] = got[0][j] / got[i][j]
			}
			beside = fmt.Sprintf("%5.2f (%.2f)", ratio, middle(paired))
			if r.goroutines > 1 {
				ratio = middle(paired)
			}
			goal = verdict(ratio, s.most)
			b.ReportMetric(ratio, "to-"+strings.ReplaceAll(s.name, " ", "-"))
		}
		line := fmt.Sprintf("  %-40s %9.4g %9.4g   %-13s %s", s.name, slices.Min(got[i]), middle(got[i]), beside, goal)
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}

func verdict(got, most float64) string {
	switch {
	case most == 0:
		return ""
	case got <= most:
		return fmt.Sprintf("<= %g: reached", most)
	}
	return fmt.Sprintf("<= %g: NOT reached", most)
}

func middle(numbers []float64) float64 {
	return slices.Sorted(slices.Values(numbers))[len(numbers)/2]
}
