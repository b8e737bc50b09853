module github.com/escapement-go/escapement/conformance/peers/recent

go 1.26.0

require (
	code.cloudfoundry.org/clock v1.60.0
	github.com/escapement-go/escapement v0.0.0
	github.com/ethereum/go-ethereum v1.17.10
	github.com/jonboulle/clockwork v0.5.0
	k8s.io/client-go v0.37.2
)

require (
	golang.org/x/time v0.15.0 // indirect
	k8s.io/utils v0.0.0-20260626114624-be93311217bd // indirect
)

replace github.com/escapement-go/escapement => ../../..
