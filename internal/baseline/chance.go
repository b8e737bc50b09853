package main

import "regexp"

// chance is what differs from run to run of the same code, and why. Nothing else is taken
// from what is compared.
type chance struct {
	keys  *regexp.Regexp // of the implementations that show it
	rules *regexp.Regexp
	// numbers are replaced by N in reasons and failure texts: all that match the group
	// of this expression.
	numbers *regexp.Regexp
	why     string
}

var chances = []chance{
	{
		keys:    regexp.MustCompile(`\|PackageTime$`),
		rules:   regexp.MustCompile(`^(DB|TH)-`),
		numbers: regexp.MustCompile(`\(in (\d+) of 80 runs\)`),
		why:     "on package time nobody can say whether a step or its timer is first: such schedules are sampled, and the text says how often it was seen",
	},
}

// apply takes what is chance from the verdict on an implementation.
func (c chance) apply(key string, v *verdict) {
	if c.keys.MatchString(key) && c.rules.MatchString(v.Rule) {
		v.Reason, v.Text = c.without(v.Reason), c.without(v.Text)
	}
}

func (c chance) without(text string) string {
	at := c.numbers.FindAllStringSubmatchIndex(text, -1)
	for i := len(at) - 1; i >= 0; i-- {
		text = text[:at[i][2]] + "N" + text[at[i][3]:]
	}
	return text
}
