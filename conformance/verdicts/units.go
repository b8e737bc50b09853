package main

import (
	"go/types"
	"regexp"
	"strings"
)

// Names of numbers that are durations end in their unit; a rate has one too.
var (
	unitEnd = regexp.MustCompile(`_?(?i:(nano|micro|milli)(?:s|secs?|seconds?)|(sec)(?:s|onds)?|(min)(?:ute)?s|` +
		`(hour)s)$|_?[mM]secs?$|M[sS]$|^ms$|_ms$`)
	unitRate = regexp.MustCompile(`(?i)per_?(nano|micro|milli|m?s|min|h)\w*$`)
	unitsOf  = map[string]string{
		"nano": "time.Nanosecond", "micro": "time.Microsecond", "milli": "time.Millisecond", "": "time.Millisecond",
		"sec": "time.Second", "min": "time.Minute", "hour": "time.Hour",
	}
)

// unitOf is the unit of a number that is a duration, as its name tells; "" if it does not.
func unitOf(name string) string {
	found := unitEnd.FindStringSubmatch(name)
	if found == nil || unitRate.MatchString(name) {
		return ""
	}
	return unitsOf[strings.ToLower(strings.Join(found[1:], ""))]
}

// kindNamed is the kind of a type; a number that a name gives a unit is a duration.
func kindNamed(name string, t types.Type) kind {
	k := kindOf(t)
	if (k == count || k == perSec) && unitOf(name) != "" {
		return duration
	}
	return k
}

// inUnits is a duration as a type: a number has the unit that its name says, and what is no whole one is refused.
func (a *adapter) inUnits(name string, t types.Type, expr string) string {
	k, unit := kindOf(t), unitOf(name)
	if k != count && k != perSec || unit == "" {
		return a.converted(t, expr)
	}
	a.use("time", "time")
	if strings.Contains(expr, " ") {
		expr = "(" + expr + ")"
	}
	if k == perSec {
		return a.fraction(t, expr) + " / " + a.fraction(t, unit)
	}
	if strings.Contains(expr, "cfg.") || expr == "period" {
		said := strings.ToLower(strings.TrimPrefix(unit, "time."))
		a.refuse(expr+"%"+unit+" != 0", "it has whole "+said+"s only")
		if condition := a.misfit(t, expr+" / "+unit); condition != "" {
			a.refuse(condition, "out of range")
		}
	}
	return types.TypeString(t, a.qualifier) + "(" + expr + " / " + unit + ")"
}
