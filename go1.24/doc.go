// Package floor is an outside user on the oldest supported release, Go 1.24: it imports
// the module as any user would, and uses each part once. See the tests and the README.
package floor
