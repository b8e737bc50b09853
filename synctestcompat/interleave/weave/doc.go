// Weave runs go test with packages rewritten for package interleave, so that it can explore their interleavings.
//
//	go run github.com/escapement-go/escapement/synctestcompat/interleave/weave [-with path]... [flags of go test] [packages]
//
// With a tool line for it in go.mod, it is go tool weave.
//
// It rewrites the packages of the main module, or of all modules of a workspace, that the tests need, with
// their tests. -with path adds a package of a dependency and those below it; several are separated by commas.
// The rewritten files are kept in the user's cache, addressed by content, and passed to the go command by
// -overlay: nothing in the module changes, stack traces and coverage show the source's lines, and test
// results are cached. As an overlay cannot change the module cache, a dependency is copied, and replaced by
// -modfile or, in a workspace, by another go.work. Vendored packages are rewritten in place.
//
// Files that import C are not rewritten, and are reported; nor are packages of std. A package that passes a
// lock, a timer or a ticker to one that is not rewritten does not compile, as the types differ: name the
// other with -with. Run only tests that explore: others work, but their allocations and times are not those
// of the source. Vet is off, unless requested.
package main
