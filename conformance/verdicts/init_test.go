package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What init writes for types of this module, as far as names and signatures tell.
func TestInit(t *testing.T) {
	for i, c := range []struct {
		arg  string
		want []string
	}{
		{"../../limiters.TokenBucket", []string{
			"limitertest.Run(t, limitertest.Spec{", "x := limiters.NewTokenBucket(",
			"AllowAt:", "Allow:", "WaitN:",
		}},
		{"../../limiters.NewConcurrency", []string{"concurrencytest.Run(", "TryAcquire:", "Release:"}},
		{"../../debounce.New", []string{
			"debouncertest.Injected", "x := debounce.New[int](", "fire(v)", "Call:", "Cancel", "Flush", "Stop:",
		}},
		{"../../limiters.SlidingLog", []string{"quotatest.Run(", "quotatest.SlidingLog,"}},
		{"../../fakeclock.New", []string{"clocktest.Run(", "return clocktest.Of(x)"}},
	} {
		file := filepath.Join(t.TempDir(), "x_test.go")
		var out, failed bytes.Buffer
		if code := run([]string{"init", "-o", file, c.arg}, &out, &failed); code != 0 {
			t.Errorf("init %s ends with %d: %s", c.arg, code, &failed)
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(string(text), want) {
				t.Errorf("init %s: there is no %q in\n%s", c.arg, want, text)
			}
		}
		if i == 0 && run([]string{"init", "-o", file, c.arg}, &out, &failed) == 0 {
			t.Errorf("init %s writes over %s", c.arg, file)
		}
	}
}

