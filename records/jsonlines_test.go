package records_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// small returns a table with a column of each kind that matters to JSON.
func small(t testing.TB) records.Schema {
	t.Helper()
	return must(records.NewSchema(
		records.Integer("n", 0, 9).WithMissing(),
		records.Categorical("kind", "cat", "1", "é \"<").WithOther("cat"),
		records.Numeric("x", 0, 5),
		records.Flag("ok", "no", "yes"),
	))(t)
}

func TestObjectsAreReadAsRecords(t *testing.T) {
	const nothing = ",cat,0,no" // a record of unknown values
	const good = `{"n":3,"kind":"1","x":2,"ok":"yes"}`
	for line, want := range map[string]string{
		`{"n":3,"kind":"1","x":4.5,"ok":"yes"}`:                                 "3,1,4.5,yes",
		` { "ok" : true , "x" : "2" , "kind" : 1 , "n" : null } `:               ",1,2,yes",
		`{"n":3,"kind":1.0,"x":1e0,"ok":false,"more":[{"n":9}]}`:                "3,1,1,no",
		`{"n":3,"kind":"\u00e9 \"<","x":99,"\u006fk":"yes"}`:                    "3,\u00e9 \"<,5,yes",
		`{"n":[3],"kind":{"a":"}"},"x":"a","ok":null}`:                          nothing,
		`{"n":3,"n":4,"kind":"1","x":4.5,"ok":"yes"}`:                           nothing,
		`{"n":3,"kind":"1","x":4.5,"ok":"yes"`:                                  nothing,
		`{"n":3,"kind":"1","x":4.5,"ok":"yes"}{}`:                               nothing,
		`[3,"1",4.5,"yes"]`:                                                     nothing,
		`{}`:                                                                    nothing,
		"\"":                                                                    nothing,
		`{"n":3,"x":4,"kind":"1","ok":"yes","a":"` + "\xff" + `"}`:              "3,1,4,yes",
		`{"n":1,"x":2,"kind":"1","ok":"yes","q":"\\","r":"\"}"}`:                "1,1,2,yes",
		`{"n":` + strings.Repeat("[", 20000) + `,"x":2}`:                        nothing,
		strings.Replace(good, "}", `,"a":"`+strings.Repeat("a", 1<<20)+`"}`, 1): nothing,
	} {
		text := "\ufeff{\"n\":9}\n\n" + line + "\r\n   \n{\"n\":8}"
		f := must(records.JSONLines{}.ReadFrame(strings.NewReader(text), small(t)))(t)
		got := cellsOf(f)
		if len(line) > 99 {
			line = line[:99]
		}
		if want := "9,cat,0,no;" + want + ";8,cat,0,no"; got != want {
			t.Errorf("%s\nis read as %q, want %q", line, got, want)
		}
	}
}

// TestObjectsComeBack: the written lines are valid JSON, and are read back as the same records.
func TestObjectsComeBack(t *testing.T) {
	s := people(t)
	rows := [][]any{
		{180.25, 1e-7, 33, -3, "none", "M", "\"self\"", ">50K", "Köln", "Male", "no"},
		{50, nil, 17, nil, "all", nil, "none", "<=50K", nil, "Female", nil},
		{"250", 99999, 90, 20, "some, a bit", "XL", "private", ">50K", "#x", true, true},
	}
	f := must(records.FromValues(s, rows...))(t)
	var file bytes.Buffer
	if err := (records.JSONLines{}).WriteFrame(&file, f); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(file.String()) {
		var object map[string]any
		if err := json.Unmarshal([]byte(line), &object); err != nil ||
			len(object) != len(s.Columns()) {
			t.Errorf("%s: got error %v and %d keys, want one key for each column", line, err, len(object))
		}
	}
	if want := `{"height":50,"gain":null,`; !strings.Contains(file.String(), want) {
		t.Errorf("want %s in %s", want, file.String())
	}
	back := must(records.JSONLines{}.ReadFrame(&file, s))(t)
	if !sameFrame(f, back) || records.Check(back) != nil {
		t.Errorf("%s is read back as %s", cellsOf(f), cellsOf(back))
	}
}

