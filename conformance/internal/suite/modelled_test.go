package suite_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance/internal/model"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// A run that a model cannot judge fails its test, and not the process.
func TestModelled_cannotJudge(t *testing.T) {
	const child = "ESCAPEMENT_TEST_UNJUDGED"
	if os.Getenv(child) != "" {
		nowhere := model.Model[int, int, int]{
			Init:  func(_ *int, w *model.Ways[int]) { w.To(0) },
			Due:   func(int) (at time.Duration, ok bool) { return 0, false },
			Step:  func(int, model.Event, *model.Ways[int]) {},
			Key:   func(s int) int { return s },
			Words: func(int) string { return "" },
		}
		trace := func() (*int, []model.Event) { return new(int), []model.Event{{Kind: model.Settled}} }
		suite.Modelled(&suite.Suite{T: t}, suite.Job{}, nowhere, trace, nil)()
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "cannot be judged: the model has no way on") ||
		strings.Contains(string(out), "panic") {
		t.Errorf("ended with %v:\n%s", err, out)
	}
}
