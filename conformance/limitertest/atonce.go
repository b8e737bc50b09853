package limitertest

import (
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// effects use up a bucket, do what lets another request in, and make one.
func (c *contract) effects(p *suite.Probe) (out []suite.Script) {
	if !p.Accepts(opRequest) {
		return nil
	}
	add := func(text string, do func(f *Funcs, cfg Config, pause func())) {
		out = append(out, suite.Script{Text: text, Play: func(st *suite.Stage, pause func()) (answers []string) {
			f, cfg, refused := c.first(st.Plain(), 10, 1)
			if refused != "" {
				return nil
			}
			for range cfg.Burst {
				f.allows(time.Time{}, 0)
			}
			st.Settle()
			do(&f, cfg, pause)
			pause()
			if answers = []string{suite.YesNo(f.allows(time.Time{}, 0))}; p.Accepts(opGiveUp) {
				answers = append(answers, timeline.Duration(f.reserve(time.Time{}, 1).delay(time.Time{}, false)))
			}
			f.end()
			return answers
		}})
	}
	if p.Accepts(opGiveUp) {
		add("a reservation, its cancel and a request", func(f *Funcs, _ Config, pause func()) {
			r := f.reserve(time.Time{}, 1)
			pause()
			r.cancel(time.Time{}, false)
		})
	}
	if p.Accepts(verb.SetBurst) {
		add("a larger burst and a request", func(f *Funcs, cfg Config, _ func()) {
			f.do(conformance.Step{Op: verb.SetBurst, N: cfg.Burst + 2}, time.Time{}, 0, new(conformance.Done))
		})
	}
	return out
}
