// Sleeplint reports tests that wait by sleeping, and mistakes in tests that do not.
//
//	sleeplint ./...                                  # reports
//	sleeplint -fix -diff ./...                       # what it would change
//	go vet -vettool=$(command -v sleeplint) ./...    # the same under go vet
//
// See package checks for what it reports, and the README beside this file.
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/escapement-go/escapement/sleeplint/checks"
)

func main() { multichecker.Main(checks.All()...) }
