package clocktest

import (
	"time"

	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/synctestcompat"
)

// ticks tries Tick with periods that it must refuse, and one that ticks twice.
func (c *contract) ticks(p *suite.Probe) (*suite.Violation, string) {
	var broken *suite.Violation // what is abandoned may still write it
	ended := p.PlayToEnd(func(*suite.Stage) {
		f := c.spec.New(Env{Settle: synctestcompat.Wait})
		for _, d := range []time.Duration{0, -1, -time.Hour} {
			var channel <-chan time.Time
			why := suite.Catch(func() { channel = f.Tick(d) })
			if why != "" {
				why = "it panics: " + why
			}
			if why != "" || channel != nil {
				broken = suite.Broken(0, why, "Tick(%s) does not return nil", timeline.Duration(d))
				return
			}
		}
		if broken = c.shortest(); broken != nil {
			return
		}
		start, ticks := f.Now(), f.Tick(time.Second)
		for i := range 3 {
			step := []time.Duration{time.Second, time.Second - 1, 1}[i]
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
				broken = suite.Broken(0, "", "Tick(1s) has sent %s by %s, want %s", got, timeline.Duration(at), want)
				return
			}
		}
	})
	if !ended {
		return nil, ""
	}
	return broken, ""
}

// shortest tries the shortest period, on a clock that is moved no further.
func (c *contract) shortest() *suite.Violation {
	f := c.spec.New(Env{Settle: synctestcompat.Wait})
	ticks := f.Tick(1)
	f.Advance(1)
	synctestcompat.Wait()
	select {
	case <-ticks:
		return nil
	default:
		return suite.Broken(0, "", "Tick(1ns) has sent nothing by 1ns")
	}
}
