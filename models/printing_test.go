package models

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"reflect"
	"regexp"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

const markedRecord = 77123

// markedText matches a marked record in all bases that a program prints numbers in. addressText
// matches addresses in these bases; addresses may contain any digits.
var (
	markedText  = regexp.MustCompile(`(?i)77123|7\.7123|12d43|226503|4796a18|40f2d43`)
	addressText = regexp.MustCompile(`(?i)(^|[^.\w])(0x|0o?)?[0-9a-f]{9,16}\b`)
)

// trainedOnMarks returns every kind of network after a step on records of marked numbers. If a
// network and its gradients are different values, it also returns the gradients.
func trainedOnMarks(t *testing.T) map[string]any {
	t.Helper()
	be, all := device.CPUWith(1), map[string]any{}
	made := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	dense := func(cols int) device.Batch {
		m := be.New(3, cols)
		be.Fill(m, markedRecord)
		return device.Batch{Rows: 3, Dense: m, Labels: []int32{0, 1, 0}, Keys: []uint64{1, 2, 3}}
	}
	step := func(name string, n Network, b device.Batch) {
		g := n.Gradients(b)
		g.SquaredNorms(make([]float64, b.Rows))
		g.AddWeightedSum(device.NewParams(be, n.Params().Shapes...), []float32{1, 1, 1})
		all[name], all["gradients of "+name] = n, g
	}
	sets := device.Batch{Rows: 3, Keys: []uint64{1, 2, 3}, Sparse: &device.Sparse{
		Cols: markedRecord + 1, Items: []uint32{markedRecord, markedRecord, markedRecord},
		Offsets: []int{0, 1, 2, 3}}}
	for name, a := range map[string]DensityArchitecture{"RBM": RBM{Hidden: 2, Chains: 2},
		"VAE": VAE{Latent: 2, Hidden: []int{3}}} {
		n, err := a.New(be, Visible{Dim: 4}, 1)
		made(err)
		step(name, n, dense(4))
		n, err = a.New(be, Visible{Dim: sets.Sparse.Cols, Sparse: true}, 1)
		made(err)
		step(name+" of sets", n, sets)
	}
	cnn := CNN{Height: 4, Width: 4, Channels: 1, Convolutions: []Convolution{{Maps: 2, Size: 3}}}
	mlp := MLP{Hidden: []int{3}}
	n, err := mlp.Classifier(be, 16, 2, 1)
	made(err)
	step("MLP", n, dense(16))
	n.Predict(dense(16), be.New(3, 2))
	n, err = cnn.Classifier(be, 16, 2, 1)
	made(err)
	step("CNN", n, dense(16))
	for name, a := range map[string]CriticArchitecture{"MLP": mlp, "CNN": cnn} {
		c, err := a.Critic(be, 16, 2, 1)
		made(err)
		b, name := dense(16), "critic "+name
		g := c.PairGradients(b, be.New(3, 16), []float32{1, 1, 1}, 1)
		g.SquaredNorms(make([]float64, 3))
		c.ScoreGradient(be.New(3, 16), b.Dense, b.Labels, 1, nil)
		all[name], all["gradients of "+name] = c, g
	}
	for name, a := range map[string]GeneratorArchitecture{"MLP": mlp,
		"images": ConvDecoder{Height: 4, Width: 4, Channels: 1, Maps: []int{3}, Size: 3}} {
		d, err := a.NewGenerator(be, 4, []Head{{Width: 16}}, 1)
		made(err)
		d.Forward(dense(4).Dense) // a public encoder reads private records
		all["decoder "+name] = d
	}
	return all
}

type concealed struct{ value any }

// dereferenced returns v and, if v is a pointer to an exported type, the value behind it.
func dereferenced(v any) []any {
	out := []any{v}
	if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer {
		if name := p.Elem().Type().Name(); name != "" && name[0] >= 'A' && name[0] <= 'Z' {
			out = append(out, p.Elem().Interface())
		}
	}
	return out
}

// untimed leaves the time out of log lines, since it may contain the digits of a marked record.
var untimed = &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}}

