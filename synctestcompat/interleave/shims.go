package interleave

// What rewritten packages import must be there where dependencies are vendored.
import (
	_ "github.com/escapement-go/escapement/synctestcompat/interleave/shim/context"
	_ "github.com/escapement-go/escapement/synctestcompat/interleave/shim/point"
	_ "github.com/escapement-go/escapement/synctestcompat/interleave/shim/sync"
	_ "github.com/escapement-go/escapement/synctestcompat/interleave/shim/sync/atomic"
	_ "github.com/escapement-go/escapement/synctestcompat/interleave/shim/time"
)
