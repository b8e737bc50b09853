package peers

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

// dependencies are what takes part beside this module.
var dependencies = []string{
	"github.com/eapache/go-resiliency/semaphore", "github.com/romdo/go-debounce", "github.com/samber/lo",
	"github.com/zeromicro/go-zero/core/syncx", "golang.org/x/sync/errgroup", "golang.org/x/sync/semaphore",
	"golang.org/x/sync/singleflight",
}

// TestPeers runs the tests of this package with their dependencies rewritten.
func TestPeers(t *testing.T) {
	if interleave.Rewritten("") {
		t.Skip("this is that run")
	}
	args := []string{"run", "github.com/escapement-go/escapement/synctestcompat/interleave/weave", "-v", "-count=1",
		"-run=^TestFound|^TestClean", "-with=" + strings.Join(dependencies, ","), "."}
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "ESCAPEMENT_INTERLEAVE=")
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

// firsts are the interleavings that fail first, on any machine and release.
var firsts = map[string]string{
	"TestFound_goZeroTimeoutLimit": "2.1-dc5b",
	"TestFound_loThrottle":         "1.1-f71a",
	"TestFound_romdoMaxWait":       "4.1-6d24",
	"TestFound_eapacheSemaphore":   "0.1,1.1-ef03",
}

// finds checks that an interleaving fails, and always the same one first.
func finds(t *testing.T, f func(*interleave.T), opts ...interleave.Option) {
	t.Helper()
	r := interleave.Explore(t, f, opts...)
	switch {
	case !r.Rewritten:
		t.Skip("TestPeers runs this test")
	case r.Replay == "":
		t.Errorf("found nothing in %s", r.Summary())
	case r.Replay != t.Name()+":"+firsts[t.Name()]:
		t.Errorf("found another interleaving first, %s:\n%s", r.Replay, r.Failure)
	default:
		t.Logf("%s: %s", r.Summary(), r.Failure)
	}
}
