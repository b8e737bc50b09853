package clocktest

import (
	"time"

	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/synctestcompat"
)

// toEnd makes a probe of what judges a clock in a run, and finds nothing if the run makes no progress.
func toEnd(judge func(st *suite.Stage) *suite.Violation) func(p *suite.Probe) (*suite.Violation, string) {
	return func(p *suite.Probe) (*suite.Violation, string) {
		var broken *suite.Violation
		if ended := p.PlayToEnd(func(st *suite.Stage) { broken = judge(st) }); !ended {
			return nil, "" // what is abandoned may still write broken
		}
		return broken, ""
	}
}

// ticks tries Tick with periods that it must refuse, and one that ticks twice.
func (c *contract) ticks(*suite.Stage) *suite.Violation {
	f := c.spec.New(Env{Settle: synctestcompat.Wait})
	for _, d := range []time.Duration{0, -1, -time.Hour} {
		var channel <-chan time.Time
		why := suite.Catch(func() { channel = f.Tick(d) })
		if why != "" || channel != nil {
			because := suite.If(why != "", "it panics: "+why)
			return suite.Broken(0, because, "Tick(%s) does not return nil", timeline.Duration(d))
		}
	}
	if broken := c.shortest(); broken != nil {
		return broken
	}
	start, ticks := f.Now(), f.Tick(time.Second)
	for _, step := range []time.Duration{time.Second, time.Second - 1, 1} {
		f.Advance(step)
		synctestcompat.Wait()
		at, want, got := f.Now().Sub(start), "nothing", "nothing"
		if at%time.Second == 0 {
			want = timeline.Duration(at)
		}
		select {
		case v := <-ticks:
			got = timeline.Duration(v.Sub(start))
		default:
		}
		if got != want {
			return suite.Broken(0, "", "Tick(1s) has sent %s by %s, want %s", got, timeline.Duration(at), want)
		}
	}
	return nil
}

// shortest tries the shortest period, on a clock that is moved no further.
func (c *contract) shortest() *suite.Violation {
	f := c.spec.New(Env{Settle: synctestcompat.Wait})
	ticks := f.Tick(1)
	f.Advance(1)
	synctestcompat.Wait()
	if received(ticks) {
		return nil
	}
	return suite.Broken(0, "", "Tick(1ns) has sent nothing by 1ns")
}
