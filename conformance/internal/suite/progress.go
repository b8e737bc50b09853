package suite

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
)

// progress tells whoever watches how far a run of the suite is. Where ESCAPEMENT_REPORT names
// a folder, a file of this process there holds one line, which is written over again and again.
// A nil progress tells nothing.
type progress struct {
	file           *os.File
	name, contract string
	runs           atomic.Int64 // abandoned runs may count too
}

// often is how many runs pass between two lines.
const often = 256

// newProgress begins to tell of an implementation.
func newProgress(name, contract string) *progress {
	folder := os.Getenv("ESCAPEMENT_REPORT")
	if fi, err := os.Stat(folder); folder == "" || err != nil || !fi.IsDir() {
		return nil
	}
	f, err := os.Create(filepath.Join(folder, strconv.Itoa(os.Getpid())+".progress"))
	if err != nil {
		return nil // it is for convenience only
	}
	p := &progress{file: f, name: name, contract: contract}
	p.write()
	return p
}

// step counts a run.
func (p *progress) step() {
	if p != nil && p.runs.Add(1)%often == 0 {
		p.write()
	}
}

// write writes the line.
func (p *progress) write() {
	line, err := json.Marshal(struct {
		Name     string `json:"name"`
		Contract string `json:"contract"`
		Runs     int64  `json:"runs"`
	}{p.name, p.contract, p.runs.Load()})
	if err == nil {
		_, _ = p.file.WriteAt(append(line, '\n'), 0) // a line before it is never longer
	}
}

// close removes the file.
func (p *progress) close() {
	if p != nil {
		_ = p.file.Close()
		_ = os.Remove(p.file.Name())
	}
}
