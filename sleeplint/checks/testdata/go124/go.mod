module example.com/go124

go 1.24.0

require (
	github.com/escapement-go/escapement v0.0.0
	github.com/jonboulle/clockwork v0.5.0
	github.com/onsi/ginkgo/v2 v2.22.0
	github.com/stretchr/testify v1.11.1
)

replace (
	github.com/escapement-go/escapement => ../deps/escapement
	github.com/jonboulle/clockwork => ../deps/clockwork
	github.com/onsi/ginkgo/v2 => ../deps/ginkgo
	github.com/stretchr/testify => ../deps/testify
)
