package goroutine

import (
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// Waiting is a goroutine of a bubble, as a stack dump shows it.
type Waiting struct {
	// ID tells goroutines apart.
	ID string
	// State is what it waits for, "sync.Mutex.Lock" or "chan receive", or that it
	// is "running" or "runnable".
	State string
	// Durable says that only the bubble can make it go on.
	Durable bool
	// Function is the innermost one that is not of the runtime's or of packages
	// time, sync and context, Place where in it, as file and line; CreatedBy is the
	// function that started the goroutine.
	Function, Place, CreatedBy string
}

// String describes the goroutine without numbers and addresses, so that two runs
// of one program give the same text.
func (w Waiting) String() string {
	s := w.State + " in " + w.Function
	if w.Place != "" {
		s += " at " + w.Place
	}
	if w.CreatedBy != "" {
		s += ", started by " + w.CreatedBy
	}
	return s
}

// Bubble returns the tag that marks the goroutines of the caller's bubble in a
// dump, "" outside bubbles. The header of a goroutine in a bubble ends in
// "synctest bubble N]:", on Go 1.24 in "synctest group N]:".
func Bubble() string {
	var buf [128]byte
	header, _, _ := strings.Cut(string(buf[:runtime.Stack(buf[:], false)]), "\n")
	return tagOf(header)
}

// tagOf is the tag of a header, "" outside bubbles.
func tagOf(header string) string {
	if i := strings.Index(header, "synctest "); i >= 0 {
		return header[i:]
	}
	return ""
}

// number is that of the goroutine of a header.
func number(header string) (uint64, error) {
	id, _, _ := strings.Cut(strings.TrimPrefix(header, "goroutine "), " ")
	return strconv.ParseUint(id, 10, 64)
}

// BubbleUnder returns the tag of the newest bubble that goroutine id, or one that it
// started, has made and that has not ended, leaving out those in not; "" if there is
// none.
func BubbleUnder(id uint64, not map[string]bool) string {
	type made struct {
		id  uint64
		tag string
	}
	children := map[uint64][]made{}
	for _, g := range Stacks() {
		header, stack, _ := strings.Cut(g, "\n")
		_, by, _ := strings.Cut(stack, " in goroutine ")
		by, _, _ = strings.Cut(by, "\n")
		parent, err := strconv.ParseUint(by, 10, 64)
		child, err2 := number(header)
		if err != nil || err2 != nil {
			continue
		}
		children[parent] = append(children[parent], made{child, tagOf(header)})
	}
	var newest made
	var walk func(id uint64)
	walk = func(id uint64) {
		for _, c := range children[id] {
			if c.tag == "" {
				walk(c.id)
			} else if c.id > newest.id && !not[c.tag] {
				newest = c
			}
		}
	}
	walk(id)
	return newest.tag
}

// Abandoned returns the tag of the newest bubble whose root has ended while goroutines of it
// live on, leaving out those in not; "" if there is none.
func Abandoned(not map[string]bool) string {
	newest := map[string]uint64{}
	kept := map[string]bool{}
	for _, g := range Stacks() {
		header, stack, _ := strings.Cut(g, "\n")
		tag := tagOf(header)
		id, err := number(header)
		if tag == "" || err != nil {
			continue
		}
		newest[tag] = max(newest[tag], id)
		kept[tag] = kept[tag] || not[tag] || keepsBubble(stack)
	}
	best := ""
	for tag, id := range newest {
		if !kept[tag] && id > newest[best] {
			best = tag
		}
	}
	return best
}

// InBubble describes the goroutines of a bubble in sorted order, without those that
// keep the bubble itself.
func InBubble(tag string) []Waiting {
	if tag == "" {
		return nil
	}
	var out []Waiting
	for _, g := range Stacks() {
		header, stack, _ := strings.Cut(g, "\n")
		if strings.HasSuffix(header, tag) && !keepsBubble(stack) {
			out = append(out, Describe(header, stack))
		}
	}
	slices.SortFunc(out, func(a, b Waiting) int { return strings.Compare(a.String(), b.String()) })
	return out
}

// Asleep reports whether the goroutine of a bubble that has a function on its stack is
// in time.Sleep.
func Asleep(tag, function string) bool {
	for _, g := range Stacks() {
		header, stack, _ := strings.Cut(g, "\n")
		if strings.HasSuffix(header, tag) && strings.Contains(stack, function) {
			return Describe(header, stack).State == "sleep"
		}
	}
	return false
}

// keepsBubble reports whether a stack is that of a goroutine that is there for the
// bubble's sake: its root, what package testing puts in it, and on Go 1.24 its first
// one when the function that it ran has returned.
func keepsBubble(stack string) bool {
	stack, _, _ = strings.Cut(stack, "\ncreated by ")
	top, _, _ := strings.Cut(stack, "\n")
	return strings.Contains(stack, "internal/synctest.Run(") ||
		strings.Contains(stack, "testing/synctest.testingSynctestTest(") ||
		strings.Contains(top, "/synctestcompat.run.func")
}

// enough is the size that the last dump needed.
var enough atomic.Int64

// Stacks returns the stacks of all goroutines, the caller's first.
func Stacks() []string {
	buf := make([]byte, max(1<<16, enough.Load()))
	for {
		if n := runtime.Stack(buf, true); n < len(buf) {
			enough.Store(int64(n + n/4))
			return strings.Split(strings.TrimSpace(string(buf[:n])), "\n\n")
		}
		buf = make([]byte, 2*len(buf))
	}
}

// StartedInTest is how many goroutines are alive that the caller's has started by a statement of a file of tests, or
// may have: stacks do not show where the statement is in code that is rewritten for package interleave.
func StartedInTest() (n int) {
	by := " in goroutine " + strconv.FormatUint(ID(), 10) + "\n"
	for _, g := range Stacks()[1:] {
		_, creator, _ := strings.Cut(g, "\ncreated by ")
		unknown := strings.HasPrefix(creator, woven)
		if strings.Contains(creator, by) && (unknown || strings.Contains(creator, "_test.go:")) {
			n++
		}
	}
	return n
}

// woven is where such code starts goroutines.
const woven = "github.com/escapement-go/escapement/internal/sched.Go"

// Describe reads one goroutine of a dump.
func Describe(header, stack string) Waiting {
	_, state, _ := strings.Cut(header, "[")
	state, _, _ = strings.Cut(state, "]")
	state, _, _ = strings.Cut(state, ",")
	var w Waiting
	w.ID, _, _ = strings.Cut(header, " [")
	w.State, _, w.Durable = strings.Cut(state, " (")
	switch w.State {
	case "sleep", "sync.Cond.Wait", "synctest.Run", "synctest.Wait":
		w.Durable = true // Go 1.24 does not mark these
	}
	lines := strings.Split(stack, "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		name := functionName(lines[i])
		if by, ok := strings.CutPrefix(name, "created by "); ok {
			w.CreatedBy, _, _ = strings.Cut(by, " in goroutine")
			break
		}
		if w.Function == "" && !ofRuntime(name) {
			place, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " +0x")
			w.Function, w.Place = name, place[strings.LastIndex(place, "/")+1:]
		}
	}
	return w
}

// functionName is the line of a stack without its arguments.
func functionName(line string) string {
	if strings.HasSuffix(line, ")") {
		line = line[:strings.LastIndex(line, "(")]
	}
	return line
}

// shims is where the packages are that stand for those of std in code that is rewritten for package interleave.
const shims = "github.com/escapement-go/escapement/synctestcompat/interleave/shim/"

func ofRuntime(function string) bool {
	for _, p := range []string{"runtime.", "internal/", "time.", "sync.", "context.", shims} {
		if strings.HasPrefix(function, p) {
			return true
		}
	}
	return false
}
