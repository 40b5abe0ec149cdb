package frontdoor_test

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/synth"
)

// unmade returns zero values of plans, and zero values and nil pointers of released types.
func unmade() (list []any) {
	list = append(list, &synth.PassProgram{}, &dpgm.Plan{}, &merf.Plan{}, &gan.Plan{}, &mix.Plan{})
	for _, v := range []any{synth.Program{}, privgen.Generator{}, privgen.Interrupted{},
		dpgm.Model{}, merf.Model{}, gan.Model{}, mix.Model{}, merf.Embedding{}, mechanism.Partial{},
		kmeans.Model{}} {
		t := reflect.TypeOf(v)
		list = append(list, reflect.New(t).Interface(), reflect.Zero(reflect.PointerTo(t)).Interface())
	}
	return list
}

// TestNothingUnmadePanics checks that no method of these values panics, and that
// every verb prints such values.
func TestNothingUnmadePanics(t *testing.T) {
	called := 0
	for _, v := range unmade() {
		value := reflect.ValueOf(v)
		for i := range value.NumMethod() {
			if m := value.Type().Method(i).Name; m == "Format" {
				continue // its arguments come from package fmt
			}
			name := fmt.Sprintf("%T(nil: %v).%s", v, value.IsNil(), value.Type().Method(i).Name)
			called++
			func() {
				defer func() {
					if r := recover(); r != nil {
						t.Errorf("%s panics: %v", name, r)
					}
				}()
				call(value.Method(i))
				_ = fmt.Sprintf("%v %+v %s %q", v, v, v, v)
			}()
		}
	}
	if called < 180 {
		t.Errorf("only %d methods are called", called)
	}
}

// call calls a function with zero values of its argument types.
func call(f reflect.Value) {
	var args []reflect.Value
	for i := range f.Type().NumIn() {
		if f.Type().IsVariadic() && i == f.Type().NumIn()-1 {
			break
		}
		args = append(args, argument(f.Type().In(i)))
	}
	for _, out := range f.Call(args) {
		if out.Kind() == reflect.Func && !out.IsNil() && out.Type().NumIn() == 1 &&
			out.Type().NumOut() == 0 {
			drain(out) // an iterator
		}
	}
}

func argument(t reflect.Type) reflect.Value {
	switch {
	case t == reflect.TypeFor[context.Context]():
		return reflect.ValueOf(context.Background())
	case t == reflect.TypeFor[io.Writer]():
		return reflect.ValueOf(io.Discard)
	case t.Kind() == reflect.Pointer:
		return reflect.New(t.Elem())
	}
	return reflect.Zero(t)
}

// drain runs an iterator up to its first value.
func drain(f reflect.Value) {
	yield := reflect.MakeFunc(f.Type().In(0), func([]reflect.Value) []reflect.Value {
		return []reflect.Value{reflect.ValueOf(false)}
	})
	f.Call([]reflect.Value{yield})
}
