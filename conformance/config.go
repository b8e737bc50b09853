package conformance

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/escapement-go/escapement/internal/timeline"
)

// Config is how the implementation of a schedule is made, and how its callback
// behaves. Each contract reads the fields that it knows.
type Config struct {
	// Wait and MaxWait are a debouncer's quiet period and its bound.
	Wait, MaxWait time.Duration
	// Edges says on which edges a debouncer or throttle fires; zero is Trailing.
	Edges Edges
	// Interval is the interval of a throttle or leaky bucket, K the number of events
	// that a throttle lets pass in one, or that fill a debouncer's burst.
	Interval time.Duration
	K        int
	// Rate and Burst are those of a limiter.
	Rate  Rate
	Burst int
	// Limit, Backlog and Timeout are those of a concurrency limiter; a leaky bucket
	// has a Backlog too.
	Limit, Backlog int
	Timeout        time.Duration
	// Size is the most items that a batch has, Delay the age at which it is handed over.
	Size  int
	Delay time.Duration

	// Busy is how long each callback runs, on the clock under test, or with BusyRuns only
	// the first of them; the others then take no time.
	Busy     time.Duration
	BusyRuns int
	// Inside is an operation that is done once by the first callback, or callback number
	// InsideRun, just before it returns. If callbacks take time, every callback does it, unless
	// it is an event, which only the first brings.
	Inside    Op
	InsideRun int
	// Panics is the number of the callback that panics, counted from 1.
	Panics int
	// Epoch is the instant at which the schedule starts; zero means 2040-01-01
	// 00:00:00 UTC, unless the text says "epoch=".
	Epoch time.Time

	set []string // the keys given, in the order of configKeys
}

// configKey reads and writes one field of Config.
type configKey struct {
	name string
	get  func(c *Config) string
	put  func(c *Config, s string) error
}

// configKeys are the keys in the order in which they are printed.
var configKeys = []configKey{
	durationKey("wait", func(c *Config) *time.Duration { return &c.Wait }),
	durationKey("maxwait", func(c *Config) *time.Duration { return &c.MaxWait }),
	durationKey("interval", func(c *Config) *time.Duration { return &c.Interval }),
	intKey("k", func(c *Config) *int { return &c.K }),
	keyOf("edges", func(c *Config) *Edges { return &c.Edges }, Edges.String, parseEdges),
	keyOf("rate", func(c *Config) *Rate { return &c.Rate }, Rate.String, parseRate),
	intKey("burst", func(c *Config) *int { return &c.Burst }),
	intKey("limit", func(c *Config) *int { return &c.Limit }),
	intKey("backlog", func(c *Config) *int { return &c.Backlog }),
	durationKey("timeout", func(c *Config) *time.Duration { return &c.Timeout }),
	intKey("size", func(c *Config) *int { return &c.Size }),
	durationKey("delay", func(c *Config) *time.Duration { return &c.Delay }),
	durationKey("busy", func(c *Config) *time.Duration { return &c.Busy }),
	intKey("busyruns", func(c *Config) *int { return &c.BusyRuns }),
	keyOf("inside", func(c *Config) *Op { return &c.Inside }, func(op Op) string { return string(op) }, parseInside),
	intKey("insiderun", func(c *Config) *int { return &c.InsideRun }),
	intKey("panics", func(c *Config) *int { return &c.Panics }),
	keyOf("epoch", func(c *Config) *time.Time { return &c.Epoch }, formatEpoch, parseEpoch),
}

// keyOf is the key of a field that is formatted and parsed by these functions.
func keyOf[T any](
	name string, field func(c *Config) *T, format func(T) string, parse func(s string) (T, error),
) configKey {
	put := func(c *Config, s string) (err error) {
		*field(c), err = parse(s)
		return err
	}
	return configKey{name, func(c *Config) string { return format(*field(c)) }, put}
}

func durationKey(name string, field func(c *Config) *time.Duration) configKey {
	return keyOf(name, field, timeline.Duration, parseDuration)
}

func intKey(name string, field func(c *Config) *int) configKey {
	return keyOf(name, field, strconv.Itoa, func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil {
			return 0, fmt.Errorf("%s=%q: want a number", name, s)
		}
		return n, nil
	})
}

func parseInside(s string) (Op, error) {
	if op := Op(s); op.Written() && op != idle {
		return op, nil
	}
	return "", fmt.Errorf("inside=%q: unknown operation", s)
}

func formatEpoch(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func parseEpoch(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("epoch=%q: want a time as in 2000-01-01T00:00:00Z", s)
	}
	return t.UTC(), nil
}

// With returns the configuration with one key set from its text form, as in
// With("wait", "100ms"). It panics on a key or value that [ParseSchedule] would
// refuse.
func (c Config) With(key, value string) Config {
	if err := c.put(key, value); err != nil {
		panic("conformance: Config.With: " + err.Error())
	}
	return c
}

func (c *Config) put(key, value string) error {
	i := place(key)
	if i < 0 {
		return fmt.Errorf("unknown key %q", key)
	}
	if c.Has(key) {
		return fmt.Errorf("key %q is given twice", key)
	}
	at, _ := slices.BinarySearchFunc(c.set, i, func(key string, i int) int { return place(key) - i })
	c.set = slices.Insert(slices.Clone(c.set), at, key)
	return configKeys[i].put(c, value)
}

// place is that of a key in configKeys, negative if there is no such key.
func place(key string) int {
	return slices.IndexFunc(configKeys, func(k configKey) bool { return k.name == key })
}

// Has reports whether a key was given.
func (c Config) Has(key string) bool { return slices.Contains(c.set, key) }

// String returns the text form: the keys that were given, separated by spaces.
func (c Config) String() string { return string(c.append(nil)) }

func (c *Config) append(b []byte) []byte {
	for i := range configKeys {
		if k := &configKeys[i]; slices.Contains(c.set, k.name) {
			if len(b) > 0 {
				b = append(b, ' ')
			}
			b = append(append(append(b, k.name...), '='), k.get(c)...)
		}
	}
	return b
}

// Start is the instant at which the schedule begins.
func (c Config) Start() time.Time {
	if c.Has("epoch") {
		return c.Epoch
	}
	return usualStart
}

var usualStart = time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)

// Without returns the configuration without one key.
func (c Config) Without(key string) Config {
	var out Config
	for _, k := range configKeys {
		if k.name != key && c.Has(k.name) {
			out = out.With(k.name, k.get(&c))
		}
	}
	return out
}

// Only reports whether no other keys are given than these.
func (c Config) Only(keys ...string) bool {
	return !slices.ContainsFunc(c.set, func(key string) bool { return !slices.Contains(keys, key) })
}

// Given returns how many keys were given.
func (c Config) Given() int { return len(c.set) }

// Edges says on which edges of a burst a debouncer or throttle fires.
type Edges int

// The edges. The zero value is undeclared.
const (
	Trailing Edges = 1 << iota
	Leading
	NoEdges // neither: where an option can switch off both

	LeadingAndTrailing = Leading | Trailing
)

// String returns "trailing", "leading", "both" or "none".
func (e Edges) String() string {
	return cmp.Or(edgeNames[e], "undeclared")
}

var edgeNames = map[Edges]string{
	Trailing: "trailing", Leading: "leading", LeadingAndTrailing: "both", NoEdges: "none",
}

func parseEdges(s string) (Edges, error) {
	for e, name := range edgeNames {
		if name == s {
			return e, nil
		}
	}
	return 0, fmt.Errorf("edges=%q: want trailing, leading, both or none", s)
}
