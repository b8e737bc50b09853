package main

// target is a set of files whose mutants are run, and the tests that run them.
type target struct {
	name  string
	dir   string   // of the files, from the root of the repository
	files []string // none stands for all
	tests string   // the folder of the tests; "" is dir
	run   string   // which tests, as -run says it
	// parts says that each subtest is looked at by itself: a mutant then runs only in those
	// that reach it.
	parts bool
	// together is which tests run with the race detector; "" stands for run.
	together string
}

const (
	designs    = "^TestDesigns(|_chosen|_chosenWaits)$"
	together   = "^TestDesigns_together$"
	everything = "^(Test|Fuzz|Example)"
)

// plan is all that has a contract: what is bundled, and the correct designs of the zoo.
var plan = []target{
	{name: "tokenbucket", dir: "limiters",
		files: []string{
			"tokenbucket.go", "tokenbucket_set.go", "reservation.go", "wait.go", "ledger.go", "interval.go",
		},
		run: "^TestConformance_"},
	{name: "gcra", dir: "limiters", files: []string{"gcra.go"}, run: "^TestConformance_GCRA"},
	{name: "windows", dir: "limiters",
		files: []string{"fixedwindow.go", "slidinglog.go", "slidingcounter.go", "decision.go"},
		run:   "^TestConformance_"},
	{name: "debouncer", dir: "debounce", run: "^TestConformance_"},
	{name: "throttle", dir: "limiters",
		files: []string{"throttle.go", "throttlefunc.go", "throttlefuncstream.go"},
		run:   "^TestConformance_Throttle"},
	{name: "leakybucket", dir: "limiters", files: []string{"leakybucket.go"}, run: "^TestConformance_LeakyBucket"},
	{name: "concurrency", dir: "limiters", files: []string{"concurrency.go"}, run: "^TestConformance_Concurrency"},
	// What does without a lock, judged by the packages' own tests as well: the suite runs on one goroutine.
	{name: "own/throttle", dir: "limiters", files: []string{"throttle.go"}, run: everything},
	{name: "own/sometimes", dir: "limiters", files: []string{"sometimes.go"}, run: everything},
	{name: "own/throttlefunc", dir: "limiters", files: []string{"throttlefunc.go"}, run: everything},
	{name: "own/concurrency", dir: "limiters", files: []string{"concurrency.go"}, run: everything},
	{name: "own/tokenbucket", dir: "limiters", files: []string{"tokenbucket.go"}, run: everything},
	{name: "own/keyedgcra", dir: "limiters", files: []string{"keyedgcra.go", "arrivals.go"}, run: everything},
	{name: "own/keyed", dir: "debounce", files: []string{"keyed.go"}, run: everything},
	{name: "fakeclock", dir: "fakeclock", run: "^TestConformance_"},
	{name: "designs/limiter", dir: "internal/zoo/limiter", tests: "conformance/limitertest", run: designs,
		parts: true, together: together},
	{name: "designs/quota", dir: "internal/zoo/quota", tests: "conformance/quotatest", run: designs,
		parts: true, together: together},
	{name: "designs/debouncer", dir: "internal/zoo/debouncer", tests: "conformance/debouncertest", run: designs,
		parts: true, together: together},
	{name: "designs/throttle", dir: "internal/zoo/throttle", tests: "conformance/throttletest", run: designs,
		parts: true, together: together},
	{name: "designs/leakybucket", dir: "internal/zoo/leakybucket", tests: "conformance/leakybuckettest", run: designs,
		parts: true, together: together},
	{name: "designs/concurrency", dir: "internal/zoo/concurrency", tests: "conformance/concurrencytest", run: designs,
		parts: true, together: together},
	{name: "designs/clock", dir: "internal/zoo/clock", tests: "conformance/clocktest", run: designs,
		parts: true, together: together},
}
