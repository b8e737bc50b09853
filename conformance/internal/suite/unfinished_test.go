package suite

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/internal/verb"
	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/jonboulle/clockwork"
)

// hurried looks soon.
var hurried = inside.Options{FirstLook: soon}

// A run that makes no progress, and nothing proves why, leaves the rules inconclusive that it
// concerns. That says what hangs, accuses nobody, and gives the entry to live with it.
func TestUnfinished_leavesItsRulesInconclusive(t *testing.T) {
	synctestcompat.Require(t)
	outside := make(chan struct{}) // belongs to no bubble
	var held sync.Mutex
	var enough atomic.Bool // ends what spins, so that it does not take processor time for ever
	t.Cleanup(func() { enough.Store(true) })
	for _, tt := range []struct {
		name  string
		hangs func()
		want  []string
	}{
		{"waits for what is outside its bubble", func() { <-outside },
			[]string{"chan receive in ", "for something outside its bubble"}},
		{"spins", func() {
			for !enough.Load() {
			}
			<-outside // its test is over, and must not hear of it
		}, []string{"it runs on and on, in "}},
		{"sleeps with a lock", func() {
			go func() {
				held.Lock()
				defer held.Unlock()
				operation(func() { time.Sleep(time.Hour) })
			}()
			synctestcompat.Wait()
			held.Lock()
		}, []string{"sync.Mutex.Lock in ", ", while sleep in ", "keeps a bubble from settling"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const schedule = "call 1 @0"
			var calls atomic.Int64 // of runs that are abandoned too
			b := bell{used: func() { calls.Add(1) }, during: func(st *Stage) {
				st.Rec.Do(conformance.Step{Op: verb.Call, N: 1}, false, func(*conformance.Done) { tt.hangs() })
			}}
			r := Examine(t, b, hurried)
			v, _ := r.Verdict("BL-RING")
			if v.Status != conformance.Inconclusive || v.Judged != 0 {
				t.Fatalf("BL-RING is %s with %d judged: %s", v.Status, v.Judged, v.Reason)
			}
			if n := calls.Load(); n != 1 {
				t.Errorf("%d schedules were run, want an end with the first", n)
			}
			entry := `{Rule: "BL-RING", Schedule: "` + schedule + `", Inconclusive: true, Why: "..."}`
			for _, want := range append(tt.want, "BL-RING: could not be judged: call 1 @0 has not come back: ",
				"This accuses nobody", entry, "replay: ESCAPEMENT_SCHEDULE='"+schedule+"'") {
				if !strings.Contains(v.Text, want) {
					t.Errorf("the text lacks %q:\n%s", want, v.Text)
				}
			}
			if !strings.Contains(r.Partial, "unfinished") {
				t.Errorf("the report is not partial: %s", r)
			}
			k := conformance.Known{Rule: "BL-RING", Schedule: schedule, Inconclusive: true, Why: "so it is"}
			b.known = []conformance.Known{k}
			r = Examine(t, b, hurried)
			v, _ = r.Verdict("BL-RING")
			if v.Status != conformance.Inconclusive || v.Text != "" || !strings.Contains(v.Reason, "so it is") {
				t.Errorf("listed, BL-RING is %s: %s", v.Status, v.Reason)
			}
			if v := r.Verdicts[0]; v.Status != conformance.Fail {
				t.Errorf("no core rule was judged, and CANARY is %s", v.Status)
			}
		})
	}
}

// An entry for what is inconclusive fails when it is no longer.
func TestUnfinished_listedButJudged(t *testing.T) {
	k := conformance.Known{Rule: "BL-RING", Schedule: "call 1 @0", Inconclusive: true}
	b := bell{known: []conformance.Known{k}}
	if v, _ := Examine(t, b, hurried).Verdict("BL-RING"); v.Status != conformance.Fail {
		t.Errorf("BL-RING passes, and is listed as inconclusive: it is %s", v.Status)
	}
}

