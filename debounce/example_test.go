package debounce_test

import (
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
	saver.Flush() // do not wait for the last one

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
