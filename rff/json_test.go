package rff_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/rff"
)

func TestMapSurvivesJSON(t *testing.T) {
	x := []float32{0.3, 1, 0, 1, 0.2}
	for _, phase := range []bool{false, true} {
		for name, k := range kernels(10, phase) {
			m := newMap(t, k, 5, 1<<63+17)
			data := must(json.Marshal(m))(t)
			var back rff.Map
			if err := json.Unmarshal(data, &back); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if back.In() != 5 || back.Dim() != 10 ||
				back.NormBound() != m.NormBound() {
				t.Errorf("%s: the map read from %s has another width, size, seed or bound", name, data)
			}
			if a, b := transform(m, dense(1, 5, x)),
				transform(&back, dense(1, 5, x)); !slices.Equal(a.Data, b.Data) {
				t.Errorf("%s: the map that was read gives other features", name)
			}
			again, err := json.Marshal(&back)
			if err != nil || string(again) != string(data) {
				t.Errorf("%s: the map that was read is written as %s, the original as %s (error %v)", name,
					again, data, err)
			}
		}
	}
}

func TestKernelSurvivesJSON(t *testing.T) {
	for name, k := range kernels(10, false) {
		data := must(rff.MarshalKernel(k))(t)
		if back, err := rff.UnmarshalKernel(data); err != nil || back != k {
			t.Errorf("%s: wrote %+v, read %+v (error %v)", name, k, back, err)
		}
	}
}

var hostile = []string{
	``, `null`, `{}`, `[]`, `7`, `{"kernel":null}`,
	`{"kernel":{"kernel":"rbf","params":{"dim":4,"bandwidth":1}},"in":0,"seed":"1"}`,
	`{"kernel":{"kernel":"rbf","params":{"dim":4,"bandwidth":-1}},"in":4,"seed":"1"}`,
	`{"kernel":{"kernel":"rbf","params":{"dim":900000000000,"bandwidth":1}},"in":90000000000,"seed":"1"}`,
	`{"kernel":{"kernel":"nothing","params":{}},"in":4,"seed":"1"}`,
	`{"custom":{"name":"x","dim":1,"frequencies":"AAAAAA==","phases":"!"},"in":1,"seed":"1"}`,
}

func TestHostileMapsAreErrors(t *testing.T) {
	for _, s := range hostile {
		var m rff.Map
		if err := m.UnmarshalJSON([]byte(s)); err == nil {
			t.Errorf("%s: want an error", s)
		}
	}
	var m rff.Map
	if err := m.UnmarshalJSON([]byte(`{`)); !errors.Is(err, rff.ErrFormat) {
		t.Errorf("truncated JSON: got %v, want ErrFormat", err)
	}
}

func FuzzMapJSON(f *testing.F) {
	for _, s := range hostile {
		f.Add([]byte(s))
	}
	f.Add([]byte(`{"kernel":{"kernel":"rbf","params":{"dim":4,"bandwidth":1}},"in":4,"seed":"1"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var m rff.Map
		if m.UnmarshalJSON(data) != nil || m.In()*m.Dim() > 1<<16 {
			return
		}
		out := transform(&m, dense(1, m.In(), make([]float32, m.In())))
		if n := norm(out.Row(0)); n > m.NormBound() {
			t.Errorf("norm %v exceeds the bound", n)
		}
	})
}
