package mix_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/artefact"
	"github.com/seed7ba64551/privgen/internal/release"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// kinds are small data of every kind of record.
func kinds(t testing.TB, n int, labelled bool) map[string]records.Data {
	t.Helper()
	out := map[string]records.Data{"mixed table": customers(t, n, labelled, 2)}
	for name, s := range map[string]records.Schema{"binary vector": records.Binary(6),
		"interval vector": records.Interval(4, -1, 2), "image": records.Image(2, 3),
		"binary image": records.BinaryImage(2, 3)} {
		if labelled {
			s = s.WithLabels("a", "b")
		}
		out[name] = grey(t, n, s)
	}
	s, rng := records.Sets(9, 3), rand.New(rand.NewPCG(4, 5))
	rows, labels := make([][]uint32, n), []int32(nil)
	for i := range rows {
		rows[i] = []uint32{uint32(rng.IntN(9)), uint32(rng.IntN(9)), uint32(i % 4)}
	}
	if labelled {
		s, labels = s.WithLabels("a", "b"), make([]int32, n)
		for i := range labels {
			labels[i] = int32(rng.IntN(2))
		}
	}
	sets, err := records.FromItems(s, rows, labels...)
	if err != nil {
		t.Fatal(err)
	}
	out["sets"] = sets
	return out
}

// sampled draws records and wants them valid, of the schema that the model states.
func sampled(t *testing.T, m *mix.Model, n int, d mix.Draw) (all []records.Data) {
	t.Helper()
	for chunk, err := range m.Chunks(t.Context(), n, d) {
		if err == nil {
			err = records.Check(chunk)
		}
		if err != nil {
			t.Fatal(err)
		}
		if !chunk.Schema().Equal(m.DrawSchema(d)) {
			t.Errorf("%v, stated %v", chunk.Schema(), m.DrawSchema(d))
		}
		n -= chunk.Len()
		all = append(all, chunk)
	}
	if n != 0 {
		t.Errorf("%d records too few", n)
	}
	return all
}

// batches are records in encoded form, which can be compared.
func batches(parts []records.Data) []device.Batch {
	out := make([]device.Batch, len(parts))
	for i, part := range parts {
		part.Range(0, part.Len(), &out[i])
	}
	return out
}

// reread is a model after a file.
func reread(t testing.TB, m *mix.Model) *mix.Model {
	t.Helper()
	f, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := artefact.Write(&file, f); err != nil {
		t.Fatal(err)
	}
	if f, err = artefact.Read(&file); err != nil {
		t.Fatal(err)
	}
	back, err := mix.Decode(f, release.Loading{})
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// kindsAreOwn says which kinds come back as they went in; others come back as numbers.
var kindsAreOwn = map[string]bool{"sets": true, "mixed table": true, "interval vector": true,
	"image": true}

// TestEveryKindOfRecord: fitted, sampled, saved, loaded and sampled again, under both relations.
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
	ledger := accountant.NewLedger(c.Budget)
	m, err := mix.Fit(t.Context(), mustPlan(t, c), data, ledger)
	if err != nil {
		t.Fatal(err)
	}
	if own && c.Projection == (mix.Projection{}) && !m.Schema().Equal(data.Schema()) {
		t.Errorf("records of %v, drawn %v", data.Schema(), m.Schema())
	}
	loaded := reread(t, m)
	for _, means := range []bool{false, true} {
		d := mix.Draw{Cluster: -1, Class: -1, Seed: 1, Means: means}
		if !reflect.DeepEqual(batches(sampled(t, m, 70, d)), batches(sampled(t, loaded, 70, d))) {
			t.Errorf("%+v: another draw after a file", d)
		}
	}
	for class := range c.Schema.Classes() {
		d := mix.Draw{Cluster: -1, Class: class, Seed: 2}
		if m.Schema().Kind() != records.MixedTable && !m.Schema().Sparse() && !released(m, class) {
			continue // of vectors the released rows are handed out, and none is of this class
		}
		var b device.Batch
		for _, chunk := range sampled(t, m, 20, d) {
			chunk.Range(0, chunk.Len(), &b)
			for _, l := range b.Labels {
				if int(l) != class {
					t.Errorf("class %d asked for, %d drawn", class, l)
				}
			}
		}
	}
	var wrong *param.Error
	for _, d := range []mix.Draw{{Cluster: -1, Class: c.Schema.Classes()},
		{Cluster: 1, Class: -1}} {
		for _, err := range m.Chunks(t.Context(), 1, d) {
			if !errors.As(err, &wrong) {
				t.Errorf("%+v: %v", d, err)
			}
		}
	}
	if _, err := m.Rows().Table(m.RowSchema()); err != nil {
		t.Errorf("rows as vectors: %v", err)
	}
}

