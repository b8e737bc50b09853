package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

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

// paint colours a text.
func (s screen) paint(code, text string) string {
	if !s.color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// The colours in use.
const (
	red   = "31"
	green = "32"
)

// watcher tells of the implementations as they end, and of what is under way.
type watcher struct {
	folder  string
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
		folder: path, run: o.run, files: folder{path: path}, lines: stdout,
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

// finish is the last look.
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
		parts = append(parts, number(n, "decision")+" open")
	}
	return strings.Join(parts, ", ")
}

// draw draws the live line.
func (w *watcher) draw(now time.Time) {
	width := widthOf(w.live)
	under := w.files.now()
	var runs int64
	var names []string
	for _, u := range under {
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

// clear removes the live line.
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
