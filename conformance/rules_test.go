package conformance_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Each rule's link leads to a heading of its contract's page, and no two rules share one.
func TestRules_haveLinksOfTheirOwn(t *testing.T) {
	for _, c := range contracts() {
		text, err := os.ReadFile(filepath.Join(c.pkg, "RULES.md"))
		if err != nil {
			t.Fatal(err)
		}
		anchors := map[string]int{}
		for _, line := range strings.Split(string(text), "\n") {
			if title, ok := strings.CutPrefix(line, "## "); ok {
				anchors[strings.ToLower(title)]++
			}
		}
		for _, r := range c.rules {
			page, anchor, _ := strings.Cut(r.Link, "#")
			if anchors[anchor] != 1 || !strings.HasSuffix(page, "/conformance/"+c.pkg+"/RULES.md") {
				t.Errorf("%s %s: %d headings of its page answer to %s, want 1", c.kind, r.ID, anchors[anchor], r.Link)
			}
		}
	}
}

// A rule's ID is a subtest's name: it must be selectable with -run, and unique in its
// contract.
func TestRules_haveSelectableNames(t *testing.T) {
	name := regexp.MustCompile(`^[A-Z]+-[A-Z0-9]+$`)
	for _, c := range contracts() {
		seen := map[string]bool{"CANARY": true, "TRAITS": true}
		for _, r := range c.rules {
			if !name.MatchString(r.ID) || seen[r.ID] {
				t.Errorf("%s: the ID %q is not unique or not selectable", c.kind, r.ID)
			}
			seen[r.ID] = true
			says := strings.Contains(r.Text, "MUST") || strings.Contains(r.Text, " may ")
			if !says || !strings.HasSuffix(r.Text, ".") {
				t.Errorf("%s: %q does not say what an implementation MUST do", r.ID, r.Text)
			}
		}
	}
}

// Where the code of a contract names a rule, it is one of that contract: what a rule is
// beyond, and which rule a difference breaks, would else be said of none. In draw.go are
// the laws of two runs, which are no rules.
func TestRules_areThoseNamed(t *testing.T) {
	for _, c := range contracts() {
		known := map[string]bool{}
		for _, r := range c.rules {
			known[r.ID] = true
		}
		files, err := filepath.Glob(filepath.Join(c.pkg, "*.go"))
		if err != nil || len(files) < 5 {
			t.Fatalf("Glob(%s): %v, %v", c.pkg, files, err)
		}
		named := 0
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || filepath.Base(file) == "draw.go" {
				continue
			}
			fset := token.NewFileSet()
			tree, err := parser.ParseFile(fset, file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				if id := ruleIn(n); id != "" {
					if named++; !known[id] {
						t.Errorf("%s: %s is no rule of this contract", fset.Position(n.Pos()), id)
					}
				}
				return true
			})
		}
		if named < 10 {
			t.Errorf("%s: %d names of rules in the code, want those of its rules' literals at least", c.pkg, named)
		}
	}
}

// ruleID is what the ids of rules look like.
var ruleID = regexp.MustCompile(`^[A-Z]{1,2}-[A-Z0-9]+$`)

// ruleIn returns the rule that a literal names, "" if it names none.
func ruleIn(n ast.Node) string {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil || !ruleID.MatchString(text) {
		return ""
	}
	return text
}

const byLaws = "`properties.Laws` checks it, on two runs."

// lawsElsewhere are the laws that have no rule of their own.
var lawsElsewhere = []struct{ id, where string }{
	{"X-SHIFT", byLaws + " In one run all rules judge the schedules that start at other epochs."},
	{"X-SCALE", byLaws + " In one run all rules judge odd and long waits."},
	{"X-REPLAY", byLaws},
	{"X-RENAME of leaky buckets", byLaws},
	{"X-RENAME for payloads that differ", byLaws + " A payload of 0 is tried, and judged by all rules."},
	{"X-QUERY", byLaws + " All rules judge schedules with pending among the other operations."},
	{"X-EVICT of debouncers and throttles", byLaws + " DB-KEY and TH-KEY judge keys that come back."},
	{"X-CFG of debouncers and throttles", "DB-ZERO, DB-NEG and TH-ZERO judge waits of 0 or less, " +
		"X-CALLS constructors that refuse positive ones."},
	{"X-CFG of leaky buckets and semaphores", "is not judged: " +
		"all intervals, limits and backlogs tried are sensible."},
	{"X-CFG and X-BACK of batchers", "are not judged."},
	{"BT-WEIGHT", "is not judged: an item counts as one."},
	{"DB-INSERT", byLaws},
	{"DB-CONCAT", byLaws},
	{"DB-MAXAUTO", "DB-MAX: the bound fires without another event."},
	{"DB-MAXNOLEAD", "DB-MAXNE: an event that leads after a fire of the bound comes too early."},
	{"DB-MAXEQ", "DB-MAX and DB-MAXNE judge a bound equal to the wait, and a shorter one, which may be refused, " +
		"raised to the wait or kept."},
	{"DB-MAXTIE", "DB-MAXNE: one fire too many."},
	{"DB-SERIALKEEP", "DB-LIVE, DB-QUIET and DB-EXACT judge events that come while the callback runs."},
	{"DB-GOROUTINE", "is a choice, on which no rule depends."},
	{"DB-NOLOCK", "X-REENT judges a lock that is held during the callback and that the callback needs. " +
		"That others wait for it is a choice."},
	{"TH-SUBSEQ", "TH-NOSPON, TH-PAY and TH-SPACE compare every emission with the events."},
	{"TH-NOLOCK", "as DB-NOLOCK."},
	{"TH-CTX, a reader that stops", "is judged by what remains after the context is cancelled. Before that, a " +
		"buffered item and a goroutine blocked for good look alike, since the reader is part of the spec. " +
		"Late readers are not tried: what they miss depends on the buffer."},
	{"RL-SPLIT", "RL-MODEL: both are decided as by the exact bucket."},
	{"GC-OVF", "X-CFG judges bursts and intervals whose product overflows, RL-TINY and RL-HUGE those of limiters."},
	{"GC-SUBNS", "X-CFG judges intervals below a nanosecond, RL-HUGE those of limiters."},
	{"LB-BACK", "LB-CANCEL: a cancelled item frees its place and delays no other."},
}

