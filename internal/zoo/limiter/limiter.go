// Package limiter has the zoo's rate limiters.
package limiter

import (
	"cmp"
	"strings"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Mutants are mistakes, each with the rule that must catch it.
func Mutants() []zoo.Mutant {
	var all []zoo.Mutant
	for _, m := range bucketMutants {
		all = append(all, zoo.Mutant{
			Name: m.name, Rule: m.rule, Spec: bucketSpec(m.name, lt.Explicit),
			Hangs: m.name == keepsLock, Chance: m.rule == "X-CONC",
		})
	}
	for _, source := range []lt.TimeSource{lt.Injected, lt.PackageTime} {
		all = append(all, zoo.Mutant{
			Name: source.String() + ": " + idleAddsUp, Rule: "RL-CAP",
			Spec: bucketSpec(idleAddsUp, source), Family: idleFamily,
		})
	}
	for _, m := range prepaidMutants {
		all = append(all, zoo.Mutant{Name: m.name, Rule: m.rule, Spec: prepaidSpec(m.name)})
	}
	for _, m := range perSecondMutants {
		all = append(all, zoo.Mutant{Name: "so many per second: " + m.name, Rule: m.rule, Spec: perSecondSpec(m.name)})
	}
	if synctestcompat.Available {
		all = append(all, zoo.Mutant{Name: "tokens are handed out by a goroutine", Rule: "X-ROW", Spec: handed()})
	}
	all = append(all, zoo.Mutant{Name: leavesGoroutine, Rule: "X-LEAK", Spec: bucketSpec(leavesGoroutine, lt.Injected)})
	for _, m := range debtMutants {
		all = append(all, zoo.Mutant{
			Name: m.name, Rule: m.rule, Spec: debtSpec(m.name, m.source), Family: m.family,
			Chance: m.rule == "X-CONC" || m.rule == "SL-CONC",
		})
	}
	const forgets = "who is due has nobody behind"
	all = append(all, zoo.Mutant{Name: "reserves only: " + forgets, Rule: "CN-ANY", Family: "given up at its instant",
		Spec: reservesOnly(debtSpec(forgets, lt.Explicit))})
	const until = "a deadline is compared with package time"
	sleeps := debtSpec(until, lt.Injected) // as it seems to, in a bubble
	sleeps.Traits.DeadlineCheck = lt.DeadlineSleeps
	all = append(all, zoo.Mutant{Name: until, Rule: "X-CLOCK1", Family: "deadlines", Spec: sleeps})
	for _, m := range queueMutants {
		all = append(all, zoo.Mutant{
			Name: m.name, Rule: m.rule, Spec: queueSpec(m.name, lt.Injected), Family: m.family,
		})
	}
	for _, m := range outgrownMutants {
		name := m.name
		if m.fair == lt.FairNone {
			name = "unfair: " + name
		}
		all = append(all, zoo.Mutant{Name: name, Rule: m.rule, Spec: outgrownSpec(m.name, m.fair)})
	}
	all = append(all, zoo.Mutant{Name: "full refunds that move nobody", Rule: "RL-ENV", Spec: declaring(
		reservesOnly(debtSpec("a cancel refunds everything", lt.Explicit)), lt.Traits{Refund: lt.RefundFull})})
	all = append(all, zoo.Mutant{Name: grantsMore, Rule: "RL-NBIG", Spec: grantsMoreSpec()})
	if synctestcompat.Available {
		all = append(all, zoo.Mutant{Name: zoo.LosesTime, Rule: "X-READ", Spec: losesTime()})
	}
	for _, m := range bucketMutants {
		switch m.name {
		case "refills too fast", "bucket without a bound", "a negative request adds tokens",
			"forgets the rest on a grant", "moves on when it denies":
			all = append(all, zoo.Mutant{
				Name: "one configuration: " + m.name, Rule: m.rule,
				Spec: onlySpec(bucketSpec(m.name, lt.Explicit), 20, 5),
			})
		}
	}
	if synctestcompat.Available {
		const one, shows = "a wait for several takes one less", "Tokens shows the burst"
		all = append(all,
			zoo.Mutant{Name: "waits only: " + one, Rule: "RL-ENV", Family: "waits",
				Spec: waitsOnly(queueSpec(one, lt.Injected))},
			zoo.Mutant{Name: "waits only: " + shows, Rule: "RL-TOKENS", Family: "waits",
				Spec: waitsOnly(creditSpec(shows, lt.Injected))})
		for _, m := range triedMutants {
			name := "zoo: bucket that is tried again: " + m.name
			spec := retrying(m.name, name, lt.Injected, lt.DeadlineSleeps, untilThere)
			all = append(all, zoo.Mutant{
				Name: "waits only: " + m.name, Rule: m.rule, Family: m.family, Spec: waitsOnly(spec),
			})
		}
		all = append(all, overtakenMutants()...)
	}
	all = append(all, zoo.Mutant{
		Name: neverUnlocks, Rule: "X-CALLS", Spec: asleepSpec(neverUnlocks, lt.Injected), Hangs: true,
	})
	const cancelsLater = "a reservation is cancelled by a goroutine"
	later := debtSpec("", lt.Injected)
	made := later.New
	later.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
		f := made(env, cfg)
		reserve := f.Reserve
		f.Reserve = func(n int) lt.Reservation {
			r := reserve(n)
			if cancel := r.Cancel; cancel != nil {
				r.Cancel = func() { go cancel() }
			}
			return r
		}
		return f
	}
	all = append(all, zoo.Mutant{Name: cancelsLater, Rule: "X-EFFECT", Spec: later})
	all = append(all, zoo.Mutant{Name: gives, Rule: "RL-ENV", Spec: givesSpec()})
	all = append(all, zoo.Mutant{Name: spins, Rule: "W-CANCEL", Spec: spinsSpec(lt.Injected), Hangs: true})
	const ticks = "the ticker goes on after Stop"
	all = append(all, zoo.Mutant{Name: ticks, Rule: "X-LEAK", Spec: tickerSpec(ticks, lt.Injected), Family: "leaks"})
	all = append(all,
		zoo.Mutant{Name: "filled twice each 50ms", Rule: "RL-ENV", Spec: tickSpec("its ticker fills it twice",
			lt.PackageTime),
			Steps: 3},
		zoo.Mutant{Name: "filled each 50ms: a negative request adds tokens", Rule: "RL-NEG",
			Spec: tickSpec("a negative request adds tokens", lt.PackageTime)},
		zoo.Mutant{Name: "rate in float32: refills too fast", Rule: "RL-ENV",
			Spec: float32Spec("refills too fast", lt.Explicit)},
		zoo.Mutant{Name: "instants in milliseconds: refills too slowly", Rule: "RL-WORK",
			Spec: millisecondSpec("refills too slowly", lt.Explicit)},
		zoo.Mutant{Name: "one token: room for one more", Rule: "RL-CAP", Spec: oneSpec("room for one more",
			lt.Explicit)},
		zoo.Mutant{Name: "one token: a burst that takes centuries overflows", Rule: "X-CFG", Family: "tiny rates",
			Spec: oneSpec("a burst that takes centuries overflows", lt.Explicit)})
	all = append(all, quickMutants()...)
	all = append(all, pacerMutants()...)
	all = append(all, refusingMutants()...)
	all = append(all, creditMutants()...)
	all = append(all, remoteMutants()...)
	all = append(all, keyedMutants()...)
	const races, shows = "counts before it locks", "a new bucket shows what came since the zero time"
	all = append(all, zoo.Mutant{Name: shows, Rule: "RL-TOKENS", Spec: bucketSpec(shows, lt.Explicit)})
	return append(all, zoo.Mutant{Name: races, Rule: "X-RACE", Spec: bucketSpec(races, lt.Explicit)})
}

