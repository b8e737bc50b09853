// Package limiter has the zoo's rate limiters.
package limiter

import (
	"cmp"
	"slices"
	"strings"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/escapement-go/escapement/synctestcompat"
)

// kind makes limiters of one kind: a correct one, or one with a mistake.
type kind func(mutant string, source lt.TimeSource) lt.Spec

// with is the kind whose limiters wrap makes of those of another.
func (k kind) with(wrap func(lt.Spec) lt.Spec) kind {
	return func(mutant string, source lt.TimeSource) lt.Spec { return wrap(k(mutant, source)) }
}

// mistake is a mutant of a kind of limiter.
type mistake struct {
	name, rule, family string
	source             lt.TimeSource
}

// mutants are mistakes of a kind, under names that begin with a prefix. They take their time from source, unless they
// say where.
func (k kind) mutants(prefix string, source lt.TimeSource, mistakes ...mistake) (all []zoo.Mutant) {
	for _, m := range mistakes {
		all = append(all, zoo.Mutant{
			Name: prefix + m.name, Rule: m.rule, Family: m.family, Spec: k(m.name, cmp.Or(m.source, source)),
			Hangs: m.name == keepsLock, Chance: m.rule == "X-CONC" || m.rule == "SL-CONC",
		})
	}
	return all
}

// Mutants are mistakes, each with the rule that must catch it.
func Mutants() []zoo.Mutant {
	idle := mistake{name: idleAddsUp, rule: "RL-CAP", family: "idle again and again"}
	tooLong := mistake{name: "a burst that takes centuries to come overflows", rule: "X-CFG", family: "odd bursts"}
	fullRefunds := reservesOnly(debtSpec("a cancel refunds everything", lt.Explicit))
	return slices.Concat(
		kind(bucketSpec).mutants("", lt.Explicit, bucketMutants...),
		kind(bucketSpec).mutants("Injected: ", lt.Injected, idle),
		kind(bucketSpec).mutants("PackageTime: ", lt.PackageTime, idle),
		kind(prepaidSpec).mutants("", lt.Explicit, prepaidMutants...),
		kind(perSecondSpec).mutants("so many per second: ", lt.Explicit, perSecondMutants...),
		[]zoo.Mutant{
			{Name: "tokens are handed out by a goroutine", Rule: "X-ROW", Spec: handed()},
			{Name: "goroutine left behind", Rule: "X-LEAK", Spec: bucketSpec("goroutine left behind", lt.Injected)},
		},
		kind(debtSpec).mutants("", lt.Explicit, debtMutants...),
		kind(debtSpec).with(reservesOnly).mutants("reserves only: ", lt.Explicit,
			mistake{name: "who is due has nobody behind", rule: "CN-ANY", family: "given up at its instant"}),
		kind(debtSpec).with(sleepsOver).mutants("", lt.Injected,
			mistake{name: "a deadline is compared with package time", rule: "X-CLOCK1", family: "deadlines"}),
		kind(queueSpec).mutants("", lt.Injected, queueMutants...),
		[]zoo.Mutant{
			{Name: "unfair: " + neverCollects, Rule: "W-NOLOST", Spec: outgrownSpec(neverCollects, lt.FairNone)},
			{Name: raisesForGood, Rule: "RL-ENV", Spec: outgrownSpec(raisesForGood, lt.FairFIFO)},
			{Name: cutsWhatIsKept, Rule: "W-EXACT", Spec: outgrownSpec(cutsWhatIsKept, lt.FairFIFO)},
			{Name: "full refunds that move nobody", Rule: "RL-ENV",
				Spec: declaring(fullRefunds, lt.Traits{Refund: lt.RefundFull})},
			{Name: grantsMore, Rule: "RL-NBIG", Spec: grantsMoreSpec()},
			{Name: zoo.LosesTime, Rule: "X-READ", Spec: losesTime()},
		},
		kind(bucketSpec).with(oneConfiguration).mutants("one configuration: ", lt.Explicit, configuredMutants...),
		waitsOnlyMutants(),
		[]zoo.Mutant{
			{Name: neverUnlocks, Rule: "X-CALLS", Spec: asleepSpec(neverUnlocks, lt.Injected), Hangs: true},
			{Name: "a reservation is cancelled by a goroutine", Rule: "X-EFFECT", Spec: cancelsLater()},
			{Name: gives, Rule: "RL-ENV", Spec: givesSpec()},
			{Name: spins, Rule: "W-CANCEL", Spec: spinsSpec(lt.Injected), Hangs: true},
			{Name: ticksOn, Rule: "X-LEAK", Spec: tickerSpec(ticksOn, lt.Injected), Family: "leaks"},
			{Name: "filled twice each 50ms", Rule: "RL-ENV", Steps: 3,
				Spec: tickSpec("its ticker fills it twice", lt.PackageTime)},
		},
		kind(tickSpec).mutants("filled each 50ms: ", lt.PackageTime,
			mistake{name: "a negative request adds tokens", rule: "RL-NEG"}),
		kind(float32Spec).mutants("rate in float32: ", lt.Explicit, mistake{name: "refills too fast", rule: "RL-ENV"}),
		kind(millisecondSpec).mutants("instants in milliseconds: ", lt.Explicit,
			mistake{name: "refills too slowly", rule: "RL-WORK"}),
		kind(oneSpec).mutants("one token: ", lt.Explicit, oneMutants...),
		kind(quickSpec).mutants("", lt.PackageTime, quickMutants...),
		kind(pacerSpec).mutants("a pacer: ", lt.PackageTime, tooLong),
		kind(pacerSpec).with(waitsOnly).mutants("a pacer, waits only: ", lt.PackageTime, tooLong,
			mistake{name: "a burst of 0 is a default", rule: "X-CFG", family: "odd bursts"},
			mistake{name: "two waits at once take one turn", rule: "X-CONC"}),
		kind(pacerSpec).mutants("", lt.PackageTime, pacerMutants...),
		refusingMutants(),
		creditMutants(),
		kind(remoteSpec).mutants("remote: ", lt.PackageTime, remoteMutants...),
		keyedMutants(),
		kind(bucketSpec).mutants("", lt.Explicit,
			mistake{name: "a new bucket shows what came since the zero time", rule: "RL-TOKENS"},
			mistake{name: "counts before it locks", rule: "X-RACE"}),
	)
}

