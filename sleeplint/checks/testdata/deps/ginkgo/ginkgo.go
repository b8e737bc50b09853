// Package ginkgo has the part of the real one that the tests call.
package ginkgo

func Describe(text string, args ...any) bool { return true }
func BeforeEach(args ...any) bool            { return true }
func It(text string, args ...any) bool       { return true }
