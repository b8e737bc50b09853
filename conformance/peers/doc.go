// Package peers runs the conformance suite on published debouncers and rate limiters,
// unmodified. It has no code of its own: see its tests and its README.
package peers
