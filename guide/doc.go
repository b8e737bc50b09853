// Package guide holds the code of GUIDE.md, from tests that sleep to tests that know: its
// tests are the text's examples, one file for each pattern.
//
// Each file has the code under test, the test that sleeps (xBefore), and what takes its
// place: in a bubble (TestX_bubble), on the fake clock (TestX_fakeClock), or both. The
// tests that sleep run in two ways. TestBefore_breaksWhenLate runs each in a bubble in
// which events come late, as on a busy machine: there each of them fails, or misses a
// bug. They run on real time only with
//
//	go test -tags flaky -run '^TestSleeping$' -count 100 ./guide
package guide
