// Package peers has only tests: interleave finds known bugs of published libraries, on their own source,
// and reports none in correct ones.
package peers
