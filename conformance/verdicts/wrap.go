package main

import (
	"strings"
	"unicode/utf8"
)

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
