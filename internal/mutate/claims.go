package main

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// claim is a survivor of which a reason says that no caller can tell it from the original.
type claim struct {
	file, survivor, reason string
	place                  uint64 // in the draw
}

// drawClaims returns n of all claims of equivalence in a directory of survivors, in the order
// of the files. Where a claim is drawn does not depend on the others, so that a new one takes
// the place of one at most.
func drawClaims(dir string, n int) ([]claim, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	var all []claim
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var survivor string
		for line := range strings.Lines(string(text)) {
			reason, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "\t")
			if !ok {
				survivor = strings.TrimSuffix(line, "\n")
			} else if strings.HasPrefix(reason, "equivalent") {
				_, key, _ := strings.Cut(survivor, ": ") // it may be reached one day
				h := fnv.New64a()
				fmt.Fprint(h, filepath.Base(name), key)
				place := rand.NewPCG(sampleSeed, h.Sum64()).Uint64()
				all = append(all, claim{filepath.Base(name), survivor, reason, place})
			}
		}
	}
	drawn := slices.Clone(all)
	slices.SortFunc(drawn, func(a, b claim) int { return cmp.Compare(a.place, b.place) })
	if n < len(drawn) {
		all = slices.DeleteFunc(all, func(c claim) bool { return c.place >= drawn[n].place })
	}
	return all, nil
}