// What init tells of the types of others compiles, and is what a user would write.
func TestInit_subjects(t *testing.T) {
	pkg, err := load("./testdata/subjects")
	if err != nil {
		t.Fatal(err)
	}
	folder, files := t.TempDir(), []string{"vet"}
	for _, c := range []struct {
		name string
		want []string
	}{
		{"RateBucket", []string{
			"leakybuckettest.Run(", "NewRateBucket(cfg.Backlog, cfg.Interval, func(v int) { leave(v) })",
			"return x.Put(v) == nil", "Close: x.Close,", "Stop: x.Stop,",
		}},
		{"quotatest NewCell", []string{"quotatest.GCRA,", "NewCell(cfg.Burst, cfg.Limit, cfg.Window)"}},
		{"quotatest NewRatedCell", []string{
			"quotatest.GCRA,", "NewRatedCell(float64(cfg.Limit)/cfg.Window.Seconds(), cfg.Burst)",
		}},
		{"Wheel", []string{
			"clocktest.Run(", "NewWheel(time.Date(", "x.SetTime(x.Now().Add(d))", "After:",
			"x.TickAfter", "c, h := x.NewTimer(d)",
			"NoTimerReset: true", "NoTimerAnswers: true", "ticker{handle{h.C,", "Armed:", "AfterFunc:",
		}},
		{"Watch", []string{
			"x.AddTime(d)", "Tick: x.Tick", "x.SleepFor(context.Background(), d)", "handle{*h.Ch(), ",
			"WithTimeout: x.ContextWithTimeout", "// not used: Sleep(d time.Duration)", "// not used: Sleepers() int",
		}},
		{"Guard", []string{
			"quotatest.Run(", "Tokens: uint64(cfg.Limit), Window: cfg.Window}", "panic(err)", "!r0.Limited",
			"int(r0.Remaining)", "r0.RetryAfter", "time.Until(r0.Reset)", "Err: r1", `panic("out of range")`, "Stop:",
		}},
		{"Gate", []string{"quotatest.SlidingCounter", "x.Handler(next)", "Remaining: left"}},
		{"Throttle", []string{
			"concurrencytest.Run(", "x(next)", "Do:", "ContextError: concurrencytest.ErrorOfOwn",
		}},
		{"ThrottleBacklog", []string{
			"concurrencytest.Run(", "if cfg.Backlog < 0 { cfg.Backlog = 1 << 10",
			"(cfg.Limit, cfg.Backlog, cfg.Timeout)",
		}},
		{"Crew", []string{"concurrencytest.Run(", "if !x.Go(ctx, func() { <-done })", "Take:"}},
		{"Bucket", []string{
			"limitertest.Run(", "x.Init(cfg.Rate.PerSecond(), float64(cfg.Burst))", "x.TryToFulfill(float64(n))",
			`!x.LimitReached("1")`,
		}},
		{"Valve", []string{
			"concurrencytest.Run(", "NewValve(cfg.Limit)", "if !x.Start(cfg.Timeout) {", `errors.New("rejected")`,
			"TryAcquire:", "x.Done()", "Context: concurrencytest.ContextIgnored",
		}},
		{"Sized", []string{"concurrencytest.Run(", "x.AddWithContext(ctx)", "x.Add()", "x.Done()"}},
		{"Meter", []string{
			"limitertest.Run(", "Time: limitertest.Explicit", "cfg.Rate.Interval(), cfg.Burst", "x.AllowN(n, at)",
		}},
		{"Batcher", []string{
			"batchtest.Run(", "all = append(all, item.(int))", "x.DelayThreshold = cfg.Delay", "x.Add(v, 1)",
		}},
		{"Tickets", []string{
			"concurrencytest.Run(", "NewTickets(uint(cfg.Limit))", "r, err := x.GetToken(ctx, uint(n))",
			"return func() { r() }, nil", "Take:",
		}},
		{"RateLimit", []string{"concurrencytest.Run(", "if x.GetToken(ctx.Done()) {", "x.PutToken()"}},
		{"TakeBucket", []string{
			"limitertest.Run(", "say which freq (time.Duration) it is made with", "{ x.Wait(int64(n)) }",
			"// set AllowN if x.Take takes",
			"x.Take(int64(1)) == 1", "used: WaitN(",
		}},
		{"WatchedDebouncer", []string{
			"debouncertest.Run(", "Time: debouncertest.Injected", "NewWatchedDebouncer(ownClock{env.Clock}, cfg.Wait,",
			"AfterFunc(d time.Duration, f func()) subjects.Alarm { return c.Clock.AfterFunc(d, f) }",
			"NewTimer(d time.Duration) subjects.Bell { return ownTimer{c.Clock.NewTimer(d)} }",
			"func (t ownTimer) C() <-chan time.Time { return t.Chan() }",
		}},
		{"Manager", []string{"concurrencytest.Run(", "Lock: func(_ int) { x.Wait() }", "x.Done()"}},
		{"concurrencytest Executor", []string{
			"done := make(chan struct{}) err := func() error { ",
			"_, r := x.Execute(func() { defer close(done); run() }); return r }()",
			"if err == nil { <-done } return err",
		}},
		{"concurrencytest Launcher", []string{
			"thrown = recover(); close(done) }(); run() }) { return errors.New", "panic(thrown) } return err",
		}},
		{"Many", []string{
			"Lock: x.AcquireMany", "Release: func(n int) { x.ReleaseMany(n) }", "// Traits: left out",
		}},
		{"Throttler", []string{"concurrencytest.Run(", "return x.Do()", "x.Done(nil)"}},
		{"Permits", []string{
			"concurrencytest.Run(", "return x.AcquireTimeout(cfg.Timeout)", "x.Release()", "// Lock: nothing fits.",
		}},
		{"Fixed", []string{"concurrencytest.Run(", "x.Take()", "return x.TryTake()", "x.Release()"}},
		{"Turnstile", []string{
			"concurrencytest.Run(", "Lock: func(_ int) { x.Acquire() }",
			"TryAcquire: func(_ int) bool { return x.TryAcquire() }",
		}},
		{"NewTwo", []string{
			"quotatest.SlidingCounter", "GiveBack: func(n int) { x.GiveBack(int64(n)) }", "Reset: x.Reset,",
		}},
		{"debouncertest NewPerKey", []string{
			"CallKey: x.Debounce,", "func(v int) { x.Debounce(1, v) }", "CancelKey: func(key int) { x.Cancel(key) },",
			"FlushKey: x.Flush,", "// Cancel: nothing fits.", "// Flush: nothing fits.", ": it does not fit Pending",
		}},
		{"Latch", []string{"{ x.Lock() },", "return x.TryLock()", "{ x.Unlock() }"}},
		{"Door", []string{"concurrencytest.Run(", "p := subjects.NewDoor(cfg.Limit) x := *p", "x.AcquireCtx(ctx)"}},
		{"Pacer", []string{
			"leakybuckettest.Run(", "leakybuckettest.Injected", "var clock subjects.Clock = env.Clock",
			`panic("it is made with a rate per second")`, "int(time.Second/cfg.Interval), 0, &clock)",
			"x.Take() return true",
		}},
		{"FlowLimiter", []string{
			"limitertest.Run(", "subjects.NewFlowLimiter(cfg.Rate.Events, ", "subjects.Per(cfg.Rate.Per)",
			"subjects.WithSlack(cfg.Burst-1)", "subjects.WithTimeSource(env.Clock)",
			`panic("one at a time") } x.Take()`,
		}},
		{"Store", []string{
			"limitertest.Run(", "limitertest.PackageTime", "subjects.NewStoreWithConfig(subjects.StoreConfig{" +
				"Rate: cfg.Rate.PerSecond(), Burst: cfg.Burst})", "AllowKey:",
			"r, _ := x.Allow(strconv.Itoa(key)) return r", `Allow: func() bool { r, _ := x.Allow("1"); return r }`,
			"// does the constructor accept a rate of 0? If so, delete the check in New",
			"ZeroRate: limitertest.ZeroRateRefused",
		}},
		{"SaverBucket", []string{
			"limitertest.Run(", "limitertest.Injected", "if cfg.Rate.Events == 0 { panic(",
			"if cfg.Rate.Events > 0 && !cfg.Rate.Exact() && cfg.Rate.Interval() < time.Microsecond {",
			"int64(cfg.Burst), env.Clock.Now)",
			"_, r := x.TakeMaxDuration(int64(n), 0)", "x.TakeAvailable(int64(1)) == 1",
		}},
		{"Sampler", []string{
			"quotatest.Run(", "x.Period = cfg.Window", "x.Burst = uint32(cfg.Limit)",
			"x.Sample(subjects.Level(0))",
		}},
		{"Ring", []string{"quotatest.Run(", "NewRing(cfg.Limit, cfg.Window)", "r0 := x.Allow()"}},
		{"Often", []string{"throttletest.Run(", "x.Do(func() error { emit(v); return nil })"}},
		{"KeyedCalls", []string{
			"debouncertest.Run(", "NewKeyedDebouncer[int, int](cfg.Wait, func(_ int, v int) { fire(v) }, opts...)",
			"if cfg.MaxWait > 0 {", "// declare MaxWait: one of", "x.Call(key, v)",
			"CancelKey: func(key int) { x.Cancel(key) }",
		}},
		{"Bulk", []string{
			"batchtest.Run(", "all = append(all, item.(int))", "WithBulkTasks(cfg.Size)", "WithBulkInterval(cfg.Delay)",
			"if cfg.Delay == 0 { panic(\"0 may stand for a default: delete this check if 0 means no bound\") }",
			"return x.Add(v)", "Flush: x.Flush", "// WithBulkEager is not used: hand it on where cfg",
		}},
		{"RefBatcher", []string{
			"func(v []*int) { var all []int for _, item := range v { all = append(all, *item) } batch(all) }",
			"x.Put(&v)",
		}},
		{"RefDebouncer", []string{"func(v *int) { fire(*v) }", "x.Call(&v)"}},
		{"Waiting", []string{"batchtest.Run(", "go x.Run(v)", `if cfg.Size > 0 { panic("it has none") }`}},
		{"Drawn", []string{
			"batchtest.Run(",
			"NewDrawn(cfg.Delay, uint(cfg.Size), uint(1<<30), uint(1), func(_ any) (_ uint) { return })",
			"v, err := x.Get()", "Close: x.Dispose",
		}},
		{"Typed", []string{
			"batchtest.Run(",
			"reflect.TypeFor[int](), &subjects.TypedOptions{MaxBatchSize: cfg.Size, Linger: cfg.Delay}",
			"batch(v.([]int))", "Close: x.Shutdown",
		}},
		{"Burst", []string{"debouncertest.Run(", "NewBatch: func(", "fire func([]int)", "fire(v)"}},
		{"Cooldown", []string{"throttletest.Injected", "(cfg.Interval, env.Clock.Now)", "Allow: x.Allow,"}},
		{"ToldCooldown", []string{"throttletest.Run(", "throttletest.Explicit", "AllowAt: x.Allow,"}},
		{"ReadDebouncer", []string{"debouncertest.PackageTime", "(cfg.Wait, env.Clock.Now, func(v int) { fire(v) })"}},
		{"HeadDebouncer", []string{
			"debouncertest.Injected", "if cfg.Edges&debouncertest.Trailing == 0 {", "Now: env.Clock.Now,",
			"return env.Clock.AfterFunc(d, f).Stop }, }, cfg.Wait, cfg.Edges&debouncertest.Leading != 0,",
		}},
		{"FullThrottle", []string{
			"throttletest.Run(", "(uint(max(1, cfg.K)), cfg.Interval,", "Flush: x.Flush,", "func() { x.Discard() }",
			"Stop: x.Stop,", "Close: func() { x.Shutdown(context.Background()) }", ": it does not fit Reset",
		}},
		{"Tally", []string{
			"quotatest.SlidingCounter,", "quotatest.Explicit", "TakeAt: func(at time.Time, n int)", "x.Take(at, n)",
			"PeekAt: func(at time.Time)", "x.Peek(at)", "Stop:",
		}},
		{"Tallies", []string{"quotatest.Run(", "TakeKeyAt: func(at time.Time, key int, n int)", "(at, key, n)"}},
		{"ToldMeters", []string{"limitertest.Explicit", "AllowKeyAt: x.AllowAt,", "// SetBurst: nothing fits."}},
		{"Admission", []string{"concurrencytest.Run(", "(cfg.Limit, cfg.Backlog, cfg.Timeout)", "Do: x.Do,"}},
		{"DebounceGate", []string{"throttletest.Run(", "Allow: x.Allow,"}},
		{"BookBucket", []string{
			"limitertest.Run(", "AllowN: x.Allow,", "r := x.Reserve(n) if r == nil {",
			"return r.Delay() }, Cancel: func() { r.Cancel() },", "x.SetLimit(r.PerSecond())",
		}},
		{"LoanBucket", []string{
			"limitertest.Explicit", "r, err := x.ReserveN(at, n) if err != nil {", "OK: func() bool { return r.OK }",
			"DelayFrom: r.DelayFrom", "CancelAt: r.CancelAt", "TokensAt: x.Tokens,",
		}},
		{"Lots", []string{"batchtest.Run(", "batchtest.Funcs { x := subjects.NewLots(cfg.Size, cfg.Delay,"}},
		{"Turned", []string{"quotatest.Run(", "OK: !r0"}},
		{"limitertest NewTurned", []string{"Allow: func() bool { return !x.Limit() }"}},
		{"Straight", []string{"quotatest.Run(", "OK: r0"}},
		{"Mute", []string{"// not used: Limit() bool: say whether true means", "not used: Forget()", "t.Skip("}},
		{"DebounceAny", []string{
			"[int, int](func(v ...int) (_ int) { fire(v[0]) return }, cfg.Wait,", "func(v int) { x(v) }",
			"Cancel: control.Cancel,", "Flush: control.Flush,", "Pending: control.Pending,", "Size of the second",
			"WithLeading(cfg.Edges&debouncertest.Leading != 0),", "// declare in Edges",
		}},
		{"DebounceWork", []string{"MaxWait: cfg.MaxWait", "zero value: Label", "// declare MaxWait:"}},
		{"ThrottleWork", []string{
			"Trailing: cfg.Edges&throttletest.Trailing != 0}", "zero value: MaxWait, Label",
			"Payload: throttletest.NoPayload",
		}},
		{"LeakyTank", []string{"(float64(time.Second)/float64(cfg.Interval), int64(cfg.Backlog))"}},
		{"limitertest Locked", []string{
			"limitertest.Run(", "if cfg.Burst != 1 {", "x.Take()", "// Stop: nothing fits. } }",
		}},
		{"Narrow", []string{
			"cfg.Burst < math.MinInt32 || cfg.Burst > math.MaxInt32 { panic(",
			"if n < math.MinInt32 || n > math.MaxInt32 { return false } return x.AllowN(int32(n))",
			"if n < 0 { panic(",
		}},
		{"Refilled", []string{"NewRefilled(cfg.Rate.Interval(), cfg.Burst)"}},
		{"limitertest Unsaid", []string{
			"// ASSUMED: all tokens of the burst come again in each t.", "// period :=",
			"if cfg.Burst == 0 { period, ok = time.Second, true ",
		}},
		{"StartDebouncer", []string{
			"cfg.Wait, cmp.Or(cfg.MaxWait, max(cfg.Wait, 1_000_000*time.Hour)), func() { fire(0) }, stop)",
			"func() { close(stop) }",
			"if err := x.Start(context.Background()); err != nil {", "x.Bounce()",
		}},
		{"Credits", []string{"(cfg.Rate.PerSecond(), float64(cfg.Burst))", "return x.CheckCredit(float64(n))"}},
		{"AnyLimiter", []string{
			"NewAnyLimiter[int, int](func(v int) int { return v })", "int) bool { return x.AllowN(key, int64(n)) }",
			"nothing of cfg reaches it",
		}},
		{"HashBucket", []string{
			"(uint(1024), uint(1), uint8(cfg.Burst), float64(cfg.Rate.Events), cfg.Rate.Per)",
			`x.TakeTokens([]byte("1"), uint8(n))`,
		}},
		{"VagueLimiter", []string{
			"limitertest.Run(", "{MaxCount: uint(cfg.Burst), Duration: period}", "say whether Take waits for its token",
			"// Wait: nothing fits.", "// Allow: nothing fits.", "Stop: func() { x.Kill() }",
		}},
		{"limitertest AddBucket", []string{
			"Allow: func() bool { return x.Add(int64(1)) == 1 }", "// set AllowN if x.Add",
		}},
		{"BlockLimiter", []string{"// Allow: nothing fits.", "x.Take() },"}},
		{"TextDebouncer", []string{
			"func(v string) { n, _ := strconv.Atoi(v) fire(n) }", "func(v int) { x.Trigger(strconv.Itoa(v)) }",
		}},
		{"KeyTextDebouncer", []string{
			`x.Trigger("1")`, "// say in Call how x.Trigger gets the number of an event;",
		}},
		{"TopicBatcher", []string{
			"n, _ := strconv.Atoi(string(item)) all = append(all, n)", "x.Add(subjects.Topic(strconv.Itoa(v)))",
		}},
		{"ChainDebouncer", []string{
			"NewChainDebouncer(cfg.Wait) x = x.WithFunc(func() { fire(0) })",
			"func(_ int) { x.SendSignal() }", "used: Do(",
		}},
		{"LonelyDebouncer", []string{`t.Skip("not complete: say how it calls fire")`}},
		{"MailDebouncer", []string{
			"func(_ subjects.Mail) { fire(0) }", "Payload: debouncertest.NoPayload", "(subjects.Mail) stands for;",
		}},
		{"WideDebouncer", []string{
			"func(_ string, v ...int64) { fire(int(v[0])) }", "x.Trigger(strconv.Itoa(key), int64(v))",
		}},
		{"Shares", []string{
			"quotatest.FixedWindow",
			"TakeKey: func(key int, n int)", "r0 := x.Take(strconv.Itoa(key))", `r0 := x.Peek("1")`,
			"ResetAfter: r0.ResetAt.Sub(env.Clock.Now()),",
		}},
		{"Turns", []string{
			"Answer{OK: r0, RetryAfter: r1}",
			"// result 3 of Allow, a []int, is not used: add it to the Answer",
		}},
		{"Visits", []string{
			"quotatest.SlidingCounter", "Answer{OK: r0, Remaining: int(x.Remaining(strconv.Itoa(key)))}",
			`Peek: func() quotatest.Answer { r0 := x.Remaining("1") return quotatest.Answer{Remaining: int(r0)} }`,
		}},
		{"BoundDebouncer", []string{"(cfg.Wait, cfg.MaxWait, func() { fire(0) })"}},
		{"NameDebouncer", []string{
			"func(_ string, v int) { fire(v) })", "CallKey: func(key int, v int) { x.Call(strconv.Itoa(key), v) }",
			"CancelKey: func(key int) { x.Cancel(strconv.Itoa(key)) }", "// Cancel: nothing fits.",
		}},
		{"TermBucket", []string{
			`Allow: func() bool { return x.Allow("1") }`, "r, ok := x.Reserve() if !ok {",
			"Cancel: func() { r.Cancel() }", "OneAtATime: true",
		}},
		{"RoomBucket", []string{
			"not used: Reserve(room *subjects.Shares) *subjects.Booking: it does not fit Reserve ",
			"// wire Reserve by hand: until then the Cancel of what it returns is not tried",
		}},
		{"PatientPacer", []string{
			"limitertest.PackageTime", "(cfg.Rate.Interval())", "if cfg.Burst != 1 {", "WaitN:", "return x.Wait(ctx)",
		}},
		{"leakybuckettest NewPatientPacer", []string{"Take:", "// its waits are never cancelled here: "}},
		{"Hatch", []string{"throttletest.Injected", "(cfg.Interval, env.Clock.Now)", "Allow: x.Open,", "used: Shut"}},
		{"PourBucket", []string{
			"limitertest.Explicit", "(float64(cfg.Burst), cfg.Rate.PerSecond())",
			"AllowAt: func(at time.Time, n int) bool { return x.Pour(float64(n), at) == nil }",
		}},
		{"Bundles", []string{
			"in, turn := make(chan int), ", "x := subjects.Bundles[int](in, cfg.Size, cfg.Delay) go func() {",
			"for v := range x { batch(v) }", "in <- v", "Close: func() {", "close(in)",
		}},
		{"DebounceStream", []string{
			"debouncertest.Run(", "for v := range x { fire(v) }", "in <- v",
		}},
		{"LoopDebouncer", []string{
			"no contract covers a debouncer whose Call takes the time: ", "// not used: Call(now time.Time) bool _ = x",
		}},
		{"RankLimiter", []string{
			"(1, cfg.Rate.PerSecond(), float64(cfg.Burst))", "x.Wait(ctx, subjects.Rank(0), float64(n))",
		}},
		{"RankSemaphore", []string{"NewRankSemaphore(1, cfg.Limit)"}},
		{"Lobby", []string{"{Limit: cfg.Limit, BacklogLimit: cfg.Backlog, BacklogTimeout: cfg.Timeout}"}},
		{"MostBucket", []string{"NewMostBucket(float64(cfg.Burst), cfg.Rate.PerSecond())"}},
		{"limitertest QuantumBucket", []string{"NewQuantumBucket(cfg.Rate.Per, cfg.Burst, cfg.Rate.Events)"}},
		{"TenantBucket", []string{"NewTenantBucket(cfg.Rate.PerSecond(), cfg.Burst, 100_000*time.Hour)"}},
		{"Visitors", []string{"VisitorsOptions{Rate: cfg.Window, Limit: uint(cfg.Limit)}"}},
		{"Ambiguous", []string{`t.Skip("not complete: say which of a and b is cfg.Limit: here they go by place")`}},
		{"SetBucket", []string{`t.Skip("not complete: say which rates (*subjects.RateSet) it is made with`}},
		{"limitertest Blocker", []string{
			"if cfg.Rate.Per != time.Second {", "(int64(cfg.Rate.Events), new(subjects.HitCounter), stop)",
			"if cfg.Burst != cfg.Rate.Events {", "Stop: func() { close(stop) }", "Wait: x.Register,",
		}},
		{"limitertest Idler", []string{"_ = x return", "Stop: func() { close(stop) }"}},
		{"limitertest Hourly", []string{
			`if cfg.Rate.Per != time.Hour { panic("it is made with a rate per hour") }`, "NewHourly(cfg.Rate.Events)",
		}},
		{"limitertest Throttled", []string{`panic("one at a time") } x.Throttle()`}},
		{"Optioned", []string{
			"subjects.NewOptioned[int](subjects.WithFlushCallback[int](func(v []int) { batch(v) }), " +
				"subjects.WithMaxCapacity[int](cfg.Size), subjects.WithMaxLatency[int](cfg.Delay)) x.Run()",
			"Add: x.Add,",
		}},
		{"Pool", []string{
			"PoolConfig[int]{MaxSize: int32(cfg.Limit), Constructor: ",
			"func(_ context.Context) (_ int, _ error) { return }, Destructor: func(_ int) { return }",
			"// TryTake: nothing",
		}},
		{"QueueSlots", []string{
			"NewQueueSlots(cfg.Limit, opts...)",
			"if cfg.Backlog >= 0 { opts = append(opts, subjects.WithQueueSize(cfg.Backlog))",
		}},
		{"quotatest SecondWindow", []string{
			`if cfg.Window%time.Second != 0 { panic("it has whole seconds only") }`,
			"(int64(cfg.Limit), int64(cfg.Window/time.Second))",
		}},
		{"MillisThrottle", []string{
			"throttletest.Run(", `if cfg.Interval%time.Millisecond != 0 { panic("it has whole milliseconds only") }`,
			"cfg.Interval/time.Millisecond > math.MaxInt32 { panic(",
			"(int32(cfg.Interval/time.Millisecond), func(v int)",
		}},
		{"TimedSlots", []string{
			"concurrencytest.Run(", "TimeoutSeconds: float64(cfg.Timeout) / float64(time.Second)}",
			"if cfg.Timeout%time.Millisecond != 0 {", "x.Acquire(uint(cfg.Timeout / time.Millisecond))",
		}},
		{"LooseDebouncer", []string{"x := new(subjects.LooseDebouncer[int, int])", "CallKey: x.Call,"}},
		{"concurrencytest Flock", []string{`"not complete: say in Release how a slot is given back"`, "x.Wait()"}},
		{"limitertest TickLimiter", []string{"NewTickLimiter(period, int64(cfg.Burst))", "// declare RefillSize, "}},
		{"SpanLimiter", []string{"(cfg.Rate.Interval(), cfg.Burst)", "// say whether one ", "x.Acquire(context."}},
		{"StallLimiter", []string{"// Allow: nothing fits.", "// WaitN: nothing fits."}},
		{"Licence", []string{"concurrencytest.Run(", "r, err := x.Acquire(ctx)", "r, ok := x.TryAcquire()", "}, true"}},
	} {
		asked, name, ok := strings.Cut(c.name, " ")
		if !ok {
			asked, name = "", c.name
		}
		file := filepath.Join(folder, name+"_test.go")
		all, err := newAdapters(pkg, name, asked)
		if err != nil {
			t.Errorf("init %s: %v", c.name, err)
			continue
		}
		text := all[0].source()
		own := strings.NewReplacer("handle", "handle"+name, "ticker", "ticker"+name).Replace(string(text))
		if err := os.WriteFile(file, []byte(own), 0o666); err != nil {
			t.Fatal(err)
		}
		plain := strings.Join(strings.Fields(string(text)), " ")
		for _, want := range c.want {
			if !strings.Contains(plain, want) {
				t.Errorf("init %s: there is no %q in\n%s", c.name, want, text)
			}
		}
		files = append(files, file)
	}
	if out, err := exec.Command("go", files...).CombinedOutput(); err != nil {
		t.Errorf("what init writes does not compile: %s", out)
	}
}