func TestObjectsThatFail(t *testing.T) {
	text := strings.Repeat(`{"n":1,"kind":"1","x":2,"ok":"no"}`+"\n", 7)
	if err := (records.JSONLines{}).WriteFrame(failing{},
		must(records.FromValues(small(t)))(t)); err != nil {
		t.Errorf("nothing to write: got error %v, want none", err)
	}
	f := must(records.FromValues(small(t), []any{1, "cat", 2, "no"}))(t)
	if err := (records.JSONLines{}).WriteFrame(failing{}, f); err == nil {
		t.Error("WriteFrame returns no error of the writer")
	}
	if err := (records.JSONLines{}).WriteFrame(failing{}, nil); err == nil {
		t.Error("WriteFrame accepts nil")
	}
	if _, err := (records.JSONLines{}).ReadFrame(strings.NewReader(text), records.Binary(3)); err ==
		nil {
		t.Error("objects are read as vectors")
	}
	limits := records.Limits{Values: 10}
	_, err := records.JSONLines{Limits: limits}.ReadFrame(strings.NewReader(text), small(t))
	if over := new(records.LimitError); !errors.As(err, &over) || over.Limit != "Values" {
		t.Errorf("7 records of 4 values, with a limit of 10: got error %v, want *LimitError", err)
	}
	limits = records.Limits{Fields: 3}
	f = must(records.JSONLines{Limits: limits}.ReadFrame(strings.NewReader(text), small(t)))(t)
	if got := cellsOf(f.Slice(0, 1)); got != ",cat,0,no" {
		t.Errorf("an object of too many keys is read as %q", got)
	}
}

func FuzzReadJSONLines(f *testing.F) {
	s := small(f)
	f.Add([]byte(`{"n":3,"kind":"1","x":4.5,"ok":"yes"}`))
	f.Add([]byte("{\"a\":[1,{\"b\":\"\\\"}\"}] , \"n\" :\t-0}\r\n\n{}\n[]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		frame, err := records.JSONLines{}.ReadFrame(bytes.NewReader(data), s)
		inSchema(t, dataOf(frame), err)
		if err != nil {
			return
		}
		var file bytes.Buffer
		if err := (records.JSONLines{}).WriteFrame(&file, frame); err != nil {
			t.Fatal(err)
		}
		back := must(records.JSONLines{}.ReadFrame(&file, s))(t)
		if !sameFrame(frame, back) || records.Check(back) != nil {
			t.Fatalf("%s is read back as %s", cellsOf(frame), cellsOf(back))
		}
		agrees(t, data, s)
	})
}

// agrees compares the value of n in each line with the value that encoding/json reads.
func agrees(t *testing.T, data []byte, s records.Schema) {
	for line := range bytes.Lines(data) {
		var object struct {
			N    *json.Number `json:"n"`
			Keys map[string]json.RawMessage
		}
		if bytes.Count(line, []byte(`n"`)) != 1 || !bytes.Contains(line, []byte(`"n"`)) ||
			bytes.Contains(line, []byte(`"N"`)) || bytes.Contains(line, []byte(`\u`)) ||
			json.Unmarshal(line, &object) != nil || object.N == nil {
			continue
		}
		f := must(records.JSONLines{Limits: records.Limits{Plain: true}}.ReadFrame(
			bytes.NewReader(line), s))(t)
		if f.Len() != 1 {
			t.Fatalf("%q holds %d records", line, f.Len())
		}
		want, err := object.N.Float64()
		if err == nil && want >= 0 && want <= 9 && want == float64(int(want)) &&
			f.Number(0, 0) != want {
			t.Fatalf("n of %q is %v", line, f.Number(0, 0))
		}
	}
}