// Designs are correct limiters of several kinds, the first ones on one clock each.
func Designs() []zoo.Design {
	specs := []lt.Spec{
		bucketSpec("", lt.Injected), bucketSpec("", lt.PackageTime), bucketSpec("", lt.Explicit),
		debtSpec("", lt.Injected), queueSpec("", lt.Injected), perSecondSpec("", lt.Explicit),
		perPeriodSpec(lt.Explicit), perPeriodSpec(lt.Injected),
		tickerSpec("", lt.PackageTime), lateSpec(lt.PackageTime),
		debtSpec("", lt.PackageTime), debtSpec("", lt.Explicit), queueSpec("", lt.PackageTime),
		retrySpec(lt.Injected), retrySpec(lt.PackageTime), hastySpec(lt.PackageTime), hastySpec(lt.Injected),
		asleepSpec("", lt.Injected), asleepSpec("", lt.PackageTime),
		float32Spec("", lt.Explicit), float32Spec("", lt.Injected),
		millisecondSpec("", lt.PackageTime), millisecondSpec("", lt.Explicit),
		declaring(bucketSpec("a request for 0 is denied", lt.Explicit), lt.Traits{Zero: lt.ZeroDenied}),
		declaring(bucketSpec("an old instant rewinds", lt.Explicit), lt.Traits{BackTime: lt.BackRewind}),
		declaring(debtSpec("a cancelled wait returns an error of its own", lt.PackageTime),
			lt.Traits{WaitErrors: lt.WaitErrorsOwn}),
		declaring(debtSpec(followsBurst, lt.Explicit), lt.Traits{OnBurstRaised: lt.RaiseBringsTokens}),
		declaring(debtSpec(followsBurst, lt.Injected), lt.Traits{OnBurstRaised: lt.RaiseBringsTokens}),
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
		prepaidSpec("", lt.Explicit), outgrownSpec("", lt.FairFIFO), outgrownSpec("", lt.FairNone),
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
	spec.Traits.Zero = cmp.Or(tr.Zero, spec.Traits.Zero)
	spec.Traits.WaitErrors = cmp.Or(tr.WaitErrors, spec.Traits.WaitErrors)
	spec.Traits.BackTime = cmp.Or(tr.BackTime, spec.Traits.BackTime)
	spec.Traits.Refund = cmp.Or(tr.Refund, spec.Traits.Refund)
	spec.Traits.OnBurstRaised = cmp.Or(tr.OnBurstRaised, spec.Traits.OnBurstRaised)
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
	keepsLock  = "keeps a lock when it denies"
	roomForOne = "room for one is room for all"
	idleAddsUp = "each idle time brings an eighth of a token, in whole tokens"
)

// bucketMutants are the mistakes of the plain bucket.
var bucketMutants = []mistake{
	{name: "refills too fast", rule: "RL-ENV"},
	{name: "interval is cut to a nanosecond", rule: "RL-ENV"},
	{name: "interval is cut to a microsecond", rule: "RL-ENV"},
	{name: "refills too slowly", rule: "RL-WORK"},
	{name: "the last nanosecond before it is full is cut off", rule: "RL-WORK"},
	{name: "needs a little more than there is", rule: "RL-WORK"},
	{name: "grants a little early", rule: "RL-MODEL"},
	{name: "starts empty", rule: "RL-FULL"},
	{name: "bucket one too large", rule: "RL-CAP"},
	{name: "bucket without a bound", rule: "RL-CAP"},
	{name: idleAddsUp, rule: "RL-CAP"},
	{name: roomForOne, rule: "RL-ENV"},
	{name: "a denied request costs a token", rule: "RL-DENYPURE"},
	{name: "moves on when it denies", rule: "RL-FRAC"},
	{name: "counts whole tokens only", rule: "RL-WORK"},
	{name: "forgets the rest on a grant", rule: "RL-WORK"},
	{name: "a product overflows after a long time", rule: "RL-IDLE"},
	{name: "a product of 64 bits wraps", rule: "RL-WORK"},
	{name: "a request for 0 is denied", rule: "RL-N0"},
	{name: "a negative request adds tokens", rule: "RL-NEG"},
	{name: "grants more than the burst", rule: "RL-NBIG"},
	{name: "a large request resets the bucket", rule: "RL-NBIG"},
	{name: "an old instant rewinds", rule: "RL-PAST"},
	{name: "an old instant brings a nanosecond", rule: "RL-PAST"},
	{name: "an old instant is denied", rule: "RL-PAST"},
	{name: "the zero time means new", rule: "RL-EPOCH"},
	{name: "unix 0 means new", rule: "RL-EPOCH"},
	{name: "panics when it is empty", rule: "X-CALLS"},
	{name: keepsLock, rule: "X-CALLS"},
	{name: "checks without the lock", rule: "X-CONC"},
	{name: "an infinite rate grants no more than the burst", rule: "RL-INF"},
}

// configuredMutants are some of those of a bucket that is made in one configuration.
var configuredMutants = []mistake{
	{name: "refills too fast", rule: "RL-ENV"},
	{name: "bucket without a bound", rule: "RL-CAP"},
	{name: "moves on when it denies", rule: "RL-FRAC"},
	{name: "forgets the rest on a grant", rule: "RL-WORK"},
	{name: "a negative request adds tokens", rule: "RL-NEG"},
}

// perSecondMutants are some of those of the bucket that says only how many per second,
// which only a burst above 1 shows.
var perSecondMutants = []mistake{
	{name: "refills too fast", rule: "RL-ENV"},
	{name: "forgets the rest on a grant", rule: "RL-WORK"},
	{name: "moves on when it denies", rule: "RL-FRAC"},
	{name: "bucket without a bound", rule: "RL-CAP"},
	{name: "a large request resets the bucket", rule: "RL-NBIG"},
}

// queueMutants are those of the bucket with a queue, with the rule that must catch each and a family in
// which it shows.
var queueMutants = []mistake{
	{"who comes last is served first", "W-FIFO", "waits", lt.Injected},
	{"a request overtakes those who wait", "W-NOSTARVE", "starving", lt.Injected},
	{"who gives up leaves the next asleep", "W-NOLOST", "waits", lt.Injected},
	{"a new limit leaves the timer", "W-WAKE", "limits and waits", lt.Injected},
	{"who gives up leaves the timer", "W-WAKE", "deadlines", lt.Injected},
	{"who is served as he gives up returns an error", "W-DEADEQ", "given up as another is", lt.Injected},
	{"who gives up lets one go", "W-CANCEL", "several are next", lt.Injected},
	{"who waits for more than a lower burst stays first", "W-NOLOST", "bursts and waits", lt.Injected},
	{"who waits for one more than a lower burst stays first", "W-NOLOST", "bursts and waits", lt.Injected},
	{"a clock that is set back far overflows", "X-BACK", "cancelled before", lt.Injected},
	{"a limit that is set before anybody asks empties the bucket", "SL-KEEP", "limits", lt.Injected},
	{"a limit in another period leaves the units", "SL-KEEP", "limits and reservations", lt.Injected},
	{"a look at a full bucket adds a unit", "RL-NBIG", "huge rates", lt.Injected},
}

// debtMutants are those of the bucket that goes into debt, with the rule that must catch each and a family in
// which it shows.
var debtMutants = []mistake{
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
