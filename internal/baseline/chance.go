package main

import "regexp"

// chance is what differs from run to run of the same code, and why. Nothing else is taken
// from what is compared.
type chance struct {
	keys  *regexp.Regexp // of the implementations that show it
	rule  string         // or "explored"
	why   string
	loose func(v *verdict)
}

var chances = []chance{}

func (c chance) apply(key string, v *verdict) {
	if c.rule == v.Rule && c.keys.MatchString(key) {
		c.loose(v)
	}
}

func (c chance) applyExplored(key string, r *result) {}
