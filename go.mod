module github.com/escapement-go/escapement

go 1.24.0

require (
	github.com/jonboulle/clockwork v0.5.0
	pgregory.net/rapid v1.3.0
)