// printed yields what v prints under every verb in many nestings, and as JSON, gob and log lines.
func printed(v any) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, v := range dereferenced(v) {
			for _, verb := range []string{"%v", "%+v", "%#v", "%d", "%x", "%X", "%s", "%q", "%g", "%f",
				"%e", "%t", "%b", "%o", "%c", "%U", "%p", "%w"} {
				for _, nested := range []any{v, &v, []any{v}, map[string]any{"a": v}, concealed{v},
					&concealed{v}, []concealed{{v}}, concealed{concealed{v}}, concealed{[]any{v}},
					map[string]concealed{"a": {v}}} {
					if !yield(fmt.Sprintf(verb, nested)) {
						return
					}
				}
			}
			for _, nested := range []any{v, []any{v}, struct{ V any }{v}} {
				text, _ := json.Marshal(nested)
				out := bytes.NewBuffer(text)
				_ = gob.NewEncoder(out).Encode(nested)
				slog.New(slog.NewJSONHandler(out, untimed)).Info("x", "v", nested)
				slog.New(slog.NewTextHandler(out, untimed)).Info("x", "v", nested)
				if !yield(out.String()) || !yield(fmt.Errorf("%v", nested).Error()) {
					return
				}
			}
		}
	}
}

// leak returns the first text that shows a marked record.
func leak(v any) (string, bool) {
	for text := range printed(v) {
		if markedText.MatchString(addressText.ReplaceAllString(text, "")) {
			return text, true
		}
	}
	return "", false
}

// TestNetworksPrintNoRecord checks that networks print no record of the last batch, whatever the
// verb, the nesting and the encoding. The check must find a planted leak.
func TestNetworksPrintNoRecord(t *testing.T) {
	for name, v := range trainedOnMarks(t) {
		if text, found := leak(v); found {
			t.Errorf("%s prints a record: %.200s", name, text)
		}
	}
	type field struct{ x []float32 }
	for _, planted := range []any{[]float32{markedRecord}, &concealed{[]uint32{markedRecord}},
		&concealed{&field{[]float32{markedRecord}}}} {
		if _, found := leak(planted); !found {
			t.Errorf("a planted leak is not found in %T", planted)
		}
	}
}

// TestNetworksKeepNumbersOutOfReach checks that package fmt cannot reach a list of numbers. In an
// unexported field of another struct, fmt calls no methods and follows one pointer. Losses, norms
// and gradients are as private as the records.
func TestNetworksKeepNumbersOutOfReach(t *testing.T) {
	for name, v := range trainedOnMarks(t) {
		for _, v := range dereferenced(v) {
			if path := inReach(reflect.ValueOf(v), 1, fmt.Sprintf("%T", v)); path != "" {
				t.Errorf("%s: package fmt reaches the numbers of %s", name, path)
			}
		}
	}
	type near struct{ losses []float64 }
	type far struct{ *near }
	x := near{[]float64{1}}
	for want, v := range map[string]any{"n.losses": x, "p.losses": &x, "f.near.losses": far{&x},
		"": &far{&x}} {
		if got := inReach(reflect.ValueOf(v), 1, want[:min(1, len(want))]); got != want {
			t.Errorf("%T: %q, want %q", v, got, want)
		}
	}
}

// inReach returns the path of a list of numbers behind at most the given number of pointers, and ""
// if there is none.
func inReach(v reflect.Value, pointers int, path string) string {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || pointers == 0 {
			return ""
		}
		return inReach(v.Elem(), pointers-1, path)
	case reflect.Interface:
		if v.IsNil() {
			return ""
		}
		return inReach(v.Elem(), pointers, path)
	case reflect.Struct:
		for i := range v.NumField() {
			if found := inReach(v.Field(i), pointers, path+"."+v.Type().Field(i).Name); found != "" {
				return found
			}
		}
	case reflect.Map:
		if v.Len() > 0 {
			return path
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			switch e := v.Index(i); e.Kind() {
			case reflect.Struct, reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Array:
				if found := inReach(e, pointers, path); found != "" {
					return found
				}
			default:
				return path
			}
		}
	}
	return ""
}
