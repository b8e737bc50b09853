// Package peers has nothing but tests: interleave finds what is known of published libraries, on their own
// source, and accuses none that is right.
package peers
