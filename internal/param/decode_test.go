package param_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
)

type Inner struct {
	Low float64 `json:"low"`
}

type outer struct {
	Inner
	Kind  string           `json:"kind,omitempty"`
	Parts []Inner          `json:"parts"`
	ByKey map[string]Inner `json:"by_key"`
	Raw   json.RawMessage  `json:"raw"`
	Seed  uint64           `json:"seed,string"`
	Own   *reads           `json:"own"`
	Plain int
	Left  int `json:"-"`
}

// reads is a type that reads itself.
type reads struct{ low Inner }

func (r *reads) UnmarshalJSON(text []byte) error { return param.Decode(text, &r.low) }

func TestKeys(t *testing.T) {
	for text, want := range map[string]string{
		`{"low":1,"kind":"k","parts":[{"low":1},{}],"by_key":{"a":{"low":2},"A":{}},"Plain":1}`: "",
		` { "raw" : {"x":[{"y":1}]} , "seed":"7", "own":{"low":1} } `:                           "",
		`{"kin\u0064":"k"}`:                        "",
		`null`:                                     "",
		`{"kind":"a","kind":"b"}`:                  "twice kind 12",
		`{"kind":"a","kin\u0064":"b"}`:             "twice kind 12",
		`{"low":1,"parts":[],"low":2}`:             "twice low 20",
		`{"Kind":"a"}`:                             "unknown Kind 1",
		"{\"\u212aind\":\"a\"}":                    "unknown \u212aind 1",
		`{"plain":1}`:                              "unknown plain 1",
		`{"Left":1}`:                               "unknown Left 1",
		`{"Inner":{}}`:                             "unknown Inner 1",
		`{"parts":[{},{"low":1,"LOW":2}]}`:         "unknown parts[1].LOW 22",
		`{"by_key":{"a":{"low":1,"low":2}}}`:       "twice by_key.a.low 24",
		`{"by_key":{"a":{},"a":{}}}`:               "twice by_key.a 18",
		`{"raw":{"x":[{"y":1,"y":2}]}}`:            "twice raw.x[0].y 20",
		`{"own":{"low":1,"Low":2}}`:                "unknown Low 9",
		`{"own":{"low":1,"low":2}}`:                "twice own.low 16",
		`{"raw":"a\\\"b{","kind":"]}","extra":[]}`: "unknown extra 29",
	} {
		got := ""
		var key *param.KeyError
		err := param.Decode([]byte(text), new(outer))
		if errors.As(err, &key) {
			got = fmt.Sprintf("%s %s %d", map[bool]string{true: "twice", false: "unknown"}[key.Duplicate],
				key.Path, key.At)
		}
		if got != want || err != nil && want == "" {
			t.Errorf("%s: got %q (%v), want %q", text, got, err, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, text := range []string{``, `{`, `{} {}`, `{"low":"1"}`, "{\"kind\":\"\xff\"}", `{"low":1,}`,
		`[]`} {
		if err := param.Decode([]byte(text), new(outer)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
	v, err := param.Any([]byte(`{"a":[1e400,0.10]}`))
	if err != nil || fmt.Sprint(v) != "map[a:[1e400 0.10]]" {
		t.Errorf("got %v, %v", v, err)
	}
	if _, err := param.Any([]byte(`{"a":1,"a":2}`)); err == nil {
		t.Error("a duplicate key is read")
	}
}

func FuzzDecode(f *testing.F) {
	for _, text := range []string{`{"low":1,"parts":[{"low":1}],"raw":{"x":[1,"\\\""]}}`, `[[],{},"a"]`,
		` 1 `} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var strict, loose outer
		if param.Decode(text, &strict) == nil && json.Unmarshal(text, &loose) != nil {
			t.Errorf("%q is not JSON", text)
		}
	})
}