// released reports whether a row of a class was.
func released(m *mix.Model, class int) bool {
	for i := range m.Rows().Len() {
		if m.Rows().Class(i) == class {
			return true
		}
	}
	return false
}

// TestRecordsTooWideToDrawAreRefused in the plan, before anything can be spent, with the name of a
// system that takes them; projected, they are vectors, and taken.
func TestRecordsTooWideToDrawAreRefused(t *testing.T) {
	columns := make([]records.Column, 3000)
	for j := range columns {
		columns[j] = records.Numeric(fmt.Sprint("column ", j), 0, 1)
	}
	table, err := records.NewSchema(columns...)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, 3000)
	for k := range names {
		names[k] = fmt.Sprint("class ", k)
	}
	for _, c := range []struct {
		schema        records.Schema
		field, system string
	}{
		{table, "Dim", "merf"},
		{records.Sets(3000, 5), "Dim", "dpgm"},
		{records.Sets(3000, 5).WithLabels("a", "b"), "Dim", "merf"},
		{records.Sets(20, 5).WithLabels(names...), "Classes", "merf"},
		{records.Sets(2000, 5).WithLabels(names[:600]...), "Classes", "merf"},
	} {
		config := small(c.schema, mix.Poisson{Nominal: 12, Degree: 3})
		var wrong *param.Error
		_, err := config.Plan()
		if !errors.As(err, &wrong) || wrong.Path != "mix.Config.Schema."+c.field ||
			!strings.Contains(wrong.Want, "package "+c.system) {
			t.Errorf("%v: %v", c.schema, err)
		}
		config.Projection = mix.Projection{Dim: 3}
		mustPlan(t, config)
	}
	for _, s := range []records.Schema{records.Binary(3000), records.Sets(2048, 5),
		records.Sets(2000, 5).WithLabels(names[:500]...)} {
		mustPlan(t, small(s, mix.Poisson{Nominal: 12, Degree: 3}))
	}
}

// TestDrawsFromRowsOfAnyNumbers: rows may come out of any file, which holds finite numbers, and
// records drawn from them are valid whatever those are.
func TestDrawsFromRowsOfAnyNumbers(t *testing.T) {
	for _, labelled := range []bool{false, true} {
		all := kinds(t, 30, labelled)
		for _, name := range []string{"sets", "mixed table"} {
			for _, c := range variants(all[name].Schema(), accountant.AddOrRemoveOne, 30) {
				ledger := accountant.NewLedger(c.Budget)
				m, err := mix.Fit(t.Context(), mustPlan(t, c), all[name], ledger)
				if err != nil {
					t.Fatal(err)
				}
				x, y := m.Rows().Matrices()
				for _, wild := range [][]float32{{0}, {3e38}, {3e38, -3e38, 1}, {1e30, 7},
					{-5, 1e-40, 2}} {
					strange := forged(t, m, repeated(wild, len(x.Data)),
						repeated(wild, len(y.Data)))
					sampled(t, strange, 40, mix.Draw{Cluster: -1, Class: -1, Seed: 1})
				}
			}
		}
	}
}

// repeated are n numbers, the same ones again and again.
func repeated(numbers []float32, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = numbers[i%len(numbers)]
	}
	return out
}

// forged is a model with other rows, as a file may have them.
func forged(t testing.TB, m *mix.Model, features, labels []float32) *mix.Model {
	t.Helper()
	f, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Sections {
		switch f.Sections[i].Name {
		case "features":
			f.Sections[i].Data = artefact.Floats32(features)
		case "labels":
			f.Sections[i].Data = artefact.Floats32(labels)
		}
	}
	back, err := mix.Decode(f, release.Loading{})
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// TestConcurrentFirstDraws: a model estimates once, whoever asks first.
func TestConcurrentFirstDraws(t *testing.T) {
	data := kinds(t, 30, true)["mixed table"]
	c := small(data.Schema(), mix.Poisson{Nominal: 30, Degree: 3})
	m, err := mix.Fit(t.Context(), mustPlan(t, c), data, accountant.NewLedger(c.Budget))
	if err != nil {
		t.Fatal(err)
	}
	out := make([][]device.Batch, 4)
	var wait sync.WaitGroup
	for i := range out {
		wait.Go(func() {
			var all []records.Data
			for chunk, err := range m.Chunks(t.Context(), 50, mix.Draw{Cluster: -1, Class: -1, Seed: 1}) {
				if err != nil {
					t.Error(err)
					return
				}
				all = append(all, chunk)
			}
			out[i] = batches(all)
		})
	}
	wait.Wait()
	for i := range out {
		if !reflect.DeepEqual(out[i], out[0]) {
			t.Errorf("draw %d differs", i)
		}
	}
}
