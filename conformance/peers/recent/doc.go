// Package recent holds published libraries to the conformance suite that package peers cannot
// have: they need a newer Go than its module, or would move the versions of its others. It
// is run on the local release alone and has no code of its own.
package recent