// Designs are correct limiters of several kinds, the first ones on one clock each.
func Designs() []zoo.Design {
	specs := []lt.Spec{
		bucketSpec("", lt.Injected), bucketSpec("", lt.PackageTime), bucketSpec("", lt.Explicit),
		debtSpec("", lt.Injected), queueSpec("", lt.Injected), instantSpec(lt.Explicit), perSecondSpec(""),
		perPeriodSpec(lt.Explicit), perPeriodSpec(lt.Injected),
		tickerSpec("", lt.PackageTime), lateSpec(lt.PackageTime),
		debtSpec("", lt.PackageTime), debtSpec("", lt.Explicit),
		queueSpec("", lt.PackageTime), instantSpec(lt.Injected),
		retrySpec(lt.Injected), retrySpec(lt.PackageTime), hastySpec(lt.PackageTime), hastySpec(lt.Injected),
		asleepSpec("", lt.Injected), asleepSpec("", lt.PackageTime),
		float32Spec("", lt.Explicit), float32Spec("", lt.Injected),
		millisecondSpec("", lt.PackageTime), millisecondSpec("", lt.Explicit),
		declaring(bucketSpec("a request for 0 is denied", lt.Explicit), lt.Traits{Zero: lt.ZeroDenied}),
		declaring(bucketSpec("an old instant rewinds", lt.Explicit), lt.Traits{BackTime: lt.BackRewind}),
		declaring(debtSpec("a cancelled wait returns an error of its own", lt.PackageTime),
			lt.Traits{WaitErrors: lt.WaitErrorsOwn}),
		debtSpec(refusesNever, lt.Explicit), reasonsSpec(lt.Injected), reasonsSpec(lt.PackageTime),
		reservesOnly(debtSpec("", lt.Explicit)),
		creditSpec("", lt.Injected), creditSpec("", lt.PackageTime), creditSpec("", lt.Explicit),
		creditSpec(refusesDebts, lt.PackageTime),
		pollingSpec(lt.PackageTime), pollingSpec(lt.Injected),
		quickSpec("", lt.PackageTime), quickSpec("", lt.Injected),
		pacerSpec("", lt.PackageTime), pacerSpec("", lt.Injected),
		tickSpec("", lt.PackageTime), burstsSpec(lt.PackageTime), oneSpec("", lt.Explicit), oneSpec("", lt.Injected),
		keyedSpec("", lt.Injected), keyedSpec("", lt.PackageTime), keyedSpec("", lt.Explicit),
		keyedUnits("", lt.PackageTime), keyedUnits("", lt.Explicit),
		keyedFloat32Spec("", lt.Explicit),
		keyedTimers("", lt.Injected), keyedTimers("", lt.PackageTime),
		keyedLimitsSpec("", lt.Injected), keyedLimitsSpec("", lt.PackageTime), keyedLimitsSpec("", lt.Explicit),
		prepaidSpec(""), outgrownSpec("", lt.FairFIFO), outgrownSpec("", lt.FairNone),
		onlySpec(bucketSpec("", lt.Explicit), 20, 5), onlySpec(bucketSpec("", lt.Injected), 20, 5),
		onlySpec(keyedSpec("", lt.Injected), 1, 2), onlySpec(bucketSpec(unrounded, lt.Injected), 1, 2),
	}
	specs = append(specs, refusingSpecs()...)
	specs = append(specs, remoteSpecs()...)
	if synctestcompat.Available { // its goroutine can only be driven exactly in a bubble
		specs = append(specs, tickerSpec("", lt.Injected), tickSpec("", lt.Injected), lateSpec(lt.Injected))
		for _, spec := range []lt.Spec{queueSpec("", lt.PackageTime), tickerSpec("", lt.PackageTime)} {
			specs = append(specs, waitsOnly(spec))
		}
		specs = append(specs, waitsForOne(waitsOnly(queueSpec("", lt.PackageTime))))
	}
	all := designs(specs)
	for i, spec := range specs {
		all[i].Name = strings.TrimSuffix(spec.Name, ": ") + " " + spec.Time.String()
	}
	return append(all, zoo.Design{
		Name: "a list of those who wait and of reservations, which moves up", Spec: listedSpec(),
	})
}

