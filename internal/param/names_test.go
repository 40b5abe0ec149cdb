package param

import (
	"errors"
	"strings"
	"testing"
)

type color int

var names = Names[color]{"paint.Color", []string{"", "red", "green", "blue"}}

func TestNamesComeBack(t *testing.T) {
	for c := color(0); names.Known(c); c++ {
		text, err := names.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		back := color(99)
		if err := names.Unmarshal(text, &back); err != nil || back != c ||
			names.String(c) != string(text) {
			t.Errorf("%d is written as %q and read as %d: %v", c, text, back, err)
		}
	}
}

func TestUnknownValuesAreRefused(t *testing.T) {
	for _, c := range []color{-1, 4} {
		var wrong *Error
		if text, err := names.Marshal(c); !errors.As(err, &wrong) || names.Known(c) {
			t.Errorf("%d is written as %q, %v, want an error", c, text, err)
		}
	}
	if s := names.String(4); s != "Color(4)" {
		t.Errorf("4 prints as %q, want Color(4)", s)
	}
	for _, text := range []string{"Red", "Color(4)", "red ", strings.Repeat("x", 1000)} {
		c := color(2)
		var wrong *Error
		err := names.Unmarshal([]byte(text), &c)
		if !errors.As(err, &wrong) || wrong.Path != "paint.Color" ||
			wrong.Want != "red, green or blue" || c != 2 {
			t.Errorf("%q: error %v and value %d, want a *Error and 2", text, err, c)
		}
		if len(err.Error()) > 200 {
			t.Errorf("the error has %d bytes, want at most 200", len(err.Error()))
		}
	}
}
