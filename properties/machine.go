package properties

import (
	"math/big"
	"runtime"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/internal/twins"
	"github.com/escapement-go/escapement/internal/verb"
	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/escapement-go/escapement/synctestcompat/rapidbubble"
	"github.com/jonboulle/clockwork"
)

// MachineLimiter drives a limiter as a state machine beside an exact bucket, in bubbles. It
// decides as it goes: the bucket knows when the next token is due, and the machine asks
// then, and two nanoseconds before and after, which schedules drawn in advance hardly hit
// after a long history. The limiter must have Allow, AllowN or AllowAt.
//
// A decision may be off by what accrues in a nanosecond, and if the interval between two tokens is no whole
// number of nanoseconds, by one nanosecond more for each granted token: see Rate.Interval. A limiter that
// declares to be less exact, by RefillSize, Resolution, Precision or Latency, or Overdraft, is skipped, as
// limitertest judges it. A failure prints the history as a schedule.
//
// It is the only function here for one contract: only a bucket tells when something is
// due.
func MachineLimiter(t *testing.T, spec limitertest.Spec) {
	t.Helper()
	if declared := inexact(spec.Traits); declared != "" {
		t.Skip("properties: MachineLimiter: it declares " + declared + ", which limitertest judges and no exact bucket does")
	}
	if !spec.Judge(t).(twins.Judge).Accepts(verb.Allow) || !requests(spec) {
		t.Skip("properties: MachineLimiter: the implementation has no Allow, AllowN or AllowAt")
	}
	rapidbubble.Check(t, machineOf(spec))
}

// inexact is the trait because of which a limiter may decide otherwise than an exact bucket, "" if
// there is none.
func inexact(tr limitertest.Traits) string {
	switch {
	case tr.RefillSize > 0:
		return "RefillSize"
	case tr.Resolution > 0:
		return "Resolution"
	case tr.Precision == limitertest.PrecisionFloat32:
		return "Precision"
	case tr.Latency > 0:
		return "Latency"
	case tr.Overdraft:
		return "Overdraft"
	}
	return ""
}

// limits are the rates and bursts of the limiters that machines drive, the plainest first.
var limits = []limitertest.Config{
	{Rate: limitertest.Rate{Events: 10, Per: time.Second}, Burst: 3},
	{Rate: limitertest.Rate{Events: 10, Per: time.Second}, Burst: 1},
	{Rate: limitertest.Rate{Events: 3, Per: time.Second}, Burst: 2},
	{Rate: limitertest.Rate{Events: 10, Per: 13 * time.Second}, Burst: 2},
	{Rate: limitertest.Rate{Events: 1, Per: 24 * time.Hour}, Burst: 2},
	{Rate: limitertest.Rate{Events: 1000, Per: time.Second}, Burst: 10},
	{Rate: limitertest.Rate{Events: 600_000_000, Per: time.Second}, Burst: 1},
}

// machineOf is the machine as a property.
func machineOf(spec limitertest.Spec) func(*rapidbubble.T) {
	return func(t *rapidbubble.T) { newMachine(spec, rapid.SampledFrom(limitsOf(spec)).Draw(t.T, "limit")).run(t) }
}

// limitsOf are the rates and bursts of a spec's limiters.
func limitsOf(spec limitertest.Spec) []limitertest.Config {
	if len(spec.Only) > 0 {
		return spec.Only
	}
	return limits
}

// requests reports whether a limiter has a request that is not a wait given up at once, or cannot be looked at.
func requests(spec limitertest.Spec) bool {
	m := &machine{spec: spec}
	m.make(limitertest.Env{Clock: fakeclock.New(), Start: time.Now()}, limitsOf(spec)[0])
	if m.funcs.Stop != nil {
		m.funcs.Stop()
	}
	return m.refused || m.funcs.Allow != nil || m.funcs.AllowN != nil || m.funcs.AllowAt != nil
}

// machine is one limiter and the bucket beside it.
type machine struct {
	spec    limitertest.Spec
	funcs   limitertest.Funcs
	advance func(d time.Duration)
	start   time.Time
	at      time.Duration
	done    conformance.Schedule

	tokens, burst, rate *big.Rat // rate in tokens for each nanosecond
	rounded             int64    // how many nanoseconds the interval may have been rounded by, all in all
	refused             bool     // the constructor refused the configuration, which limitertest judges
}

