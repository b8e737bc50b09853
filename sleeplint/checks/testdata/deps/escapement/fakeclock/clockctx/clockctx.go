// Package clockctx has the part of the real one that the tests call.
package clockctx