// declaring is a design that a declaration makes correct.
func declaring(spec lt.Spec, tr lt.Traits) lt.Spec {
	spec.Name += ", declared"
	spec.Traits.Zero, spec.Traits.WaitErrors = tr.Zero, tr.WaitErrors
	spec.Traits.BackTime = cmp.Or(tr.BackTime, spec.Traits.BackTime)
	spec.Traits.Refund = cmp.Or(tr.Refund, spec.Traits.Refund)
	return spec
}

// Choosing is a correct bucket that chooses what it is told to choose.
func Choosing(traits lt.Traits, source lt.TimeSource) lt.Spec { return choosySpec(source, traits, "") }

// Chosen are n correct buckets that choose all that may be chosen, drawn from a constant.
func Chosen(n int) []zoo.Design { return designs(chosenBuckets(n)) }

// ChosenWaits is Chosen for buckets with waits.
func ChosenWaits(n int) []zoo.Design { return designs(chosenWaits(n)) }

func designs(specs []lt.Spec) []zoo.Design {
	return zoo.Named(specs, func(s lt.Spec) string { return s.Name })
}

const (
	keepsLock       = "keeps a lock when it denies"
	leavesGoroutine = "goroutine left behind"
	roomForOne      = "room for one is room for all"
	idleFamily      = "idle again and again"
	infKeepsBurst   = "an infinite rate grants no more than the burst"
	idleAddsUp      = "each idle time brings an eighth of a token, in whole tokens"
)

