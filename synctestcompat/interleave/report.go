package interleave

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/escapement-go/escapement/internal/sched"
	"github.com/escapement-go/escapement/internal/timeline"
)

// fail makes the failure of a run that of the exploration.
func (e *explorer) fail(o outcome) {
	preemptions := 0
	for _, s := range o.run.Steps {
		preemptions += int(s.Cost)
	}
	runs := 0
	for _, n := range e.result.Runs {
		runs += n
	}
	var b strings.Builder
	fmt.Fprintf(&b, "interleave: an interleaving fails: number %d, with %s",
		runs, timeline.Count(preemptions, "preemption"))
	b.WriteString(indent(o.texts()))
	e.result.Order = story(o.run)
	b.WriteString(e.result.Order)
	s, ok := o.run.Failure.(sched.Stuck)
	e.result.Deadlock = ok && !s.Ended
	e.result.Replay = e.tb.Name() + ":" + encode(o.run)
	fmt.Fprintf(&b, "\nto run only this one:\n    %s='%s' %s", Variable, e.result.Replay, e.command())
	e.result.Failure = b.String()
}

// command is what runs the test of this exploration.
func (e *explorer) command() string {
	with := ""
	if flags := os.Getenv("ESCAPEMENT_WEAVE"); flags != "" {
		with = flags + " "
	}
	return fmt.Sprintf("%s %s-run '^%s$' %s", Command, with, strings.ReplaceAll(e.tb.Name(), "/", "$/^"), e.pkg)
}

// texts says why a run failed.
func (o outcome) texts() []string {
	texts := append([]string(nil), o.t.texts...)
	switch why := o.run.Failure.(type) {
	case nil:
	case sched.Panicked:
		from := indent(framesOfPanic(string(why.Stack)))
		texts = append(texts, fmt.Sprintf("%s panics: %v%s", nameOf(why.G), why.Value, from))
	case sched.Stuck:
		texts = append(texts, stuck(why)...)
	default:
		texts = append(texts, fmt.Sprint(why))
	}
	for _, text := range []string{o.hang, o.left} {
		if text != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		texts = []string{"t.Fail or t.FailNow was called"}
	}
	return texts
}

// stuck says who waits for what.
func stuck(s sched.Stuck) []string {
	texts := []string{"deadlock: no goroutine can continue, and no timer is pending"}
	if s.Ended {
		texts = []string{"left when the function had returned:"}
	}
	for _, w := range s.Waits {
		text := fmt.Sprintf("    %s waits", nameOf(w.G))
		switch {
		case w.Stack != "":
			state, place := waitOf(w.Stack)
			text += fmt.Sprintf(" in a %s at %s", state, place)
		default:
			text += fmt.Sprintf(" in %s at %s", strings.TrimPrefix(w.Op.Name, "after "), placeOf(w.Op.PCs[:]))
		}
		if w.Holder != nil {
			text += fmt.Sprintf("; %s has held it since %s", nameOf(w.Holder), placeOf(w.Since.PCs[:]))
		}
		texts = append(texts, text)
	}
	return texts
}

// nameOf is what reports call a goroutine.
func nameOf(g *sched.G) string {
	if g.ID == 0 {
		return "main"
	}
	return fmt.Sprint("g", g.ID)
}

// story is what happened in a run: as a list, and as a timeline with one lane for each goroutine.
func story(run *sched.Run) string {
	var b strings.Builder
	tl := timeline.Timeline{Mark: -1}
	lanes := map[string]int{}
	b.WriteString("\neach line: the goroutine that runs next, and the point it resumes from:\n")
	var order []string
	var rows [][4]string
	for i, s := range run.Steps {
		who, where, what := describe(s)
		rows = append(rows, [4]string{fmt.Sprint(i + 1), who, where, what})
		if _, ok := lanes[who]; !ok && who != "" {
			lanes[who] = len(tl.Lanes)
			tl.Lanes = append(tl.Lanes, timeline.Lane{Name: who, Cells: map[int]string{}})
		}
		at := timeline.Duration(s.At)
		if n := len(order); who == "" || n == 0 || order[n-1] != who || tl.Instants[n-1] != at {
			order = append(order, who)
			tl.Instants = append(tl.Instants, at)
		}
		if who != "" {
			cell := tl.Lanes[lanes[who]].Cells
			text := fmt.Sprint(i + 1)
			if first, _, _ := strings.Cut(cell[len(order)-1], "-"); first != "" {
				text = first + "-" + text
			}
			cell[len(order)-1] = text
		}
		if s.Cost > 0 {
			tl.Mark, tl.Note = len(order)-1, "another could have continued"
		}
	}
	b.WriteString(table(rows))
	b.WriteString("\n")
	for _, line := range strings.SplitAfter(tl.String(), "\n") {
		if line != "" {
			b.WriteString("    " + line)
		}
	}
	return b.String()
}

