module github.com/escapement-go/escapement/conformance/peers

go 1.24.0

require (
	github.com/RussellLuo/slidingwindow v0.0.0-20200528002341-535bb99d338b
	github.com/benbjohnson/clock v1.3.5
	github.com/bep/debounce v1.2.1
	github.com/coder/quartz v0.3.1
	github.com/eapache/go-resiliency v1.7.0
	github.com/escapement-go/escapement v0.0.0
	github.com/failsafe-go/failsafe-go v0.9.8
	github.com/go-chi/chi/v5 v5.5.0
	github.com/jonboulle/clockwork v0.5.0
	github.com/juju/clock v1.1.1
	github.com/juju/ratelimit v1.0.2
	github.com/romdo/go-debounce v0.1.0
	github.com/samber/lo v1.53.0
	github.com/sethvargo/go-limiter v0.7.1
	github.com/throttled/throttled/v2 v2.15.0
	github.com/tilinna/clock v1.1.0
	github.com/ulule/limiter/v3 v3.11.2
	github.com/zoobz-io/clockz v1.0.2
	go.uber.org/ratelimit v0.3.1
	golang.org/x/sync v0.19.0
	golang.org/x/time v0.14.0
	k8s.io/utils v0.0.0-20260319190234-28399d86e0b5
)

require (
	github.com/bits-and-blooms/bitset v1.24.4 // indirect
	github.com/hashicorp/golang-lru v0.5.4 // indirect
	github.com/juju/errors v0.0.0-20220203013757-bd733f3c86b9 // indirect
	github.com/juju/loggo v0.0.0-20210728185423-eebad3a902c4 // indirect
	github.com/pkg/errors v0.9.1 // indirect
	golang.org/x/text v0.22.0 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)

replace github.com/escapement-go/escapement => ../..
