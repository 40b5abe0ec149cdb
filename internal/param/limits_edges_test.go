package param_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
)

// TestDefaultLimitsAreExact: a document may have as many values and levels as the defaults say.
func TestDefaultLimitsAreExact(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for what, c := range map[string]struct {
		text  string
		read  func(text []byte, into any) error
		bound error
	}{
		"64 levels":     {nested(64), param.Limits{}.Decode, nil},
		"65 levels":     {nested(65), param.Limits{}.Decode, param.ErrTooMuch},
		"100000 values": {"[" + strings.Repeat("1,", 99_999) + "1]", param.Limits{}.Decode, nil},
		"100001 values": {"[" + strings.Repeat("1,", 100_000) + "1]", param.Limits{}.Decode,
			param.ErrTooMuch},
		"256 levels within a document": {nested(256), param.Decode, nil},
		"257 levels within a document": {nested(257), param.Decode, param.ErrTooMuch},
		"2^24 values and one": {"[" + strings.Repeat(",", 1<<24), param.Decode,
			param.ErrTooMuch},
	} {
		var v any
		if err := c.read([]byte(c.text), &v); !errors.Is(err, c.bound) {
			t.Errorf("%s: got %v, want %v", what, err, c.bound)
		}
	}
	if _, err := param.Any([]byte(nested(257))); !errors.Is(err, param.ErrTooMuch) {
		t.Errorf("any value of 257 levels: %v", err)
	}
}

// TestCompleteNamesWhatIsMissing: a text has every field that is written for what it says, and no
// null in place of a value.
func TestCompleteNamesWhatIsMissing(t *testing.T) {
	for _, c := range [][3]string{
		{`{"a":1}`, `{"a":1}`, ""},
		{`{"a":1,"more":2}`, `{"a":1}`, ""},
		{`{"b":1}`, `{"a":0,"b":1,"c":0}`, "it.a"},
		{`{"a":null}`, `{"a":0}`, "it.a"},
		{`{"a":null}`, `{"a":null}`, ""},
		{`{"a":[{"b":1},{"b":2},{}]}`, `{"a":[{"b":1},{"b":2},{"b":0}]}`, "it.a[2].b"},
		{`{"a":[]}`, `{"a":[{"b":0}]}`, ""},
		{`{"a":1}`, `{"a":{"b":0}}`, "it.a.b"},
	} {
		err := param.Complete("it", []byte(c[0]), []byte(c[1]))
		wrong, path := (*param.Error)(nil), ""
		if errors.As(err, &wrong) {
			path = wrong.Path
		}
		if path != c[2] || (err != nil) != (c[2] != "") {
			t.Errorf("%s, written as %s: %v, want %q", c[0], c[1], err, c[2])
		}
	}
	if param.Complete("it", []byte(`{`), []byte(`{}`)) == nil {
		t.Error("half a text is complete")
	}
}

// TestLocate: the place of an error is the first value that reaches its byte.
func TestLocate(t *testing.T) {
	text := []byte(`{"a":1, "b":[true,"x\""],"c":{"d":-2}}`)
	for end, want := range map[int64]struct {
		path string
		at   int64
	}{6: {"a", 5}, 7: {"b", 12}, 13: {"b", 12}, 14: {"b[0]", 13}, 17: {"b[0]", 13}, 18: {"b[1]", 18},
		23: {"b[1]", 18}, 25: {"c", 29}, 36: {"c.d", 34}, 37: {"", 0}, 99: {"", 0}} {
		if path, at := param.Locate(text, end); path != want.path || at != want.at {
			t.Errorf("byte %d is in %q at %d, want %q at %d", end, path, at, want.path, want.at)
		}
	}
}

// TestHeadings: a text is the name of a column if no value is written so, and if a file keeps it.
func TestHeadings(t *testing.T) {
	for text, want := range map[string]bool{"age": true, "_x": true, "Ärzte 1": true, "a/b": true,
		"": false, "1": false, "-a": false, " a": false, "a ": false, "a\u2003": false, "a\tb": false,
		"a\x00": false, "a\u0085b": false, "a\xff": false, "NaN": false, "inf": false,
		"Infinity": false, "NA": false, "n/a": false, "Null": false, "none": false, "NIL": false,
		"missing": false, "unknown": false, "unknowns": true} {
		if param.IsHeading(text) != want {
			t.Errorf("%q is a heading: %v", text, !want)
		}
	}
}

// TestOneLine: what would end a line of a text, or cannot be seen, is quoted.
func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{"": "", `a "b" ε`: `a "b" ε`, "a\nb": `"a\nb"`,
		"a\u2028b": `"a\u2028b"`, "a\u200bb": `"a\u200bb"`, "a\x1b[2K": `"a\x1b[2K"`} {
		if got := param.OneLine(text); got != want {
			t.Errorf("%q becomes %s, want %s", text, got, want)
		}
	}
}

// TestRefusedErrors: a refusal is the error that it wraps, and says so.
func TestRefusedErrors(t *testing.T) {
	cause := errors.New("cause")
	if err := param.Refuse(cause); !errors.Is(err, cause) || !param.IsRefused(err) ||
		err.Error() != "cause" || param.IsRefused(cause) || param.IsRefused(nil) ||
		param.Refuse(nil) != nil {
		t.Errorf("got %v", err)
	}
}

// covering has fields of every kind that encoding/json treats in its own way.
type covering struct {
	*Inner
	hidden
	Pair  [2]Inner         `json:"pair"`
	High  []Inner          `json:"high"` // in place of the one of hidden
	ByKey map[string]Inner `json:"by_key"`
	Left  int              `json:"-"`
	plain int
}

type hidden struct {
	High []struct {
		Top int `json:"top"`
	} `json:"high"`
	Deep int `json:"deep"`
}

// TestKeysOfFields: the keys of a text are those that encoding/json would read, wherever the field
// is declared.
func TestKeysOfFields(t *testing.T) {
	_ = covering{plain: 1}.plain
	for text, want := range map[string]string{
		`{"low":1,"deep":1,"pair":[{"low":1}],"high":[{"low":1}],"by_key":{"-":{"low":1}}}`: "",
		`{"Low":1}`:                    "Low",
		`{"Inner":{}}`:                 "Inner",
		`{"hidden":{}}`:                "hidden",
		`{"pair":[{"low":1},{"l":1}]}`: "pair[1].l",
		`{"high":[{"top":1}]}`:         "high[0].top",
		`{"by_key":{"a":{"top":1}}}`:   "by_key.a.top",
		`{"plain":1}`:                  "plain",
		`{"-":1}`:                      "-",
	} {
		var key *param.KeyError
		if err := param.Decode([]byte(text), new(covering)); errors.As(err, &key) != (want != "") ||
			key != nil && (key.Path != want || key.Duplicate) || key == nil && err != nil {
			t.Errorf("%s: %v, want the unknown key %q", text, err, want)
		}
	}
}