// describe says who took a step, where it had stood, and what it did. Time has no name.
func describe(s sched.Step) (who, where, what string) {
	switch {
	case s.G != nil:
		if who, where, what = nameOf(s.G), placeOf(s.Op.PCs[:]), s.Op.Name; where == "" {
			where = placeOf(s.G.PCs[:])
		}
		if s.Op.Name == "begins" && s.G.ID == 0 {
			where = ""
		}
	case s.Timer != nil:
		who, where, what = fmt.Sprint("t", s.Timer.ID), placeOf(s.Timer.PCs[:]), "timer fires"
	default:
		what = "time moves on to " + timeline.Duration(s.At)
	}
	if s.Cost > 0 {
		what += ", though another could have continued"
	}
	return who, where, what
}

// table prints rows in columns. Of very many it leaves out those in the middle.
func table(rows [][4]string) string {
	const most = 400
	var width [4]int
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], len(cell))
		}
	}
	var b strings.Builder
	for i, row := range rows {
		if len(rows) > most && i >= most/2 && i < len(rows)-most/2 {
			if i == most/2 {
				fmt.Fprintf(&b, "    ... %d more\n", len(rows)-most)
			}
			continue
		}
		line := fmt.Sprintf("    %*s  %-*s  %-*s  %s", width[0], row[0], width[1], row[1], width[2], row[2], row[3])
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// placeOf returns file and line of the newest frame that is not ours.
func placeOf(pcs []uintptr) string {
	n := 0
	for n < len(pcs) && pcs[n] != 0 {
		n++
	}
	frames := runtime.CallersFrames(pcs[:n])
	for {
		f, more := frames.Next()
		if f.File != "" && !ours(f.Function) {
			return fmt.Sprintf("%s:%d", base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}

// ours reports whether a function belongs to the machinery, or to the conformance suite, which drives what is rewritten.
func ours(function string) bool {
	if sched.OfSuite(function) {
		return true
	}
	for _, prefix := range []string{
		"github.com/escapement-go/escapement/synctestcompat/interleave/shim/",
		"github.com/escapement-go/escapement/synctestcompat/interleave.(*explorer)",
		"github.com/escapement-go/escapement/synctestcompat/interleave.(*T)",
		"github.com/escapement-go/escapement/internal/sched.",
		"github.com/escapement-go/escapement/internal/stackmark.",
		"github.com/escapement-go/escapement/fakeclock.",
		"github.com/escapement-go/escapement/synctestcompat.",
		"runtime.", "reflect.", "sync.", "internal/", "testing", "context.",
	} {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return false
}

func indent(texts []string) string {
	var b strings.Builder
	for _, text := range texts {
		b.WriteString("\n    " + strings.ReplaceAll(text, "\n", "\n    "))
	}
	return b.String()
}

// diverged says that a run did not do what the same choices had led to before.
func diverged(o outcome) string {
	at := len(o.run.Steps)
	var b strings.Builder
	fmt.Fprintf(&b, "interleave: the function is not deterministic: %s, after step %d.\n", o.run.Diverged, at)
	b.WriteString("It depends on more than the choices: map order, an address, the wall clock, random " +
		"numbers, or state left by an earlier run. Remove that, or make it the same each time.")
	b.WriteString(story(o.run))
	return b.String()
}

// tooLong says that a run had more points than it may.
func tooLong(o outcome, points int) string {
	steps := o.run.Steps
	o.run.Steps = steps[max(0, len(steps)-40):]
	return fmt.Sprintf("interleave: not explored: an interleaving has more than %d points, of which the last %d are "+
		"shown. Let the function do less, or say Points(n)%s", points, len(o.run.Steps), story(o.run))
}

// framesOfPanic returns where a panic came from: the frames of the trace below it, up to ours.
func framesOfPanic(stack string) (places []string) {
	lines := strings.Split(stack, "\n")
	begun := false
	for i := 0; i+1 < len(lines); i++ {
		if strings.HasPrefix(lines[i], "panic(") {
			begun, places = true, nil
			i++
			continue
		}
		if !begun || !strings.HasPrefix(lines[i+1], "\t") {
			continue
		}
		if strings.HasPrefix(lines[i], "github.com/escapement-go/escapement/internal/sched.") {
			break
		}
		function, _, _ := strings.Cut(lines[i], "(0x")
		if !ours(function) {
			place, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " +0x")
			places = append(places, place)
		}
		i++
	}
	return places
}
