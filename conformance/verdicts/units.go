package main

import (
	"go/token"
	"go/types"
	"regexp"
	"strings"
)

// unitNames are the ends of names of numbers that are durations.
var unitNames = []struct {
	unit  string
	names *regexp.Regexp
}{
	{"time.Nanosecond", regexp.MustCompile(`(?i)nano(s|sec(ond)?s?)$`)},
	{"time.Microsecond", regexp.MustCompile(`(?i)micro(s|sec(ond)?s?)$`)},
	{"time.Millisecond", regexp.MustCompile(`(?i:milli(s|sec(ond)?s?)|msecs?)$|(^|_)ms$|[a-z]M[sS]$`)},
	{"time.Second", regexp.MustCompile(`(?i)sec(s|onds)?$`)},
	{"time.Minute", regexp.MustCompile(`(?i)(minutes|mins)$`)},
	{"time.Hour", regexp.MustCompile(`(?i)hours$`)},
}

var (
	unitEnds = regexp.MustCompile(`(?i)_?(nano|micro|milli|m)?(s|sec(ond)?s?|minutes|mins|hours)$`)
	unitRate = regexp.MustCompile(`(?i)per_?(nano|micro|milli|m?s|min|h)\w*$`)
)

// unitOf is the unit of a number that is a duration, as its name tells; "" if it does not.
func unitOf(name string) string {
	for _, u := range unitNames {
		if u.names.MatchString(name) && !unitRate.MatchString(name) {
			return u.unit
		}
	}
	return ""
}

// bare is a name without its unit.
func bare(name string) string {
	if unitOf(name) == "" {
		return name
	}
	return unitEnds.ReplaceAllString(name, "")
}

// kindNamed is the kind of a type; a number that a name gives a unit is a duration.
func kindNamed(name string, t types.Type) kind {
	k := kindOf(t)
	if (k == count || k == perSec) && unitOf(name) != "" {
		return duration
	}
	return k
}

// span is time.Duration.
var span = types.NewNamed(types.NewTypeName(token.NoPos, types.NewPackage("time", "time"), "Duration", nil),
	types.Typ[types.Int64], nil)

// typeNamed is a type, or time.Duration for a number that its name makes one.
func typeNamed(name string, t types.Type) types.Type {
	if kindNamed(name, t) == duration {
		return span
	}
	return t
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
	whole := expr + " / " + unit
	if fraction := expr + "%" + unit; strings.Contains(expr, "cfg.") || expr == "period" {
		a.refuse(fraction+" != 0", "it has whole "+strings.ToLower(strings.TrimPrefix(unit, "time."))+"s only")
		if condition := a.misfit(t, whole); condition != "" {
			a.refuse(condition, "out of range")
		}
	}
	return types.TypeString(t, a.qualifier) + "(" + whole + ")"
}
