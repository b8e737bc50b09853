// Weave runs go test with packages rewritten for package interleave, so that it can explore their interleavings.
//
//	go run github.com/escapement-go/escapement/synctestcompat/interleave/weave [-with path]... [flags of go test] [packages]
//
// With a tool line for it in go.mod, it is go tool weave.
//
// It rewrites the packages of the main module, or of all modules of a workspace, that the tests need, with
// their tests. -with path adds a package of a dependency and those below it; several are separated by commas.
// The rewritten files are kept in the user's cache, in places that follow from their content, and handed to
// the go command by -overlay: nothing in the module changes, lines in stack traces and coverage are those of
// the source, and results of tests are cached. As an overlay may not change the module cache, a dependency is
// copied, and replaced by -modfile or, in a workspace, by a go.work of its own. Vendored packages are
// rewritten where they are.
//
// Files that import C stay as they are, which is said. So do packages of std. A package that hands a lock, a
// timer or a ticker to one that is not rewritten does not compile, as those are then different types: name
// that one with -with. Run only tests that explore: others run as ever, but what they measure, such as
// allocations and time, is not what was written. Vet is off, unless asked for.
package main
