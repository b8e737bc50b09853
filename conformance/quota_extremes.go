package conformance

import (
	"fmt"
	"math"
	"math/big"
	"time"
)

// oddQuotas are limits, bursts and windows that make no sense, or that few can count with:
// an interval of GCRA that is rounded to nothing, or of which a burst is longer than any
// duration, and windows of a nanosecond.
func oddQuotas(c *contract) []Schedule {
	var out []Schedule
	add := func(rate string, bursts ...string) {
		for _, burst := range bursts {
			each := Config{}.With("rate", rate)
			if c.quo.Kind == GCRA {
				each = each.With("burst", burst)
			}
			out = append(out, sequences(each, c.able([]Step{{Op: OpAllow, N: 1}, {Op: OpTokens}}), []time.Duration{0, 1}, 3)...)
			row := Schedule{Config: each}
			for range 5 {
				row.Steps = append(row.Steps, Step{Op: OpAllow, N: 1})
			}
			out = append(out, row)
		}
	}
	if c.quo.Kind == GCRA {
		add("10/1s", "0", "-1", "2147483647")
		add("2000000000/1s", "1", "3")
		add("1500000000/1s", "1", "3")
		add("1/2562047h47m16.854775807s", "3")
		add("1/1281023h53m38.427387904s", "4")
		return out
	}
	add("0/1s", "")
	if c.quo.Traits.Grain == 0 {
		add("1/1ns", "")
	}
	return out
}

// oddQuota reports whether a limiter of that configuration may be refused, and if it is
// not need only keep its envelope.
func (c *contract) oddQuota(cfg Config) bool {
	per, events := cfg.Rate.Per, time.Duration(cfg.Rate.Events)
	if c.quo.Kind == GCRA {
		return events < 1 || cfg.Burst < 1 || cfg.Burst >= 1<<30 || per < events || per/events > math.MaxInt64/8/time.Duration(cfg.Burst)
	}
	return events < 1 || per < 2 || per > math.MaxInt64/8
}

// quoConfig judges configurations that make no sense. Who takes a limit of 0 for none may
// have said so.
func (x *exam) quoConfig() *violation {
	cfg := x.Schedule.Config
	if !x.c.oddQuota(cfg) || x.Refused != "" || x.Stuck {
		return nil
	}
	for i, d := range x.Done {
		if d.Panic != "" {
			return x.reply(d.At, "the constructor had accepted it", "%s panicked: %s", d.Step, d.Panic)
		}
		sum := 0
		for _, o := range x.Done[i:] {
			if o.Op != OpAllow || !o.OK || !d.OK || cfg.Rate.Events == 0 {
				continue
			}
			most := big.NewInt(int64(2 * cfg.Rate.Events)) // as FW-2N has it
			if x.c.quo.Kind == GCRA {
				most.Mul(big.NewInt(int64(cfg.Rate.Events)), big.NewInt(int64(o.At-d.At)))
				most.Div(most, big.NewInt(int64(cfg.Rate.Per)))
				most.Add(most, big.NewInt(int64(max(1, cfg.Burst)))) // some take no burst for one of 1
			} else if o.At-d.At >= cfg.Rate.Per {
				continue
			}
			if sum += o.N; big.NewInt(int64(sum)).Cmp(most) > 0 {
				return x.reply(o.At, fmt.Sprintf("the constructor had accepted %s, which is no more than %s there", cfg, most),
					"%d were granted from %s to %s, want %s at the most", sum, duration(d.At), duration(o.At), most)
			}
		}
	}
	return nil
}
