module github.com/escapement-go/escapement/go1.24

go 1.24.0

require (
	github.com/escapement-go/escapement v0.0.0
	github.com/jonboulle/clockwork v0.5.0
	pgregory.net/rapid v1.3.0
)

replace github.com/escapement-go/escapement => ../
