package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// verdict is what came of a mutant.
type verdict struct {
	Status string // survived, unreached, or killed and at which depth
	By     string // the test or rule that failed first
	Depth  depth  // of its last run
}

const (
	survived  = "survived"
	unreached = "unreached" // no test of the target gets there
)

// verdicts are those of a target, by the name of the mutant.
type verdicts struct {
	mu    sync.Mutex
	byKey map[string]verdict
}

func resultsFile(target string) string {
	return filepath.Join(*results, strings.ReplaceAll(target, "/", "-")+".json")
}

// readResults returns what earlier runs found.
func readResults(target string) (*verdicts, error) {
	v := &verdicts{byKey: map[string]verdict{}}
	text, err := os.ReadFile(resultsFile(target))
	if errors.Is(err, fs.ErrNotExist) {
		return v, nil
	} else if err != nil {
		return nil, err
	}
	return v, json.Unmarshal(text, &v.byKey)
}

// set notes what was found, and keeps it for later runs.
func (v *verdicts) set(target string, m mutant, found verdict) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.byKey[m.Key] = found
	if err := os.MkdirAll(*results, 0o777); err != nil {
		return err
	}
	text, err := json.MarshalIndent(v.byKey, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(resultsFile(target), text, 0o666)
}

// settled reports whether nothing is left to find out about a mutant at a depth.
func (v *verdicts) settled(m mutant, d depth) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	found, ok := v.byKey[m.Key]
	return ok && (strings.HasPrefix(found.Status, "killed") || found.Depth >= d)
}

// draw returns those of a target's mutants that are asked for: all, or a sample that is the
// same each time.
func draw(all []mutant) []mutant {
	chosen := slices.DeleteFunc(slices.Clone(all), func(m mutant) bool {
		return m.Lock != *race || !strings.Contains(m.Key, *match)
	})
	if *sampled == 0 || len(chosen) <= *sampled {
		return chosen
	}
	r := rand.New(rand.NewPCG(sampleSeed, 0))
	r.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
	return chosen[:*sampled]
}

// sampleSeed is the seed of every sample.
const sampleSeed = 15

// summary prints how many mutants were killed, and who survives, and with -update writes
// the latter. It returns how many of them have no reason.
func (v *verdicts) summary(t target, all []mutant, dir string) (unexplained int, err error) {
	name := filepath.Join(dir, strings.ReplaceAll(t.name, "/", "-")+".txt")
	reasons, err := readReasons(name)
	if err != nil {
		return 0, err
	}
	count := map[string]int{}
	var entries []entry
	byKey := map[string]int{}
	for _, m := range all {
		status := cmp.Or(v.byKey[m.Key].Status, "not run")
		count[status]++
		if status != survived && status != unreached {
			continue
		}
		key := m.Key
		if status == unreached && reasons[key] == "" {
			key = place(m)
		}
		if at, ok := byKey[key]; ok {
			entries[at].mutants++
			continue
		}
		byKey[key] = len(entries)
		entries = append(entries, entry{status: status, key: key, mutants: 1})
	}
	var b strings.Builder
	for _, e := range entries {
		if reasons[e.key] == "" {
			unexplained += e.mutants
			fmt.Println(e)
		}
		fmt.Fprintf(&b, "%v\n\t%s\n", e, cmp.Or(reasons[e.key], "?"))
	}
	head := fmt.Sprintf("%d mutants: %d killed with -short, %d more with ESCAPEMENT_PROVE=1, %d more with -race; "+
		"%d survive, %d are not reached, %d were not run", len(all), count["killed short"], count["killed full"],
		count["killed race"], count[survived], count[unreached], count["not run"])
	fmt.Printf("%s: %s\n", t.name, head)
	if !*record {
		return unexplained, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return unexplained, err
	}
	made := fmt.Sprintf("# Made by: go run ./internal/mutate%s -update %s", options(), t.name)
	text := fmt.Sprintf("%s\n# %s\n\n%s", made, head, b.String())
	return unexplained, os.WriteFile(name, []byte(text), 0o666)
}

// options are the flags on which it depends which mutants are run, and how far.
func options() (flags string) {
	if *inFull {
		flags += " -full"
	}
	if *sampled > 0 {
		flags += fmt.Sprintf(" -sample %d", *sampled)
	}
	return flags
}

// entry is what has a reason: a mutant, or all of a function that nothing reaches and that
// have no reason of their own.
type entry struct {
	status, key string
	mutants     int
}

func (e entry) String() string {
	if e.mutants == 1 {
		return e.status + ": " + e.key
	}
	return fmt.Sprintf("%s (%d): %s", e.status, e.mutants, e.key)
}

// place is the function in which a mutant is.
func place(m mutant) string {
	where, _, _ := strings.Cut(m.Key, ": ")
	return where
}

// readReasons returns the reasons in a file of survivors, by the name of the mutant, or of
// the function that is not reached.
func readReasons(name string) (map[string]string, error) {
	reasons := map[string]string{}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return reasons, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	key := ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "\t"):
			if reason := strings.TrimSpace(line); reason != "?" {
				reasons[key] = reason
			}
		case line != "" && line[0] != '#':
			_, key, _ = strings.Cut(line, ": ")
		}
	}
	return reasons, nil
}
