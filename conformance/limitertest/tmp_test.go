package limitertest_test

import (
	"fmt"
	"testing"

	"github.com/escapement-go/escapement/conformance/internal/inside"
	lt "github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/internal/zoo/limiter"
)

func TestTmp(t *testing.T) {
	for _, d := range limiter.ChosenWaits(24) {
		s := d.Spec.(lt.Spec)
		if s.Traits.Fair == lt.FairNone && s.Traits.Oversize == lt.OversizeWaits {
			fmt.Println(d.Name, s.Traits)
			r := s.Examine(t, inside.Options{})
			for _, v := range r.Verdicts {
				if v.Status != "pass" && v.Status != "skip" {
					fmt.Println(v.Rule, v.Status, v.Reason, v.Text)
				}
			}
		}
	}
}
