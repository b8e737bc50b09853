package suite

import (
	"reflect"
	"testing"
)

// full is a contract with a rule of which each field is set.
type full struct{ bell }

func (full) Rules() []Rule[*bellTraits, *Recording] {
	var r Rule[*bellTraits, *Recording]
	for f := range reflect.TypeOf(r).NumField() {
		switch field := reflect.ValueOf(&r).Elem().Field(f); field.Kind() {
		case reflect.Bool:
			field.SetBool(true)
		case reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
		case reflect.Func:
			field.Set(reflect.MakeFunc(field.Type(), func([]reflect.Value) []reflect.Value { return nil }))
		}
	}
	r.ID = "FULL"
	return []Rule[*bellTraits, *Recording]{r}
}

// The engine's form of a rule has all that the rule has.
func TestTyped(t *testing.T) {
	law := reflect.ValueOf(typed[bellTraits, *Recording]{full{}}.laws()[0]).Elem()
	for f := range law.NumField() {
		if law.Field(f).IsZero() {
			t.Errorf("%s is forgotten", law.Type().Field(f).Name)
		}
	}
}
