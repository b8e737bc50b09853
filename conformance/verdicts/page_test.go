package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
)

func TestPage_golden(t *testing.T) {
	text, err := renderPage("Verdicts", saved(t))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "page.html", text)
}

// A page is the same for the same verdicts, however long they took and in which order they
// came.
func TestPage_isDeterministic(t *testing.T) {
	first, err := renderPage("Verdicts", saved(t))
	if err != nil {
		t.Fatal(err)
	}
	all := saved(t)
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	for i := range all {
		all[i].Seconds = float64(i)
	}
	second, err := renderPage("Verdicts", ordered(all))
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("two pages of the same verdicts differ (%v)", err)
	}
}

// The order of goroutines that shows a failure stands with it.
func TestPage_interleaving(t *testing.T) {
	all := saved(t)
	for _, r := range all {
		for i := range r.Verdicts {
			if failing(&r.Verdicts[i]) {
				r.Verdicts[i].Interleaving = "1  " + r.Name + " begins"
			}
		}
	}
	text, err := renderPage("Verdicts", all)
	if err != nil || !bytes.Contains(text, []byte("<pre><code>1  lets one more run begins</code></pre>")) {
		t.Errorf("the page has no interleaving (%v)", err)
	}
}

// A page is well-formed, needs nothing but itself, and its links lead somewhere.
func TestPage_isWhole(t *testing.T) {
	text, err := renderPage("Verdicts", saved(t))
	if err != nil {
		t.Fatal(err)
	}
	ids, links := elements(t, string(text))
	for link := range links {
		if !ids[link] {
			t.Errorf("a link leads to #%s, which is not there", link)
		}
	}
	for _, bad := range []string{"<script", "http://", "https://", "ZgotmplZ", "NaN", "Inf\"", "%!"} {
		if bytes.Contains(text, []byte(bad)) {
			t.Errorf("the page has %q", bad)
		}
	}
	if n := bytes.Count(text, []byte("<svg")); n < 10 {
		t.Errorf("%d timelines, want one for each cause", n)
	}
}

// elements reads a page as XML, which it is but for the doctype and the elements that have
// no end, and returns its ids and the fragments to which it links.
func elements(t *testing.T, text string) (ids, links map[string]bool) {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(text, "<!doctype html>")))
	dec.AutoClose, dec.Entity = xml.HTMLAutoClose, xml.HTMLEntity
	// Attributes without a value are the only thing that XML lacks here.
	dec.Strict = false
	ids, links = map[string]bool{}, map[string]bool{}
	var open []string
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			open = append(open, e.Name.Local)
			for _, a := range e.Attr {
				if a.Name.Local == "id" && ids[a.Value] {
					t.Errorf("two elements are %s", a.Value)
				}
				if a.Name.Local == "id" {
					ids[a.Value] = true
				}
				if link, ok := strings.CutPrefix(a.Value, "#"); ok && a.Name.Local == "href" {
					links[link] = true
				}
			}
		case xml.EndElement:
			if len(open) == 0 || open[len(open)-1] != e.Name.Local {
				t.Fatalf("</%s> closes %v", e.Name.Local, open)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) != 0 {
		t.Errorf("never closed: %v", open)
	}
	return ids, links
}

// A drawing has all its parts within its frame, and every text is escaped.
func TestDraw(t *testing.T) {
	s, err := conformance.ParseSchedule("wait=100ms | call 1 @0 | call 2 @1ns")
	if err != nil {
		t.Fatal(err)
	}
	p := &inside.Picture{
		At: 100e6,
		Lanes: []inside.Lane{
			{Name: "call", Marks: []inside.LaneMark{{At: 0, Text: "1"}, {At: 1, Text: "2"}}},
			{Name: "want", Marks: []inside.LaneMark{{At: 100e6 + 1, Text: "a<b"}}},
		},
		Spans: []inside.Span{
			{Lane: "call", Text: "1", First: 1, Last: 2}, {Lane: "call", Text: "2", From: 1, To: 1, First: 3, Last: 4},
			{Lane: "callback", Text: "F2", From: 100e6, To: 350e6, First: 5, Last: 6},
		},
	}
	text := draw(p, s, "id", "title", "words")
	elements(t, text)
	if !strings.Contains(text, "a&lt;b") || strings.Contains(text, "a<b") {
		t.Error("a text is not escaped")
	}
	wanted := []string{`class="bar over"`, `class="deadline"`, `class="run got`, "first difference", ">350ms<"}
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s in %s", want, text)
		}
	}
	for _, m := range regexp.MustCompile(`(?:x|y|width|height)="(-[^"]*)"`).FindAllStringSubmatch(text, -1) {
		t.Errorf("a negative place: %s", m[0])
	}
}

func TestInWords(t *testing.T) {
	for text, want := range map[string]string{
		"wait=100ms | call 1 @0 | call 2 @100ms~ | idle 1s": "Made with a wait of 100ms. At 0: event 1. " +
			"At 100ms, in a race with the timers of that instant: event 2. Then nothing for 1s.",
		"rate=10/1s burst=3 | wait 1 -1ns @0 | allow 2 @0": "Made with a rate of 10/1s and a burst of 3. " +
			"At 0: a wait for 1 with a context that is done. At the same instant: a request for 2, now or not at all.",
		"rate=1/1s | allow 1 2 @0":    "Made with a rate of 1/1s. At 0: a request for 1, now or not at all, of key 2.",
		"acquire 1 2 @0":              "At 0: request 1 waits for its slot, weight 2.",
		"afterfunc 1 1s @0 | now @f1": "At 0: afterfunc 1 1s. In function 1: now.",
		"":                            "",
		"no schedule":                 "",
	} {
		if got := inWords(text); got != want {
			t.Errorf("inWords(%q) = %q, want %q", text, got, want)
		}
	}
}

// The picture in the README is that of the failure that stands below it there, as a file of
// its own.
func TestTimeline_golden(t *testing.T) {
	for _, r := range saved(t) {
		v, _ := r.Verdict("DB-QUIET")
		if r.Name != "not reset by later events" {
			continue
		}
		s, err := conformance.ParseSchedule(v.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "timeline.svg", []byte(standalone(draw(v.Picture, s, "timeline", v.Reason, inWords(v.Schedule)))))
		return
	}
	t.Error("the reports have no such failure")
}

// standalone is a drawing as a file, with the part of the page's style that it needs.
func standalone(svg string) string {
	style := "svg text { font-family: monospace; } svg { background: var(--ground); }\n"
	needed := false
	for line := range strings.Lines(pageStyle) {
		switch {
		case strings.HasPrefix(line, ":root"), strings.HasPrefix(line, "@media (prefers-color-scheme"):
			needed = true // up to the line that ends it
		case !strings.HasPrefix(line, " "):
			needed = strings.HasPrefix(line, "svg ")
		}
		if needed {
			style += line
		}
	}
	svg = strings.Replace(svg, "<svg ", `<svg xmlns="http://www.w3.org/2000/svg" `, 1)
	return strings.Replace(svg, "<title", "<style>\n"+style+"</style><title", 1) + "\n"
}
