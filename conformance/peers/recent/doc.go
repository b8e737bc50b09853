// Package recent runs the conformance suite on published libraries that package peers cannot
// require: they need a newer Go than its module, or would change the versions of others. It
// runs on the local release only and has no code of its own.
package recent
