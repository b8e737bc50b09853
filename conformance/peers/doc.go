// Package peers holds published debouncers and rate limiters, unmodified, to the
// conformance suite. It has no code of its own: see its tests and its README.
package peers
