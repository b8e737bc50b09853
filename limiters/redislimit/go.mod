module github.com/escapement-go/escapement/limiters/redislimit

go 1.24.0

require (
	github.com/alicebob/miniredis/v2 v2.40.0
	github.com/escapement-go/escapement v0.0.0
	github.com/go-redis/redis_rate/v10 v10.0.1
	github.com/jonboulle/clockwork v0.5.0
	github.com/redis/go-redis/v9 v9.22.0
	github.com/yuin/gopher-lua v1.1.1
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	go.uber.org/atomic v1.11.0 // indirect
	golang.org/x/sys v0.30.0 // indirect
)

replace github.com/escapement-go/escapement => ../..
