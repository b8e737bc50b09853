package main

import (
	"reflect"
	"strconv"
	"strings"
	"unicode"
)

// printable is a text of which a terminal shows each character as such: control characters, those of escape sequences
// among them, and characters that turn the direction are written as in a Go literal. Lines stay lines.
func printable(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
	}
	return b.String()
}

// printableName is a printable text of one line.
func printableName(text string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(printable(text))
}

// makePrintable makes all that a report says printable, and its names lines.
func (r *report) makePrintable() {
	r.said = r.String()
	printableIn(reflect.ValueOf(&r.Report).Elem())
	r.Name = printableName(r.Name)
}

// printableIn makes the texts in a value printable.
func printableIn(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(printable(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			printableIn(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			printableIn(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			printableIn(v.Field(i))
		}
	}
}