// Schedules that concern a rule and are left out are counted.
func TestLeftOut_isCounted(t *testing.T) {
	b := bell{during: func(st *Stage) { st.Rec.Locked(func(rec *Recording) { rec.LeftOut = "too odd" }) }}
	r := Examine(t, b, inside.Options{})
	v, _ := r.Verdict("BL-RING")
	if v.Status != conformance.Skip || v.Reason != "too odd" || v.LeftOut != 2 || r.LeftOut["too odd"] != 2 {
		t.Errorf("BL-RING is %s (%s) with %d left out, the report %v", v.Status, v.Reason, v.LeftOut, r.LeftOut)
	}
}

// A constructor that panics with whatever it gets is a verdict.
func TestCanary_constructorThatPanics(t *testing.T) {
	v, _ := Examine(t, bell{learn: func() { panic("no bells today") }}, inside.Options{}).Verdict("CANARY")
	if v.Status != conformance.Fail || !strings.Contains(v.Text, "no bells today") {
		t.Errorf("CANARY is %s: %s", v.Status, v.Text)
	}
}

// What wakes without end is left out; how often is the same in every run.
func TestBudget_endsWhatPolls(t *testing.T) {
	synctestcompat.Require(t)
	for _, source := range []conformance.TimeSource{conformance.Injected, conformance.PackageTime} {
		b := bell{during: func(st *Stage) {
			end := make(chan struct{})
			go tick(st.Clock(), end)
			st.To(time.Hour)
			if st.Rec.rec.LeftOut != "" {
				t.Errorf("%v: an hour of ticks of 50 ms is left out", source)
			}
			st.To(3 * time.Hour)
			close(end)
		}}
		b.time = source
		for range 3 {
			if r := Examine(t, b, inside.Options{}); r.LeftOut[polls] != 2 {
				t.Errorf("%v: of two schedules with three hours of ticks of 50 ms %d are left out: %s",
					source, r.LeftOut[polls], r)
			}
		}
	}
}

// Hours of ticks of 50 ms are run, but not any number of them: what is as long is left out then, whatever its wait.
func TestBudget_ofAllRuns(t *testing.T) {
	const hour = 72_000
	e := newEngine(t, typed[bellTraits, *Recording]{bell{}}, inside.Options{})
	e.reset()
	long := Job{Schedule: MustParse("wait=10ms | call 1 @0 | call 2 @1h")}
	short := Job{Schedule: MustParse("wait=100ms | call 1 @0 | call 2 @1s")}
	judged := 0
	for ; judged < 100 && e.tooLong(long) == ""; judged++ {
		other := MustParse(fmt.Sprintf("wait=%dms | call 1 @0 | call 2 @1h", 20+judged))
		e.judge(nil)(Job{Schedule: other}, &Recording{wakes: hour})
	}
	if want := enough/hour + 1; judged != want {
		t.Errorf("%d such hours are judged, want %d", judged, want)
	}
	if why := e.tooLong(short); why != "" {
		t.Errorf("a second is left out: %s", why)
	}
}

// tick wakes every 50 ms until the end.
func tick(clock clockwork.Clock, end <-chan struct{}) {
	ticks := clock.NewTicker(50 * time.Millisecond)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.Chan():
		case <-end:
			return
		}
	}
}

// Entries of KnownFailing that can never match say why.
func TestKnown_entriesThatCannotMatch(t *testing.T) {
	e := newEngine(t, typed[bellTraits, *Recording]{bell{}}, inside.Options{})
	e.prepare()
	for _, tt := range []struct {
		known conformance.Known
		want  string
	}{
		{conformance.Known{Rule: "BL-RING", Schedule: "call 1 @0"}, ""},
		{conformance.Known{Rule: "BL-RNG"}, "the nearest is BL-RING"},
		{conformance.Known{Rule: "BL-RING", Schedule: "call one"}, "its Schedule is invalid"},
		{conformance.Known{Schedule: "call 1 @0", Inconclusive: true}, "needs a Rule"},
		{conformance.Known{Rule: "BL-RING", Inconclusive: true}, "needs a Schedule"},
		{conformance.Known{Rule: "BL-RING", Schedule: "call 1 @0", Inconclusive: true}, ""},
	} {
		got := e.wrong(tt.known, map[conformance.Known]bool{})
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%+v: %q, want %q", tt.known, got, tt.want)
		}
	}
	twice := conformance.Known{Rule: "BL-RING", Schedule: "call 1 @0"}
	if got := e.wrong(twice, map[conformance.Known]bool{twice: true}); !strings.Contains(got, "twice") {
		t.Errorf("listed twice: %q", got)
	}
}

