package param_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
)

func TestLimits(t *testing.T) {
	l := param.Limits{Depth: 3, Values: 5}
	for text, want := range map[string]error{
		`{"a":[1,2,3]}`:             nil,
		`{"a":[[1]]}`:               nil,
		`{"a":[[[1]]]}`:             param.ErrTooMuch,
		`[1,2,3,4,5]`:               nil,
		`[1,2,3,4,5,6]`:             param.ErrTooMuch,
		`"[[[[[[[,,,,,,,,,,,"`:      nil,
		`{"\"[[[[,,,,,,,,":"\\","b`: nil,
		`]]]]]]`:                    nil,
		``:                          nil,
	} {
		if err := l.Check([]byte(text)); !errors.Is(err, want) {
			t.Errorf("%s: unexpected result %v", text, err)
		}
	}
	if err := (param.Limits{}).Check([]byte(strings.Repeat("[", 65))); !errors.Is(err,
		param.ErrTooMuch) {
		t.Errorf("65 nested lists: %v, want ErrTooMuch", err)
	}
	if err := (param.Limits{}).Check([]byte("[" + strings.Repeat("{},", 60_000))); !errors.Is(err,
		param.ErrTooMuch) {
		t.Errorf("60,000 objects: %v, want ErrTooMuch", err)
	}
}
