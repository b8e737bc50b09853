package debounce_test

import (
	"context"
	"fmt"
	"time"

	"github.com/escapement-go/escapement/debounce"
	"github.com/escapement-go/escapement/fakeclock"
)

func Example() {
	clock := fakeclock.New()
	save := func(doc string) { fmt.Printf("%v: save %q\n", clock.Elapsed(), doc) }
	saver := debounce.New(500*time.Millisecond, save, debounce.WithClock(clock))
	defer saver.Stop()

	for _, doc := range []string{"d", "dr", "draft"} {
		saver.Call(doc)
		clock.Advance(200 * time.Millisecond)
	}
	clock.Advance(time.Hour)
	saver.Call("final")
	saver.Flush() // save the last one now

	// Output:
	// 900ms: save "draft"
	// 1h0m0.6s: save "final"
}

func ExampleDebouncer_Cancel() {
	clock := fakeclock.New()
	hide := debounce.New(time.Second, func(id int) { fmt.Println("hide", id) }, debounce.WithClock(clock))
	defer hide.Stop()

	hide.Call(1) // the pointer leaves,
	clock.Advance(700 * time.Millisecond)
	fmt.Println(hide.Cancel()) // and is back in time
	clock.Advance(time.Minute)
	fmt.Println(hide.Cancel()) // nothing is pending

	// Output:
	// true
	// false
}

// A callback may call its own Debouncer: here, to try again.
func ExampleDebouncer_Call() {
	clock := fakeclock.New()
	tries := 0
	var d *debounce.Debouncer[string]
	d = debounce.New(time.Second, func(url string) {
		tries++
		fmt.Printf("%v: try %d of %s\n", clock.Elapsed(), tries, url)
		if tries < 3 {
			d.Call(url)
		}
	}, debounce.WithClock(clock))

	d.Call("/index")
	clock.Advance(time.Minute)
	d.Stop()

	// Output:
	// 1s: try 1 of /index
	// 2s: try 2 of /index
	// 3s: try 3 of /index
}

// A button that acts on the first press, and ignores the bounces of its contact.
func ExampleLeading() {
	clock := fakeclock.New()
	press := debounce.New(50*time.Millisecond, func(n int) { fmt.Printf("%v: press %d\n", clock.Elapsed(), n) },
		debounce.WithClock(clock), debounce.Leading())
	for n := range 3 {
		press.Call(n)
		clock.Advance(10 * time.Millisecond)
	}
	clock.Advance(time.Second)
	press.Call(3)

	// Output:
	// 0s: press 0
	// 1.03s: press 3
}

// The first keystroke shows at once, the last one when the typing pauses.
func ExampleLeadingAndTrailing() {
	clock := fakeclock.New()
	search := debounce.New(300*time.Millisecond, func(q string) { fmt.Printf("%v: %s\n", clock.Elapsed(), q) },
		debounce.WithClock(clock), debounce.LeadingAndTrailing())
	defer search.Stop()
	for _, q := range []string{"g", "go", "gop", "goph"} {
		search.Call(q)
		clock.Advance(100 * time.Millisecond)
	}
	clock.Advance(time.Second)
	search.Call("gopher") // alone: it fires once

	// Output:
	// 0s: g
	// 600ms: goph
	// 1.4s: gopher
}

// An author who never pauses is saved all the same.
func ExampleMaxWait() {
	clock := fakeclock.New()
	saver := debounce.New(time.Second, func(n int) { fmt.Printf("%v: save %d\n", clock.Elapsed(), n) },
		debounce.WithClock(clock), debounce.MaxWait(5*time.Second))
	for n := range 16 {
		saver.Call(n)
		clock.Advance(500 * time.Millisecond)
	}
	clock.Advance(time.Minute)
	saver.Stop()

	// Output:
	// 5s: save 9
	// 8.5s: save 15
}

// Rows are written together: when none has come for a while, or when the oldest has
// waited for a second.
func ExampleBatch() {
	clock := fakeclock.New()
	rows := debounce.NewBatch(100*time.Millisecond, func(rows []int) { fmt.Printf("%v: insert %v\n", clock.Elapsed(), rows) },
		debounce.WithClock(clock), debounce.MaxWait(time.Second))
	for row := range 4 {
		rows.Call(row)
		clock.Advance(90 * time.Millisecond)
	}
	clock.Advance(time.Second)
	rows.Call(4)
	if err := rows.Close(context.Background()); err != nil {
		fmt.Println(err)
	}

	// Output:
	// 370ms: insert [0 1 2 3]
	// 1.36s: insert [4]
}

// Each file is compiled once its own changes have come to rest.
func ExampleKeyed() {
	clock := fakeclock.New()
	compile := debounce.NewKeyed(100*time.Millisecond, func(file string, version int) {
		fmt.Printf("%v: compile %s, version %d\n", clock.Elapsed(), file, version)
	}, debounce.WithClock(clock))
	defer compile.Stop()
	for version, file := range []string{"a.go", "b.go", "a.go"} {
		if err := compile.Call(file, version); err != nil { // only with MaxKeys
			fmt.Println(err)
		}
		clock.Advance(30 * time.Millisecond)
	}
	clock.Advance(time.Second)
	fmt.Println(compile.Len(), "files are under way")

	// Output:
	// 130ms: compile b.go, version 1
	// 160ms: compile a.go, version 2
	// 0 files are under way
}

func ExampleStream() {
	in := make(chan string)
	go func() {
		defer close(in) // what is pending then comes out at once
		for _, q := range []string{"g", "go", "gopher"} {
			in <- q
		}
	}()
	for q := range debounce.Stream(context.Background(), in, time.Hour, nil) {
		fmt.Println(q)
	}

	// Output:
	// gopher
}

func ExampleDebouncer_Close() {
	saver := debounce.New(time.Hour, func(doc string) { fmt.Println("save", doc) })
	saver.Call("draft")
	fmt.Println(saver.Close(context.Background()))
	saver.Call("too late")

	// Output:
	// save draft
	// <nil>
}
