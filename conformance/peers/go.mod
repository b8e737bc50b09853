module github.com/escapement-go/escapement/conformance/peers

go 1.24.0

require (
	github.com/bep/debounce v1.2.1
	github.com/escapement-go/escapement v0.0.0
	github.com/samber/lo v1.53.0
	go.uber.org/ratelimit v0.3.1
	golang.org/x/time v0.14.0
)

require (
	github.com/benbjohnson/clock v1.3.0 // indirect
	github.com/jonboulle/clockwork v0.5.0 // indirect
	golang.org/x/text v0.22.0 // indirect
)

replace github.com/escapement-go/escapement => ../..