// bucketMutants are the mistakes of the plain bucket.
var bucketMutants = []struct{ name, rule string }{
	{"refills too fast", "RL-ENV"},
	{"interval is cut to a nanosecond", "RL-ENV"},
	{"interval is cut to a microsecond", "RL-ENV"},
	{"refills too slowly", "RL-WORK"},
	{"the last nanosecond before it is full is cut off", "RL-WORK"},
	{"needs a little more than there is", "RL-WORK"},
	{"grants a little early", "RL-MODEL"},
	{"starts empty", "RL-FULL"},
	{"bucket one too large", "RL-CAP"},
	{"bucket without a bound", "RL-CAP"},
	{idleAddsUp, "RL-CAP"},
	{roomForOne, "RL-ENV"},
	{"a denied request costs a token", "RL-DENYPURE"},
	{"moves on when it denies", "RL-FRAC"},
	{"counts whole tokens only", "RL-WORK"},
	{"forgets the rest on a grant", "RL-WORK"},
	{"a product overflows after a long time", "RL-IDLE"},
	{"a product of 64 bits wraps", "RL-WORK"},
	{"a request for 0 is denied", "RL-N0"},
	{"a negative request adds tokens", "RL-NEG"},
	{"grants more than the burst", "RL-NBIG"},
	{"a large request resets the bucket", "RL-NBIG"},
	{"an old instant rewinds", "RL-PAST"},
	{"an old instant brings a nanosecond", "RL-PAST"},
	{"an old instant is denied", "RL-PAST"},
	{"the zero time means new", "RL-EPOCH"},
	{"unix 0 means new", "RL-EPOCH"},
	{"panics when it is empty", "X-CALLS"},
	{"keeps a lock when it denies", "X-CALLS"},
	{"checks without the lock", "X-CONC"},
	{infKeepsBurst, "RL-INF"},
}

// triedMutants are some of those of the bucket whose requests are waits that are given up at once.
var triedMutants = []struct{ name, rule, family string }{
	{"refills too slowly", "RL-WORK", "burst 1"},
	{"a negative request adds tokens", "RL-NEG", "odd numbers"},
	{"grants more than the burst", "RL-NBIG", "odd bursts"},
	{"a denied request costs a token", "RL-DENYPURE", "burst 3"},
}

// perSecondMutants are some of those of the bucket that says only how many per second,
// which only a burst above 1 shows.
var perSecondMutants = []struct{ name, rule string }{
	{"refills too fast", "RL-ENV"},
	{"forgets the rest on a grant", "RL-WORK"},
	{"moves on when it denies", "RL-FRAC"},
	{"bucket without a bound", "RL-CAP"},
	{"time stands still for a full bucket", "RL-CAP"},
	{"a large request resets the bucket", "RL-NBIG"},
}

// queueMutants are those of the bucket with a queue, with the rule that must catch each and a family in
// which it shows.
var queueMutants = []struct{ name, rule, family string }{
	{"who comes last is served first", "W-FIFO", "waits"},
	{"a request overtakes those who wait", "W-NOSTARVE", "starving"},
	{"who gives up leaves the next asleep", "W-NOLOST", "waits"},
	{"a new limit leaves the timer", "W-WAKE", "limits and waits"},
	{"who gives up leaves the timer", "W-WAKE", "deadlines"},
	{"who is served as he gives up returns an error", "W-DEADEQ", "given up as another is"},
	{"who gives up lets one go", "W-CANCEL", "several are next"},
	{"who waits for more than a lower burst stays first", "W-NOLOST", "bursts and waits"},
	{"who waits for one more than a lower burst stays first", "W-NOLOST", "bursts and waits"},
	{"a clock that is set back far overflows", "X-BACK", "cancelled before"},
	{"a limit that is set before anybody asks empties the bucket", "SL-KEEP", "limits"},
	{"a limit in another period leaves the units", "SL-KEEP", "limits and reservations"},
	{"a look at a full bucket adds a unit", "RL-NBIG", "huge rates"},
}

