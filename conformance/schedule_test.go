package conformance

import (
	"strings"
	"testing"
	"time"
)

// One schedule of each contract, in canonical form.
var schedules = []string{
	"wait=100ms | call 1 @0 | call 2 @99.999999ms | cancel @150ms | idle 1s",
	"wait=100ms maxwait=1s edges=both busy=30ms busyruns=1 inside=stop insiderun=2 | call 1 @0 | flush @0 | stop @1ns~",
	"interval=1s edges=leading | call 1 @0 | fault 2 @1ms | reset @2ms | close @3ms",
	"rate=10/1s burst=5 epoch=0001-01-01T00:00:00Z | allow 5 @10s | allow 1 @-1s | " +
		"reserve 2 @10s | cancel 1 @11s | wait 1 500ms @12s | wait 1 @12s",
	"rate=inf burst=0 | setlimit 10/13s @0 | setburst 3 @0 | tokens @1m | setlimit inf @2h",
	"rate=0/1s burst=3 | allow 1 @0",
	"interval=1s backlog=2 | put 1 @0 | put 2 @0 | cancel 2 @1ms | close @1s",
	"limit=2 backlog=1 timeout=1s | acquire 1 @0 | acquire 2 3 50ms @0 | acquire 3 50ms @0 | " +
		"release 1 @1s~ | resize 3 @2s",
	"timer 1 1s @0 | ticker 2 1s @0 | afterfunc 3 0 @0 | sleep 4 -1s @0 | halt 1 @1s | rearm 2 5ms @1s | read 2 @1s",
	"afterfunc 1 1s @0 | now @f1 | nap 2s @f1 | after 2 1s @0 | consume 3 2 @0 | " +
		"halt 1 @f3 | chan 1 @1s | armed @1s | idle 5s",
	"within 1 @0 | timeout 2 1s 1 @0 | timeout 3 1s @0 | deadline 4 -1s 3 @1s | within 5 4 @1s | err 2 @2s",
	"",
}

func TestParseSchedule_readsWhatStringPrints(t *testing.T) {
	for _, text := range schedules {
		s, err := ParseSchedule(text)
		if err != nil {
			t.Errorf("ParseSchedule(%q): %v", text, err)
			continue
		}
		if got := s.String(); strings.TrimSpace(got) != strings.TrimSpace(text) {
			t.Errorf("ParseSchedule(%q).String() = %q", text, got)
		}
	}
}

func TestParseSchedule_idleCountsFromTheStepBefore(t *testing.T) {
	s, err := ParseSchedule("wait=1s | call 1 @2s | idle 3s | idle 1s")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Steps[2].At; got != 6*time.Second {
		t.Errorf("the second idle ends at %v, want 6s", got)
	}
}

func TestParseSchedule_saysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"wait=100":          `schedule: part 1 (config): "100" is not a duration`,
		"wait=1s wait=1s":   `schedule: part 1 (config): key "wait" is given twice`,
		"speed=1":           `schedule: part 1 (config): unknown key "speed"`,
		"speed":             `schedule: part 1 (config): "speed" is not key=value`,
		"wait":              `schedule: part 2 ("wait"): want an instant at its end, as in wait @100ms`,
		"nap 1s @f0":        `schedule: part 2 ("nap 1s @f0"): "f0" is not the number of a function, as in @f1`,
		"rate=10":           `schedule: part 1 (config): rate "10": want events/duration, as in 10/1s, or inf`,
		"edges=no":          `schedule: part 1 (config): edges="no": want trailing, leading, both or none`,
		"wait=1s | jump @0": `schedule: part 2 ("jump @0"): unknown operation "jump"`,
		"wait=1s | call 1":  `schedule: part 2 ("call 1"): want an instant at its end, as in call @100ms`,
		"wait=1s | call @0": `schedule: part 2 ("call @0"): an argument is missing`,
		"wait=1s | call x @0": `schedule: part 2 ("call x @0"): ` +
			`argument "x": strconv.Atoi: parsing "x": invalid syntax`,
		"wait=1s | stop 1 @0":       `schedule: part 2 ("stop 1 @0"): argument "1" is not for stop`,
		"wait=1s | call 1 @0 | ":    `schedule: part 3 (""): empty step`,
		"wait=1s | idle -1s":        `schedule: part 2 ("idle -1s"): idle wants a duration >= 0`,
		"wait=1s inside=idle":       `schedule: part 1 (config): inside="idle": unknown operation`,
		"epoch=now":                 `schedule: part 1 (config): epoch="now": want a time as in 2000-01-01T00:00:00Z`,
		strings.Repeat("|", 10_000): `schedule: 10000 steps, at most 9999 are read`,
	} {
		_, err := ParseSchedule(text)
		if err == nil || err.Error() != want {
			t.Errorf("ParseSchedule(%.40q) = %v, want %s", text, err, want)
		}
	}
}

func TestSmaller_ordersAsFailuresAreReported(t *testing.T) {
	ordered := []string{
		"wait=1s | call 1 @0",
		"wait=1s busy=1s | call 1 @0",
		"wait=1s | call 1 @0 | call 2 @1s",
		"wait=1s | call 1 @0 | call 2 @1s~",
		"wait=1s | call 1 @0 | call 2 @1s | call 3 @2s",
		"wait=1s | call 1 @0 | cancel @1s | call 3 @2s",
		"wait=1s | call 1 @0 | call 2 @1s | call 3 @3s",
	}
	for i := 1; i < len(ordered); i++ {
		a, errA := ParseSchedule(ordered[i-1])
		b, errB := ParseSchedule(ordered[i])
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if a.Compare(b) >= 0 || b.Compare(a) <= 0 || a.Compare(a) != 0 {
			t.Errorf("%q is not smaller than %q", a, b)
		}
	}
}

func FuzzParseSchedule(f *testing.F) {
	for _, text := range schedules {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSchedule(text)
		if err != nil {
			return
		}
		again, err := ParseSchedule(s.String())
		if err != nil {
			t.Fatalf("%q is read as %q, which is refused: %v", text, s, err)
		}
		if again.String() != s.String() {
			t.Fatalf("%q becomes %q, then %q", text, s, again)
		}
	})
}
