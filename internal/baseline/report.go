package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// report is what the suite writes for one implementation.
type report struct {
	Name      string
	Contract  string
	Time      string
	Bubbles   bool
	Schedules int
	Runs      int
	LeftOut   map[string]int `json:"left_out"`
	Partial   string
	Seconds   float64
	Verdicts  []verdict
}

type verdict struct {
	Rule, Level, Status, Reason, Schedule, Family, Text string
	Judged                                              int
}

func readReports(path string) ([]report, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out []report
	in := bufio.NewScanner(bytes.NewReader(text))
	in.Buffer(nil, len(text)+1)
	for in.Scan() {
		var r report
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("%s: %v", path, err)
		}
		out = append(out, r)
	}
	return out, in.Err()
}

// printBench prints what benchstat reads.
func printBench(w io.Writer, set string, reports []report) {
	word := strings.NewReplacer(" ", "_", "/", "_", "|", "/")
	for _, r := range reports {
		fmt.Fprintf(w, "BenchmarkVerdict/%s 1 %.0f ns/op %.0f schedules/s %.0f runs/s\n",
			word.Replace(key(set, r)), r.Seconds*1e9, float64(r.Schedules)/r.Seconds, float64(r.Runs)/r.Seconds)
	}
}

// key tells implementations apart.
func key(set string, r report) string {
	return strings.Join([]string{set, r.Contract, r.Name, r.Time}, "|")
}
