package floor

import (
	"flag"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/synctestcompat"
)

var update = flag.Bool("update", false, "write this toolchain's column of the README")

var shown = []string{"TestSuite", "TestProperties", "TestFakeClockInsteadOfSleep", "TestBubbleInsteadOfSleep", "TestRapidInABubble"}

// The README says what runs where: each toolchain holds its own column to what happens.
func TestReadme(t *testing.T) {
	raw, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(raw), "\n")
	first := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "| Go |") })
	if first < 0 {
		t.Fatal("the README has no table")
	}
	release := toolchain()
	for i := first; i < len(lines) && strings.HasPrefix(lines[i], "|"); i++ {
		cells := strings.Split(lines[i], " | ")
		if strings.TrimPrefix(cells[0], "| ") != release {
			continue
		}
		want := []string{"| " + release}
		for _, name := range shown {
			want = append(want, outcome(t, name))
		}
		line := strings.Join(want, " | ") + " |"
		if lines[i] != line && !*update {
			t.Errorf("the README says\n%s\nand what happens is\n%s", lines[i], line)
		}
		lines[i] = line
		if *update {
			if err := os.WriteFile("README.md", []byte(strings.Join(lines, "\n")), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	t.Errorf("the README has no line for Go %s", release)
}

// toolchain is the release, with what makes bubbles on Go 1.24.
func toolchain() string {
	release := regexp.MustCompile(`1\.\d+`).FindString(runtime.Version())
	if release == "1.24" && synctestcompat.Available {
		return release + ", `GOEXPERIMENT=synctest`"
	}
	return release
}

var (
	unbubbled = regexp.MustCompile(`(?m)^=== RUN\s+\w+/(\S+)\n.*: skip: .*bubble`)
	leftOut   = regexp.MustCompile(`left out: [^;]*bubble`)
)

// outcome runs one test in a process of its own and says what it skips for want of bubbles.
func outcome(t *testing.T, name string) string {
	out, err := exec.Command(os.Args[0], "-test.v", "-test.run", "^"+name+"$").CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	if strings.Contains(string(out), "--- SKIP: "+name+" ") {
		return "skipped"
	}
	var without []string
	for _, m := range unbubbled.FindAllStringSubmatch(string(out), -1) {
		without = append(without, m[1])
	}
	if leftOut.Match(out) {
		without = append(without, "some schedules")
	}
	if len(without) > 0 {
		return "runs, without " + strings.Join(without, ", ")
	}
	return "runs"
}