func newMachine(spec limitertest.Spec, cfg limitertest.Config) *machine {
	m := &machine{
		spec: spec, start: time.Now(), burst: new(big.Rat).SetInt64(int64(cfg.Burst)),
		rate: big.NewRat(int64(cfg.Rate.Events), int64(cfg.Rate.Per)),
	}
	m.done.Config = m.done.Config.With("rate", cfg.Rate.String()).With("burst", strconv.Itoa(cfg.Burst))
	m.tokens = new(big.Rat).Set(m.burst)
	switch spec.Traits.Initial {
	case limitertest.InitialEmpty:
		m.tokens.SetInt64(0)
	case limitertest.InitialOne:
		m.tokens.SetInt64(1)
	}
	var clock clockwork.Clock = synctestcompat.NewClock()
	m.advance = synctestcompat.Sleep
	if spec.Time != limitertest.PackageTime {
		fake := fakeclock.New(fakeclock.WithStart(m.start), fakeclock.WithSettle(synctestcompat.Wait))
		clock, m.advance = fake, fake.Advance
	}
	if rounds(cfg.Rate) {
		m.rounded = int64(cfg.Burst)
	}
	m.make(limitertest.Env{Clock: clock, Start: m.start}, cfg)
	return m
}

// make makes the limiter, unless its constructor refuses to. The panics of the runtime are no
// refusals.
func (m *machine) make(env limitertest.Env, cfg limitertest.Config) {
	defer func() {
		if r := recover(); r != nil {
			if failed, ok := r.(runtime.Error); ok {
				panic(failed)
			}
			m.refused = true
		}
	}()
	m.funcs = m.spec.New(env, cfg)
}

// rounds reports whether a limiter may count in intervals that are rounded to whole nanoseconds.
func rounds(r limitertest.Rate) bool { return !r.Exact() && r.Interval() >= time.Microsecond }

// several reports whether more than one token can be asked for.
func (m *machine) several() bool {
	return !m.spec.Traits.OneAtATime && (m.spec.Time == limitertest.Explicit || m.funcs.AllowN != nil)
}

func (m *machine) run(t *rapidbubble.T) {
	if m.refused {
		return
	}
	if m.funcs.Stop != nil {
		t.Cleanup(m.funcs.Stop)
	}
	largest := 1
	if m.several() {
		largest = m.done.Config.Burst
	}
	count := rapid.IntRange(1, largest)
	t.Repeat(map[string]func(*rapidbubble.T){
		"ask": func(t *rapidbubble.T) { m.ask(t, count.Draw(t.T, "n")) },
		"ask when it is due": func(t *rapidbubble.T) {
			n := count.Draw(t.T, "n")
			m.pass(m.due(n) + time.Duration(rapid.SampledFrom([]int{2, -2, 0}).Draw(t.T, "off")))
			m.ask(t, n)
		},
		"wait": func(t *rapidbubble.T) {
			m.pass(time.Duration(rapid.Int64Range(1, 3*int64(m.done.Config.Rate.Interval())+1).Draw(t.T, "ns")))
		},
	})
}

// pass lets time pass.
func (m *machine) pass(d time.Duration) {
	if d <= 0 {
		return
	}
	m.advance(d)
	m.at += d
	m.tokens.Add(m.tokens, new(big.Rat).Mul(m.rate, new(big.Rat).SetInt64(int64(d))))
	if m.tokens.Cmp(m.burst) > 0 {
		m.tokens.Set(m.burst)
	}
}

// due is how long it takes until there are n tokens, in whole nanoseconds.
func (m *machine) due(n int) time.Duration {
	missing := new(big.Rat).SetInt64(int64(n))
	missing.Quo(missing.Sub(missing, m.tokens), m.rate)
	if missing.Sign() <= 0 {
		return 0
	}
	up := new(big.Int).Add(missing.Num(), new(big.Int).Sub(missing.Denom(), big.NewInt(1)))
	return time.Duration(up.Quo(up, missing.Denom()).Int64())
}

// ask asks for n tokens and compares the answer with what the bucket holds.
func (m *machine) ask(t *rapidbubble.T, n int) {
	m.done.Steps = append(m.done.Steps, conformance.Step{Op: verb.Allow, N: n, At: m.at})
	var ok bool
	switch {
	case m.spec.Time == limitertest.Explicit:
		ok = m.funcs.AllowAt(m.start.Add(m.at), n)
	case m.funcs.AllowN != nil:
		ok = m.funcs.AllowN(n)
	default:
		ok = m.funcs.Allow()
	}
	slack := new(big.Rat).Mul(m.rate, new(big.Rat).SetInt64(1+m.rounded))
	slack.Add(slack, big.NewRat(1, 1e9))
	short := new(big.Rat).Sub(new(big.Rat).SetInt64(int64(n)), m.tokens) // how much is missing
	tokens, _ := m.tokens.Float64()
	switch {
	case ok && short.Cmp(slack) > 0:
		t.Fatalf("%d tokens are granted at %v, when there are %.9f:\n%s", n, m.at, tokens, m.done)
	case !ok && new(big.Rat).Neg(short).Cmp(slack) > 0:
		t.Fatalf("%d tokens are denied at %v, when there are %.9f:\n%s", n, m.at, tokens, m.done)
	}
	if ok {
		m.tokens.Sub(m.tokens, new(big.Rat).SetInt64(int64(n)))
		if rounds(m.done.Config.Rate) {
			m.rounded += int64(n)
		}
	}
}
