// Package floor stands where an outside user stands who is at the oldest
// supported release, Go 1.24: it imports the module as anybody would and uses each
// part once. See the tests and the README.
package floor
