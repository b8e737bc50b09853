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
}

const everything = "^(Test|Fuzz|Example)"

// plan is all that has a contract, and what judges it.
var plan = []target{
	{name: "tokenbucket", dir: "limiters",
		files: []string{
			"tokenbucket.go", "tokenbucket_lockless.go", "tokenbucket_set.go", "reservation.go", "wait.go", "ledger.go",
			"interval.go",
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
	{name: "concurrency", dir: "limiters",
		files: []string{"concurrency.go", "concurrency_backlog.go"}, run: "^TestConformance_Concurrency"},
	// What does without a lock, judged by the packages' own tests as well: the suite runs on one goroutine.
	{name: "own/throttle", dir: "limiters", files: []string{"throttle.go"}, run: everything},
	{name: "own/sometimes", dir: "limiters", files: []string{"sometimes.go"}, run: everything},
	{name: "own/throttlefunc", dir: "limiters", files: []string{"throttlefunc.go"}, run: everything},
	{name: "own/concurrency", dir: "limiters",
		files: []string{"concurrency.go", "concurrency_backlog.go"}, run: everything},
	{name: "own/tokenbucket", dir: "limiters",
		files: []string{"tokenbucket.go", "tokenbucket_lockless.go"}, run: everything},
	{name: "own/keyedgcra", dir: "limiters", files: []string{"keyedgcra.go", "arrivals.go"}, run: everything},
	{name: "own/keyed", dir: "debounce", files: []string{"keyed.go"}, run: everything},
	{name: "fakeclock", dir: "fakeclock", run: "^TestConformance_"},
	{name: "model/concurrency", dir: "conformance/concurrencytest",
		files: []string{"model.go", "model_moves.go", "model_settled.go", "model_state.go"},
		run:   "^Test(Mutants|Designs)$|^TestModel_", parts: true},
}
