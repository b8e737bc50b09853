package edge

import "github.com/escapement-go/escapement/conformance/internal/suite"

// Choice completes a choice by its trait, and by its values, each followed by what it means.
func Choice[T ~int](trait *T, c suite.Choice, values ...string) suite.Choice {
	c.Declared, c.Set = int(*trait), func(v int) { *trait = T(v) }
	for i := 0; i < len(values); i += 2 {
		c.Values, c.Means = append(c.Values, values[i]), append(c.Means, values[i+1])
	}
	return c
}

// Said is what New was built with and did not show, by choice.
type Said map[string]string

// Note notes that of a choice, and returns that nothing was observed.
func (s *Said) Note(choice, said string) int {
	if *s == nil {
		*s = Said{}
	}
	(*s)[choice] = said
	return 0
}

// Of returns what was noted about a choice.
func (s *Said) Of(choice string) func() string { return func() string { return (*s)[choice] } }