// What an adapter gets that is no part of the configuration is said, once.
func TestInit_assumed(t *testing.T) {
	pkg, err := load("./testdata/subjects")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"NewRankLimiter":  {"priorities may be 1", "its subjects.Rank may be 0"},
		"NewTenantBucket": {"recheckPeriod may be 100_000*time.Hour"},
		"NewThrottled":    {"its burst is 1, as the constructor gets none: the test's New refuses any other"},
		"NewSweptBucket":  {"sweepEvery may be 0"},
		"NewNameless":     {"its text without a name is a key: if it is ignored, use no field for keys"},
	} {
		all, err := newAdapters(pkg, name, "limitertest")
		if err != nil {
			t.Fatal(err)
		}
		if got := all[0].assumed[1:]; !slices.Equal(got, want) {
			t.Errorf("init %s assumes %q, want %q", name, got, want)
		}
	}
}

// What does not compile is found before it is written.
func TestAdapter_check(t *testing.T) {
	pkg, err := load("./testdata/subjects")
	if err != nil {
		t.Fatal(err)
	}
	all, err := newAdapters(pkg, "Turned", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := all[0].check(); err != nil {
		t.Errorf("what is written of Turned: %v", err)
	}
	all[0].lines = append(all[0].lines, "nowhere()")
	if err := all[0].check(); err == nil || !strings.Contains(err.Error(), "undefined: nowhere") {
		t.Errorf("check() = %v, want an error on nowhere", err)
	}
}

// The help says the flags of both forms.
func TestHelp(t *testing.T) {
	var help bytes.Buffer
	if code := run([]string{"-h"}, io.Discard, &help); code != 0 {
		t.Errorf("-h ends with %d", code)
	}
	for _, want := range []string{"-html", "init [flags]", "-contract package", "-o file", "-write-traits"} {
		if !strings.Contains(help.String(), want) {
			t.Errorf("-h does not say %q:\n%s", want, &help)
		}
	}
}

func TestInit_refuses(t *testing.T) {
	for args, want := range map[string]int{
		"": 2, "init_test.go": 2, "../../limiters.Nothing": 1, "./nowhere.New": 1, ".": 2, "-write-traits ./nowhere": 2,
		"-contract none ../../limiters.Keyed": 2,
	} {
		code := run(append([]string{"init"}, strings.Fields(args)...), &bytes.Buffer{}, &bytes.Buffer{})
		if code != want {
			t.Errorf("init %s ends with %d, want %d", args, code, want)
		}
	}
}
