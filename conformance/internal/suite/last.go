package suite

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/crc64"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/escapement-go/escapement/conformance"
)

// A panic on a goroutine of the implementation ends the process, and nobody can recover it.
// So the schedule under way, or the rule that makes runs of its own, stands in a file, which the
// next run of the test finds there.

// last is the file that holds the schedule under way.
type last struct {
	mu   sync.Mutex // for runs that were given up, and go on
	file *os.File
	page []byte // the start of the file in memory, so that a note takes no call of the system; nil if there is none
	rule string // whose runs have no schedule, and what they do

	progress *progress // what watches the run; nil if nothing does
}

// lasts counts the files of this process.
var lasts atomic.Int64

// newLast makes the file of a test, and tells what a run before has left in its own.
func newLast(t *testing.T, pkg string) *last {
	if t.Name() == "" {
		return &last{} // a T that nobody runs: an example's, whose Cleanup never comes
	}
	name := fmt.Sprintf("escapement-%x-", crc64.Checksum([]byte(pkg+" "+t.Name()), crc64.MakeTable(crc64.ISO)))
	dir := os.TempDir()
	for _, path := range found(dir, name) {
		if s := reads(path); s != "" {
			fmt.Fprintf(os.Stderr, "conformance: the process of an earlier run of %s ended in this %s\n",
				t.Name(), ended(s, t.Name(), pkg))
		}
	}
	own := fmt.Sprintf("%s%d-%d", name, os.Getpid(), lasts.Add(1))
	f, err := os.OpenFile(filepath.Join(dir, own), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return &last{} // it is for convenience only
	}
	return &last{file: f, page: mapped(f)}
}

// found lists the files of processes that have ended.
func found(dir, name string) []string {
	paths, _ := filepath.Glob(filepath.Join(dir, name+"*"))
	var out []string
	for _, path := range paths {
		number, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), name), "-")
		pid, err := strconv.Atoi(number)
		if err == nil && pid != os.Getpid() && !alive(pid) {
			out = append(out, path)
		}
	}
	return out
}

// ended says in which schedule or rule a process ended, and how to run that again.
func ended(s, test, pkg string) string {
	if id, _, ok := strings.Cut(s, ": "); ok {
		return fmt.Sprintf("rule, in a run of its own:\n%s\nreplay: go test -run %s %s",
			s, quoted("^"+test+"$/^"+id+"$"), pkg)
	}
	return fmt.Sprintf("schedule:\nreplay: ESCAPEMENT_SCHEDULE=%s go test -run %s %s",
		quoted(s), quoted("^"+test+"$"), pkg)
}

// reads returns the schedule in a file, or the rule and what its run did, and removes it.
func reads(path string) string {
	text, err := os.ReadFile(path)
	_ = os.Remove(path)
	if err != nil {
		return ""
	}
	s, _, _ := strings.Cut(string(text), "\n")
	_, err = conformance.ParseSchedule(s)
	return If(err == nil || isRule.MatchString(s), s)
}

// isRule matches what stands in a file for a run without a schedule.
var isRule = regexp.MustCompile(`^[A-Z][A-Z0-9]*(-[A-Z0-9]+)?: `)

// does says what the runs that have no schedule do from now on, and for which rule; "" if for none.
func (l *last) does(rule, what string) {
	if l != nil {
		l.rule = If(rule != "", rule+": "+what)
	}
}

// note writes the schedule of a job that is about to run, if there is a file.
func (l *last) note(j Job) {
	if l == nil {
		return
	}
	l.progress.step()
	if l.file == nil {
		return
	}
	text := j.text
	if text == "" {
		text = cmp.Or(j.Schedule.String(), l.rule)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(text) < len(l.page) { // what stood there before ends later, if at all
		l.page[copy(l.page, text)] = '\n'
		return
	}
	_, _ = l.file.WriteAt([]byte(text+"\n"), 0)
}

// close removes the file.
func (l *last) close() {
	if l.file == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	unmap(l.page)
	l.page = nil
	_ = l.file.Close()
	_ = os.Remove(l.file.Name())
}

// progress tells whoever watches how far a run of the suite is. Where ESCAPEMENT_REPORT names
// a folder, a file of this process there holds one line, which is written over again and again.
// A nil progress tells nothing.
type progress struct {
	file           *os.File
	name, contract string
	runs           atomic.Int64 // abandoned runs may count too
}

// often is how many runs pass between two lines.
const often = 256

// newProgress begins to tell of an implementation.
func newProgress(name, contract string) *progress {
	folder := os.Getenv("ESCAPEMENT_REPORT")
	if fi, err := os.Stat(folder); folder == "" || err != nil || !fi.IsDir() {
		return nil
	}
	f, err := os.Create(filepath.Join(folder, strconv.Itoa(os.Getpid())+".progress"))
	if err != nil {
		return nil // it is for convenience only
	}
	p := &progress{file: f, name: name, contract: contract}
	p.write()
	return p
}

// step counts a run.
func (p *progress) step() {
	if p != nil && p.runs.Add(1)%often == 0 {
		p.write()
	}
}

// write writes the line.
func (p *progress) write() {
	line, err := json.Marshal(struct {
		Name     string `json:"name"`
		Contract string `json:"contract"`
		Runs     int64  `json:"runs"`
	}{p.name, p.contract, p.runs.Load()})
	if err == nil {
		_, _ = p.file.WriteAt(append(line, '\n'), 0) // a line before it is never longer
	}
}

// close removes the file.
func (p *progress) close() {
	if p != nil {
		_ = p.file.Close()
		_ = os.Remove(p.file.Name())
	}
}