// debtMutants are those of the bucket that goes into debt, with the rule that must catch each and a family in
// which it shows.
var debtMutants = []struct {
	name, rule, family string
	source             lt.TimeSource
}{
	{"a wait wakes early", "W-NOTEARLY", "waits", lt.Injected},
	{"a wait wakes late", "W-EXACT", "waits", lt.Injected},
	{"a wait takes nothing in the end", "W-EATS", "waits", lt.Injected},
	{"a context is looked at only while it sleeps", "W-PRE", "cancelled before", lt.Injected},
	{"a deadline is not looked at", "W-DEAD", "deadlines", lt.Injected},
	{"a wait that is refused takes its tokens", "W-DEAD", "deadlines", lt.Injected},
	{"a cancel at its instant is too late", "W-DEADEQ", "deadlines", lt.Injected},
	{"a cancelled wait keeps its tokens", "W-CANCEL", "waits", lt.Injected},
	{"a cancelled wait leaves a goroutine", "X-LEAK", "leaks", lt.Injected},
	{"a wait sleeps on package time", "X-CLOCK1", "deadlines", lt.Injected},
	{"a reservation that is refused takes its tokens", "RS-OK", "reservations", lt.Explicit},
	{"a reservation that comes too late keeps its tokens", "CN-WITHIN", "", lt.Injected},
	{"a reservation above the burst is OK", "RS-OK", "reservations", lt.Explicit},
	{"a delay is a tenth too short", "RS-DELAY", "reservations", lt.Explicit},
	{"a delay is for its own tokens", "RS-MONO", "reservations", lt.Explicit},
	{"a debt is forgiven", "RS-DEBT", "reservations", lt.Explicit},
	{"a cancel refunds twice", "CN-UPPER", "reservations", lt.Explicit},
	{"a cancel takes the tokens again", "CN-LOWER", "reservations", lt.Explicit},
	{"a cancel refunds a token at most", "CN-LIFO", "reservations", lt.Explicit},
	{"a cancel refunds everything", "CN-ANY", "reservations in a row", lt.Explicit},
	{"a cancel sees four later reservations", "CN-ANY", "reservations in a row", lt.Explicit},
	{"a late cancel refunds", "CN-LATE", "reservations", lt.Explicit},
	{"a second cancel refunds again", "CN-IDEM", "reservations", lt.Explicit},
	{"a cancel looks and refunds under two locks", "X-CONC", "cancelled before", lt.Explicit},
	{"what is owed is forgotten after an hour", "RL-ENV", "owed for days", lt.Injected},
	{"a new limit counts from the beginning", "SL-NORETRO", "limits", lt.Explicit},
	{"a new limit fills the bucket", "SL-KEEP", "limits", lt.Explicit},
	{"a lower burst leaves the tokens", "SB-CAP", "bursts", lt.Explicit},
	{"a higher burst brings tokens", "SB-NOGIFT", "bursts", lt.Explicit},
	{"a lower burst puts off the next token", "SB-LIVE", "bursts", lt.Explicit},
	{"a burst of 0 is for good", "SB-LIVE", "bursts", lt.Explicit},
	{"a burst is set without the lock", "SL-CONC", "cancelled before", lt.Explicit},
	{"an infinite rate is a high one", "RL-INF", "infinite", lt.Explicit},
	{"a wait never gets more than the burst", "RL-INF", "infinite", lt.Injected},
	{"what was free is refunded", "RL-INFOUT", "after an infinite rate", lt.Explicit},
	{"a cancel after an infinite rate takes the tokens again", "CN-LOWER", "given up after an infinite rate",
		lt.Explicit},
	{"a rate of 0 is no limit", "RL-LIM0", "no rate", lt.Explicit},
	{"a long delay overflows", "RL-TINY", "tiny rates", lt.Explicit},
	{"a wait for what is there is refused at a tiny rate", "X-CFG", "tiny rates", lt.Injected},
	{"an interval below 1ns is no limit", "RL-HUGE", "huge rates", lt.Explicit},
	{"a query looks both ways", "RL-PASTQ", "back in time", lt.Explicit},
	{"keeps thousandths only", "RL-DRIFT", "starving", lt.Explicit},
	{"divides by the burst", "X-CFG", "odd bursts", lt.Explicit},
	{"a clock that is set back rewinds", "X-BACK", "cancelled before", lt.Injected},
	{"a look at a clock that is set back rewinds", "X-BACK", "cancelled before", lt.Injected},
	{"a reservation for 0 empties the bucket", "RL-N0", "odd waits and reservations", lt.Explicit},
	{"a reservation for a negative number adds tokens", "RL-NEG", "odd waits and reservations", lt.Explicit},
	{"a wait for more than the burst empties the bucket", "RL-NBIG", "odd waits and reservations", lt.Injected},
	{"a wait sleeps whole milliseconds", "W-NOTEARLY", "odd instants", lt.Injected},
	{"the third cancel refunds nothing", "CN-LIFO", "odd instants", lt.Explicit},
	{"a look makes reservations final", "CN-LIFO", "harmless in between", lt.Explicit},
	{"a reservation for 0 makes others final", "RL-N0", "harmless in between", lt.Explicit},
	{"a cancel after a new limit refunds nothing", "CN-LIFO", "given up after a change", lt.Explicit},
	{"a cancel refunds whole tokens only", "CN-LIFO", "a part of a token comes back", lt.Explicit},
	{"the room at an instant is noted once", "CN-UPPER", "given up as it changed", lt.Explicit},
	{"a limit of 0 forgets what has accrued", "SL-NORETRO", "no rate for a while", lt.Explicit},
	{"a cancelled wait returns an error of its own", "W-ERR", "waits", lt.Injected},
	{"a limit that is set in the past rewinds", "RL-PAST", "back in time", lt.Explicit},
	{"a burst that is set in the past rewinds", "RL-PAST", "back in time", lt.Explicit},
	{"a cancel in the past rewinds", "RL-PAST", "back in time", lt.Explicit},
	{"a lower burst leaves the tokens for old instants", "RL-PAST", "back in time", lt.Explicit},
	{"a higher burst is pro-rated", "SB-NOGIFT", "bursts", lt.Explicit},
	{"a lower burst is pro-rated", "SB-LIVE", "bursts and reservations", lt.Explicit},
	{"one more than the largest burst overflows", "X-CFG", "odd bursts", lt.Explicit},
	{"a query shows the level of the last request", "RL-TOKENS", "what is shown", lt.Explicit},
	{"a cancel brings what would have been lost", "RL-ENV", "given up after tokens came", lt.Explicit},
	{"a cancel brings what there was no room for", "CN-UPPER", "given up after tokens came", lt.Explicit},
	{"what two have lost together comes back twice", "RL-ENV", "both given up", lt.Explicit},
	{"what comes back of one leaves the room of the next", "RL-ENV", "both given up", lt.Explicit},
	{"what comes back may be more than the bucket holds", "RL-ENV", "more than fits comes back", lt.Explicit},
	{"a cancel forgets those who came after a change", "CN-ANY", "many wait behind", lt.Explicit},
	{"a reservation in the past rewinds", "RL-PAST", "back in time", lt.Explicit},
	{"a rate of 0 is a token in 292 years", "RL-LIM0", "no rate for a while", lt.Explicit},
	{"an infinite rate without a burst grants nothing", "RL-INF", "infinite", lt.Explicit},
	{"panics where a nanosecond is missing", "X-CALLS", "a nanosecond too early", lt.Injected},
	{"a new limit divides by what is there", "X-CALLS", "", lt.Explicit},
	{"a new burst divides by what is there", "X-CALLS", "", lt.Explicit},
	{"a look at what is owed panics", "X-CALLS", "", lt.Explicit},
	{"a late cancel panics", "X-CALLS", "", lt.Explicit},
	{"a late cancel about an earlier instant refunds", "RL-PAST", "back in time", lt.Explicit},
	{"a cancel that brought less may come again", "CN-IDEM", "given up again", lt.Explicit},
	{"a cancel refunds in units of the period of its time", "CN-LIFO", "given up in another period", lt.Explicit},
	{"what never comes is refused and taken", "RL-LIM0", "no rate", lt.Explicit},
}
