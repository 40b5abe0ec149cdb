package synth_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// fill sets everything that a value holds, as deep as it goes, and changes it if it is set.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		fill(v.Elem())
	case reflect.Slice:
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Float64:
		v.SetFloat(v.Float() + 1)
	case reflect.Int:
		v.SetInt(v.Int() + 1)
	case reflect.Uint8: // of an event's text
		v.SetUint(v.Uint() ^ '1')
	case reflect.Uint64:
		v.SetUint(v.Uint() + 1)
	default:
		panic(v.Type().String())
	}
}

// TestGuaranteesAreCopies: no change of anything in a guarantee that was given to a generator, or
// returned by it, changes the generator's own.
func TestGuaranteesAreCopies(t *testing.T) {
	var given ledger.Guarantee
	fill(reflect.ValueOf(&given).Elem())
	given.Relation = 0
	g := synth.NewGenerator("noise", noise{records.Binary(2)}, given)
	text := func() string {
		b := must(json.Marshal(g.Guarantee()))(t)
		return string(b)
	}
	want := text()
	for what, of := range map[string]ledger.Guarantee{"given": given, "returned": g.Guarantee()} {
		fill(reflect.ValueOf(&of).Elem())
		if got := text(); got != want {
			t.Errorf("a change of the guarantee %s is in the generator's:\n%s, want\n%s", what, got, want)
		}
	}
}
