package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/timeline"
)

// screen is what is known of the terminal.
type screen struct {
	width func() int // 0 if the output is no terminal
	color bool
}

// columnsOr is the width, or another one where there is no terminal.
func (s screen) columnsOr(other int) int {
	if w := s.width(); w > 0 {
		return w
	}
	return other
}

func (s screen) paint(code, text string) string {
	if !s.color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

const (
	red   = "31"
	green = "32"
)

// watcher tells of the implementations as they end, and of what is under way.
type watcher struct {
	run     string // the pattern of -run
	reports []*report
	tests   tests
	screen  screen

	files  folder
	lines  io.Writer // gets a line for each implementation
	json   io.Writer // gets each report; nil if it is not asked for
	live   io.Writer // gets the live line; nil if there is none
	drawn  bool      // a live line stands on the terminal
	before time.Time // of the last live line
	runs   int64     // that were done then
	speed  float64   // runs per second
}

// newWatcher makes the watcher of a folder.
func newWatcher(path string, o *options, stdout, stderr io.Writer) *watcher {
	plain := os.Getenv("TERM") == "dumb" || os.Getenv("CI") != ""
	w := &watcher{
		run: o.run, files: folder{path: path}, lines: stdout,
		screen: screen{
			width: func() int { return widthOf(stdout) },
			color: widthOf(stdout) > 0 && os.Getenv("NO_COLOR") == "" && !plain,
		},
	}
	if o.json {
		w.lines, w.json = io.Discard, stdout
	}
	if widthOf(stderr) > 0 && !plain {
		w.live = stderr
	}
	return w
}

// look tells of what has come since the last look.
func (w *watcher) look(now time.Time) {
	for _, r := range w.files.news() {
		r.only(w.run)
		w.reports = append(w.reports, r)
		w.clear()
		fmt.Fprintln(w.lines, w.screen.wrap(w.ended(r), strings.Repeat(" ", len("FAIL 123456s  "))))
		if w.json != nil {
			fmt.Fprintf(w.json, "%s\n", r.line)
		}
	}
	if w.live != nil {
		w.draw(now)
	}
}

func (w *watcher) finish() {
	w.look(w.before)
	w.clear()
}

// ended is the line of an implementation.
func (w *watcher) ended(r *report) string {
	word := w.screen.paint(green, "ok  ")
	switch {
	case r.undecided():
		word = w.screen.paint(red, "open")
	case r.red():
		word = w.screen.paint(red, "FAIL")
	case r.Partial != "":
		word = "part"
	}
	return fmt.Sprintf("%s %6.1fs  %s (%s, %s): %s; %s",
		word, r.Seconds, r.Name, r.Contract, r.Time, counted(&r.Report), timeline.Count(r.Schedules, "schedule"))
}

// counted says how many rules ended how, without what none did.
func counted(r *conformance.Report) string {
	var parts []string
	for _, s := range shown {
		if n := r.Count(s.status); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s.word))
		}
	}
	if n := len(r.Decisions); n > 0 {
		parts = append(parts, timeline.Count(n, "decision")+" open")
	}
	return strings.Join(parts, ", ")
}

func (w *watcher) draw(now time.Time) {
	width := widthOf(w.live)
	var runs int64
	var names []string
	for _, u := range w.files.now() {
		runs += u.Runs
		names = append(names, fmt.Sprintf("%s (%s): %d runs", u.Name, u.Contract, u.Runs))
	}
	if passed := now.Sub(w.before).Seconds(); runs < w.runs || w.before.IsZero() {
		w.before, w.runs, w.speed = now, runs, 0
	} else if passed >= 1 {
		w.before, w.speed, w.runs = now, float64(runs-w.runs)/passed, runs
	}
	text := fmt.Sprintf("%d done", len(w.reports))
	if w.speed > 0 {
		text += fmt.Sprintf(", %.0f runs/s", w.speed)
	}
	if len(names) > 0 {
		text += "; " + strings.Join(names, "; ")
	}
	fmt.Fprintf(w.live, "\r%s\x1b[K", cut(text, width-1))
	w.drawn = true
}

func (w *watcher) clear() {
	if w.drawn {
		fmt.Fprint(w.live, "\r\x1b[K")
		w.drawn = false
	}
}

// cut shortens a text to a width.
func cut(text string, width int) string {
	if r := []rune(text); width > 1 && len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return text
}

// wrapped breaks a text into lines of a width.
func wrapped(text string, width int, indent string) string {
	var b strings.Builder
	used := 0
	for i, word := range strings.Split(text, " ") {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case used+1+n > width:
			b.WriteString("\n" + indent)
			used = len(indent)
		default:
			b.WriteString(" ")
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String()
}

// wrap breaks a line at words into lines that fit a terminal; elsewhere it stays one.
func (s screen) wrap(line, indent string) string {
	if width := s.width(); width > 0 {
		return wrapped(line, width, indent)
	}
	return line
}

// wrapText wraps what the suite says of a failure, but for what is no prose: timelines, code, stacks and commands.
func (s screen) wrapText(text string) string {
	lines := strings.Split(text, "\n")
	timeline := false
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "t  "):
			timeline = true
		case line == "", strings.HasPrefix(line, "where "):
			timeline = false
		}
		code := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") ||
			strings.HasPrefix(line, "replay: ") || strings.HasPrefix(line, "to live with it: ")
		if !timeline && !code {
			lines[i] = s.wrap(line, "")
		}
	}
	return strings.Join(lines, "\n")
}
