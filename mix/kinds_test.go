package mix_test

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// kinds returns a small data set of every kind of record, by name.
func kinds(t testing.TB, n int, labelled bool) map[string]records.Data {
	t.Helper()
	out := map[string]records.Data{}
	for name, s := range map[string]records.Schema{"binary vector": records.Binary(6),
		"interval vector": records.Interval(4, -1, 2), "image": records.Image(2, 3),
		"binary image": records.BinaryImage(2, 3)} {
		if labelled {
			s = s.WithLabels("a", "b")
		}
		out[name] = grey(t, n, s)
	}
	return out
}

// sampled draws records and checks that they are valid.
func sampled(t *testing.T, g *synth.Generator, n int, opts ...synth.DrawOption) device.Batch {
	t.Helper()
	drawn, err := g.Sample(t.Context(), n, opts...)
	if err == nil {
		err = records.Check(drawn)
	}
	if err != nil {
		t.Fatal(err)
	}
	if drawn.Len() != n {
		t.Errorf("got %d records, want %d", drawn.Len(), n)
	}
	var b device.Batch
	drawn.Range(0, n, &b)
	return b
}

// reread returns the generator after it was saved and loaded.
func reread(t testing.TB, g *synth.Generator) *synth.Generator {
	t.Helper()
	var file bytes.Buffer
	if err := g.Save(&file); err != nil {
		t.Fatal(err)
	}
	return must(synth.Systems{mix.System()}.Load(&file))(t)
}

// kindsAreOwn has the kinds for which synthetic records have the schema of the real records. For
// other kinds synthetic records are vectors or images of numbers.
var kindsAreOwn = map[string]bool{"interval vector": true, "image": true}

// TestEveryKindOfRecord fits, samples, saves, loads and samples again every kind of record, under
// both relations.
func TestEveryKindOfRecord(t *testing.T) {
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		for _, labelled := range []bool{false, true} {
			for name, data := range kinds(t, 30, labelled) {
				for variant, c := range variants(data.Schema(), r, 30) {
					where := r.String() + "/" + name + "/" + variant
					if labelled {
						where += "/labelled"
					}
					t.Run(where, func(t *testing.T) { everyDraw(t, c, data, kindsAreOwn[name]) })
				}
			}
		}
	}
}

func everyDraw(t *testing.T, c mix.Config, data records.Data, own bool) {
	gen := fit(t, mustPlan(t, c), data)
	m := gen.Model().(*mix.Model)
	if own && c.Projection == (mix.Projection{}) && !m.Schema().Equal(data.Schema()) {
		t.Errorf("records have schema %v, drawn records have %v", data.Schema(), m.Schema())
	}
	loaded := reread(t, gen)
	for name, opts := range map[string][]synth.DrawOption{"records": {synth.Seed(1)},
		"means": {synth.Seed(1), synth.Means()}} {
		if !reflect.DeepEqual(sampled(t, gen, 70, opts...), sampled(t, loaded, 70, opts...)) {
			t.Errorf("%s: the loaded model draws other records than the saved one", name)
		}
	}
	for class := range c.Schema.Classes() {
		if !has(m, class) {
			var wrong *param.Error // no released row is of this class
			if _, err := gen.Sample(t.Context(), 1, synth.OfClass(class)); !errors.As(err, &wrong) {
				t.Errorf("class %d has no rows: got %v, want *param.Error", class, err)
			}
			continue
		}
		for _, l := range sampled(t, gen, 20, synth.OfClass(class)).Labels {
			if int(l) != class {
				t.Errorf("class %d was requested, but class %d was drawn", class, l)
			}
		}
	}
	if _, err := m.Rows().Table(m.Schema()); err != nil {
		t.Errorf("Rows.Table with RowSchema: %v, want no error", err)
	}
}

// has reports whether a row of a class was released.
func has(m *mix.Model, class int) bool {
	for i := range m.Rows().Len() {
		if m.Rows().Class(i) == class {
			return true
		}
	}
	return false
}

// TestTablesAndSetsAreRefused checks that Plan refuses tables and sets, with and without a
// projection.
func TestTablesAndSetsAreRefused(t *testing.T) {
	table := must(records.NewSchema(records.Numeric("x", 0, 1), records.Label("class", "a", "b")))(t)
	for _, s := range []records.Schema{table, records.Sets(9, 3)} {
		for _, p := range []mix.Projection{{}, {Dim: 3}} {
			c := small(s, mix.Poisson{Nominal: 12, Degree: 3})
			c.Projection = p
			var wrong *param.Error
			if _, err := c.Plan(); !errors.As(err, &wrong) || wrong.Path != "mix.Config.Schema" {
				t.Errorf("%v: got %v, want a *param.Error for the schema", s, err)
			}
		}
	}
}

// TestDrawsFromRowsOfAnyNumbers checks that records drawn from rows of any finite numbers are
// valid. Such rows may come from a file.
func TestDrawsFromRowsOfAnyNumbers(t *testing.T) {
	for _, labelled := range []bool{false, true} {
		for _, data := range kinds(t, 30, labelled) {
			for _, c := range variants(data.Schema(), accountant.AddOrRemoveOne, 30) {
				gen := fit(t, mustPlan(t, c), data)
				m := gen.Model().(*mix.Model)
				x, y := m.Rows().Matrices()
				for _, wild := range [][]float32{{0}, {3e38}, {3e38, -3e38, 1}, {1e30, 7},
					{-5, 1e-40, 2}} {
					strange := forged(t, m, repeated(wild, len(x.Data)), repeated(wild, len(y.Data)))
					sampled(t, synth.NewGenerator("mix", strange, gen.Guarantee()), 40, synth.Seed(1))
				}
			}
		}
	}
}

// repeated returns n numbers: the given numbers, again and again.
func repeated(numbers []float32, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = numbers[i%len(numbers)]
	}
	return out
}

// forged returns the model with its rows replaced, as if it had been read from a file.
func forged(t testing.TB, m *mix.Model, features, labels []float32) *mix.Model {
	t.Helper()
	f := encoded(t, m)
	for i := range f.Sections {
		switch f.Sections[i].Name {
		case "features":
			f.Sections[i].Data = synth.Floats(features)
		case "labels":
			f.Sections[i].Data = synth.Floats(labels)
		}
	}
	return decoded(t, f)
}
