module github.com/escapement-go/escapement/conformance/peers/recent

go 1.26.0

require (
	code.cloudfoundry.org/clock v1.60.0
	github.com/didip/tollbooth/v7 v7.0.2
	github.com/escapement-go/escapement v0.0.0
	github.com/ethereum/go-ethereum v1.17.10
	github.com/graph-gophers/dataloader/v7 v7.1.0
	github.com/jonboulle/clockwork v0.5.0
	github.com/lightningnetwork/lnd/clock v1.1.1
	github.com/vikstrous/dataloadgen v0.0.10
	go.temporal.io/server v1.30.8
	google.golang.org/api v0.296.0
	k8s.io/client-go v0.37.2
	storj.io/common v0.0.0-20240812101423-26b53789c348
)

require (
	github.com/calebcase/tmpfile v1.0.3 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/fatih/color v1.18.0 // indirect
	github.com/go-pkgz/expirable-cache/v3 v3.0.0 // indirect
	github.com/klauspost/cpuid/v2 v2.3.0 // indirect
	github.com/mattn/go-colorable v0.1.14 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	github.com/spacemonkeygo/monkit/v3 v3.0.22 // indirect
	github.com/spaolacci/murmur3 v1.1.0 // indirect
	github.com/zeebo/errs v1.3.0 // indirect
	github.com/zeebo/xxh3 v1.0.2 // indirect
	go.opentelemetry.io/otel v1.46.0 // indirect
	go.opentelemetry.io/otel/trace v1.46.0 // indirect
	go.uber.org/automaxprocs v1.6.0 // indirect
	go.uber.org/mock v0.6.0 // indirect
	go.uber.org/multierr v1.11.0 // indirect
	golang.org/x/exp v0.0.0-20250620022241-b7579e27df2b // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
	storj.io/drpc v0.0.35-0.20240709171858-0075ac871661 // indirect
)

require (
	github.com/cockroachdb/tokenbucket v0.0.0-20250429170803-42689b6311bb
	github.com/go-chi/httprate v0.16.1
	github.com/jmhodges/clock v1.2.0
	github.com/sourcegraph/conc v0.3.0
	github.com/zeromicro/go-zero v1.10.3
	golang.org/x/net v0.62.0
	golang.org/x/sync v0.24.0
	golang.org/x/time v0.15.0
	k8s.io/utils v0.0.0-20260626114624-be93311217bd // indirect
)

replace github.com/escapement-go/escapement => ../../..