// Each law has a rule, or is listed with the rules that cover it, or with the reason why none
// does.
func TestRules_coverTheLaws(t *testing.T) {
	const laws = `
		X-SHIFT X-SCALE X-REPLAY X-RENAME X-QUERY X-ISO X-EVICT X-RACE X-LEAK X-REENT X-PANIC X-CLOCK1 X-BACK X-CFG
		X-CONC X-READ X-EFFECT
		DB-QUIET DB-EXACT DB-ONE DB-LAST DB-LIVE DB-IDLE DB-SUBSEQ DB-GAPRATE DB-INSERT DB-CONCAT
		DB-TIE DB-NOSTALE DB-ZERO DB-NEG
		DB-LEAD DB-LEAD1 DB-REARM DB-LEADONLY DB-BOTH1 DB-BOTHN DB-NONE
		DB-MAX DB-MAXNE DB-MAXAUTO DB-MAXTAIL DB-MAXPAY DB-MAXNOLEAD DB-MAXEQ DB-MAXTIE
		DB-CANCEL DB-CANCELBAR DB-REUSE DB-STOP DB-FLUSH DB-FLUSH0 DB-PEND DB-CLOSE
		DB-OVERLAP DB-SERIALKEEP DB-GOROUTINE DB-NOLOCK
		TH-SPACE TH-FIRST TH-LEADNEXT TH-DROP TH-LAST TH-PAY TH-SINGLE TH-TRAILONLY TH-TRAILOPENS TH-NOTDEB
		TH-NOSPON TH-SUBSEQ TH-RATE TH-MAXIMAL TH-ANCHOR TH-ERR TH-ERRNEUT TH-ZERO TH-CTX TH-CLOSE TH-RESET
		TH-ONEOF TH-KEY TH-NOLOCK TH-CLOCKBACK
		RL-ENV RL-WORK RL-MODEL RL-FULL RL-CAP RL-DENYPURE RL-SPLIT RL-FRAC RL-DRIFT RL-N0 RL-NEG RL-NBIG RL-LIM0
		RL-INF RL-INFOUT RL-TINY RL-HUGE RL-PAST RL-PASTQ RL-EPOCH
		W-NOTEARLY W-EXACT W-EATS W-PRE W-DEAD W-DEADEQ W-CANCEL W-ERR W-FIFO W-NOSTARVE W-WAKE W-NOLOST
		RS-OK RS-DELAY RS-MONO RS-DEBT CN-UPPER CN-LOWER CN-LIFO CN-ANY CN-LATE CN-IDEM CN-WINDOW
		SL-NORETRO SL-KEEP SB-CAP SB-NOGIFT SB-LIVE SL-CONC
		LB-SPACE LB-EXACT LB-IDLE LB-BOUND LB-DROP LB-FIFO LB-EMPTY LB-FRAC LB-BACK LB-CANCEL LB-SAMEINSTANT
		GC-EQUIV GC-BURST GC-RETRY GC-RETRYNEG GC-REMAIN GC-RESET GC-DENYPURE GC-PEEKPURE GC-TAT GC-NEG
		GC-OVF GC-SUBNS
		SW-ANY SW-EXP SW-WORK SW-DENYCOUNT SC-APPROX SC-ORDER SC-N1 SC-FIRST
		FW-ALIGNED FW-2N FW-NOEXTEND FW-EDGE FW-HIT
		CT-LIMIT CT-WORK CT-REJECT CT-SEAT CT-TIME CT-TIME0 CT-CTX CT-CTXPRE CT-TIE CT-NOGHOST CT-RELEASE CT-OVERREL
		CT-HEAD CT-FIFO CT-NOLOST CT-OVER CT-RESIZE CT-HOOK CT-CONV`
	found := map[string]bool{}
	for _, c := range contracts() {
		for _, r := range c.rules {
			found[r.ID] = true
		}
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
