//go:build never

package syntax

func init() { undefined() }