// A run in which nothing can be judged skips the test, with the reason.
func TestRun_nothingJudged(t *testing.T) {
	skipped := false
	t.Run("here", func(t *testing.T) {
		defer func() { skipped = t.Skipped() }()
		Run(t, bell{unfit: "no bells on this machine"})
	})
	if !skipped {
		t.Error("nothing was judged, and the test is not skipped")
	}
}

// A schedule with an operation that the implementation has not is refused.
func TestLacks_saysWhichOperation(t *testing.T) {
	e := newEngine(t, typed[bellTraits, *Recording]{bell{}}, inside.Options{})
	e.prepare()
	e.ops[verb.Flush] = false
	if why := e.lacks(MustParse("call 1 @0 | flush @0")); !strings.Contains(why, "no flush") {
		t.Errorf("a schedule with a flush, which is nil: %q", why)
	}
	if why := e.lacks(MustParse("call 1 @0 | reserve 1 @0")); !strings.Contains(why, "contract of a") {
		t.Errorf("a schedule with a reservation, of which bells know nothing: %q", why)
	}
	if why := e.lacks(MustParse("call 1 @0 | idle 1s")); why != "" {
		t.Errorf("a schedule of calls: %q", why)
	}
}

// A time of a configuration that is as short as a nanosecond may be that of a ticker, whichever it is.
func TestQuick(t *testing.T) {
	for _, text := range []string{
		"wait=1ns", "interval=1ns", "wait=100ms maxwait=1ns", "limit=1 timeout=1ns", "rate=1/1ns burst=1",
	} {
		if cfg := MustParse(text + " | call 1 @0").Config; !quick(cfg) {
			t.Errorf("nobody looks how often something wakes in %s", text)
		}
	}
	if quick(MustParse("wait=100ms maxwait=200ms | call 1 @0").Config) {
		t.Error("a wait of 100ms is quick")
	}
}

// A ticker of a nanosecond that starts when a wait ends is left out before it has ticked for long.
func TestBudget_tickerThatStartsLate(t *testing.T) {
	synctestcompat.Require(t)
	synctestcompat.Run(t, func(*testing.T) {
		b := NewBubbleTime(MustParse("wait=100ms maxwait=1ns | call 1 @0").Config)
		end := make(chan struct{})
		go func() {
			time.Sleep(Wait)
			for {
				select {
				case <-time.After(1):
				case <-end:
					return
				}
			}
		}()
		b.To(time.Hour)
		close(end)
		if now := b.Now(); !b.spent || now < Wait || now > Wait+time.Millisecond {
			t.Errorf("time stands still at %v: %v", now, b.spent)
		}
	})
}

// What never returns is named before wrong values, however small their schedules are.
func TestFinding_neverReturned(t *testing.T) {
	run := func(text string) *Recording { return &Recording{Trace: conformance.Trace{Schedule: MustParse(text)}} }
	wrong := &Violation{Run: run("call 1 @0")}
	first := &Violation{Run: run("call 1 @0 | call 2 @2s"), never: true}
	smaller := &Violation{Run: run("call 1 @0 | call 2 @1s"), never: true}
	f := newFinding()
	for _, v := range []*Violation{wrong, first, wrong, smaller, first} {
		f.keep(v, "calls")
	}
	if f.worst != smaller {
		t.Errorf("%s is shown", f.worst.Run.Schedule)
	}
}
