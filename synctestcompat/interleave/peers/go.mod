module github.com/escapement-go/escapement/synctestcompat/interleave/peers

go 1.24.0

require (
	github.com/eapache/go-resiliency v1.7.0
	github.com/escapement-go/escapement v0.0.0
	github.com/romdo/go-debounce v0.1.0
	github.com/samber/lo v1.53.0
	github.com/zeromicro/go-zero v1.9.4
	golang.org/x/sync v0.19.0
)

require (
	github.com/jonboulle/clockwork v0.5.0 // indirect
	golang.org/x/text v0.22.0 // indirect
)

replace github.com/escapement-go/escapement => ../../..
