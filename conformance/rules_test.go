package conformance

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// RULES.md is made from the rules, so that it cannot fall behind them.
func TestRules_areDocumented(t *testing.T) {
	var b strings.Builder
	b.WriteString("<!-- Made by: go test ./conformance -run '^TestRules_areDocumented$' -update -->\n\n# Rules\n\n" +
		"One rule is one law, and one subtest of that name. A rule fails only on a MUST. *Core* rules hold for every\n" +
		"implementation that has the operation; *extended* ones for those that declare the trait.\n" +
		"`CANARY` comes first and proves that time is taken from where the spec says; `TRAITS` fails while a choice is undeclared.\n")
	for _, contract := range Contracts() {
		fmt.Fprintf(&b, "\n## %s\n", strings.ToUpper(contract[:1])+contract[1:])
		for _, r := range Rules(contract) {
			fmt.Fprintf(&b, "\n### %s\n\n%s *%s*\n", r.ID, r.Text, r.Level)
		}
	}
	b.WriteString("\n## Laws without a rule of that name\n\nOf debouncers and throttles.\n\n")
	for _, law := range lawsElsewhere {
		fmt.Fprintf(&b, "- **%s**: %s\n", law.id, law.where)
	}
	if *update {
		if err := os.WriteFile("RULES.md", []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile("RULES.md"); err != nil || string(got) != b.String() {
		t.Errorf("RULES.md is not what the rules say (%v); run with -update", err)
	}
}

// A rule's ID is a subtest's name: it must be selectable with -run, and unique in
// its contract.
func TestRules_haveSelectableNames(t *testing.T) {
	name := regexp.MustCompile(`^[A-Z]+-[A-Z0-9]+$`)
	for _, contract := range Contracts() {
		seen := map[string]bool{"CANARY": true, "TRAITS": true}
		for _, r := range Rules(contract) {
			if !name.MatchString(r.ID) || seen[r.ID] {
				t.Errorf("%s: the ID %q is not unique or not selectable", contract, r.ID)
			}
			seen[r.ID] = true
			if !strings.Contains(r.Text, "MUST") || !strings.HasSuffix(r.Text, ".") {
				t.Errorf("%s: %q does not say what an implementation MUST do", r.ID, r.Text)
			}
		}
	}
}

// What a rule is about is said only of rules that there are.
func TestConcerns_nameRules(t *testing.T) {
	known := map[string]bool{}
	for _, contract := range Contracts() {
		for _, r := range Rules(contract) {
			known[r.ID] = true
		}
	}
	for id := range concerns {
		if !known[id] {
			t.Errorf("concerns names %q, which is no rule", id)
		}
	}
}

// lawsElsewhere are the laws of debouncers and throttles that have no rule of their
// own.
var lawsElsewhere = []struct{ id, where string }{
	{"X-SHIFT", "compares two runs. In one run all rules judge the schedules that start at other epochs."},
	{"X-SCALE", "compares two runs. In one run all rules judge odd and long waits."},
	{"X-REPLAY", "compares two runs."},
	{"X-RENAME", "compares two runs. A payload of 0 is tried, and judged by all rules."},
	{"X-QUERY", "compares two runs. All rules judge schedules with pending among the other operations."},
	{"X-EVICT", "compares two runs."},
	{"X-CFG", "DB-ZERO, DB-NEG and TH-ZERO judge what is not positive, X-CALLS a constructor that refuses what is."},
	{"DB-INSERT", "compares two runs."},
	{"DB-CONCAT", "compares two runs."},
	{"DB-MAXAUTO", "DB-MAX: the bound fires without another event."},
	{"DB-MAXNOLEAD", "DB-MAXNE: what a fire of the bound makes lead comes too early."},
	{"DB-MAXEQ", "DB-MAX and DB-MAXNE judge a bound equal to the wait. A smaller one is not tried: refused, cut to the wait or taken as it is, all are right."},
	{"DB-MAXTIE", "DB-MAXNE: one fire too many."},
	{"DB-SERIALKEEP", "DB-LIVE, DB-QUIET and DB-EXACT judge events that come while the callback runs."},
	{"DB-GOROUTINE", "is a choice, on which no rule depends."},
	{"DB-NOLOCK", "X-REENT judges what a lock held during the callback does to the callback. That it keeps others waiting is a choice."},
	{"TH-SUBSEQ", "TH-NOSPON, TH-PAY and TH-SPACE compare every emission with the events."},
	{"TH-ANCHOR", "is a choice. TH-BUSY demands what holds from the start and from the end of the callback."},
	{"TH-NOLOCK", "as DB-NOLOCK."},
}

// Each law of debouncers and throttles has a rule, or it is said where it went.
func TestRules_coverTheLaws(t *testing.T) {
	const laws = `X-SHIFT X-SCALE X-REPLAY X-RENAME X-QUERY X-ISO X-EVICT X-RACE X-LEAK X-REENT X-PANIC X-CLOCK1 X-BACK X-CFG X-CONC
		DB-QUIET DB-EXACT DB-ONE DB-LAST DB-LIVE DB-IDLE DB-SUBSEQ DB-GAPRATE DB-INSERT DB-CONCAT DB-TIE DB-NOSTALE DB-ZERO DB-NEG
		DB-LEAD DB-LEAD1 DB-REARM DB-LEADONLY DB-BOTH1 DB-BOTHN DB-NONE
		DB-MAX DB-MAXNE DB-MAXAUTO DB-MAXTAIL DB-MAXPAY DB-MAXNOLEAD DB-MAXEQ DB-MAXTIE
		DB-CANCEL DB-CANCELBAR DB-REUSE DB-STOP DB-FLUSH DB-FLUSH0 DB-PEND DB-CLOSE DB-OVERLAP DB-SERIALKEEP DB-GOROUTINE DB-NOLOCK
		TH-SPACE TH-FIRST TH-LEADNEXT TH-DROP TH-LAST TH-PAY TH-SINGLE TH-TRAILONLY TH-TRAILOPENS TH-NOTDEB TH-NOSPON TH-SUBSEQ
		TH-RATE TH-MAXIMAL TH-ANCHOR TH-ERR TH-ERRNEUT TH-ZERO TH-CTX TH-CLOSE TH-RESET TH-ONEOF TH-KEY TH-NOLOCK TH-CLOCKBACK`
	found := map[string]bool{}
	for _, r := range slices.Concat(Rules("debouncer"), Rules("throttle")) {
		found[r.ID] = true
	}
	for _, law := range lawsElsewhere {
		if found[law.id] {
			t.Errorf("%s has a rule and is listed as without", law.id)
		}
		found[law.id] = true
	}
	for _, law := range strings.Fields(laws) {
		if !found[law] {
			t.Errorf("%s has no rule, and nothing says why", law)
		}
	}
}
