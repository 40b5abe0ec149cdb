package merf_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"runtime"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

func embedded(t testing.TB, n int) *merf.Embedding {
	data := drawTable(t, n, 1)
	c := small(data.Schema(), accountant.AddOrRemoveOne, kernels()["rbf"])
	return mustEmbed(t, mustPlan(t, c), data)
}

func trained(t testing.TB, g merf.GeneratorConfig) *synth.Generator {
	t.Helper()
	return must(merf.Train(context.Background(), embedded(t, 100), g))(t)
}

func collectAll(t testing.TB, g *synth.Generator, n int, opts ...synth.DrawOption) *records.Frame {
	t.Helper()
	drawn := must(g.Sample(context.Background(), n, opts...))(t)
	return drawn.(*records.Frame)
}

// encoded returns the model as a file.
func encoded(t testing.TB, g *synth.Generator) *synth.File {
	t.Helper()
	return must(g.Model().Encode())(t)
}

// decoded returns a generator with the model in a file.
func decoded(f *synth.File, more ...models.GeneratorArchitecture) (*synth.Generator, error) {
	m, err := merf.System().Model(f, synth.Loading{Backend: device.CPU(), Decodings: more})
	return synth.NewGenerator("merf", m, ledger.Guarantee{}), err
}

func text(t testing.TB, f *records.Frame) string {
	t.Helper()
	var b bytes.Buffer
	if err := (records.CSV{}).WriteFrame(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestProportionsAreSaved checks that a model's file contains the proportions of the
// classes.
func TestProportionsAreSaved(t *testing.T) {
	m := trained(t, quick)
	back := must(decoded(encoded(t, m)))(t)
	drawn := func(g *synth.Generator) string { return text(t, collectAll(t, g, 1500, synth.Seed(9))) }
	if drawn(m) != drawn(back) {
		t.Error("the loaded model draws other records than the saved one")
	}
	proportions := func(g *synth.Generator) []float64 { return g.Model().(*merf.Model).Proportions() }
	if !reflect.DeepEqual(proportions(m), proportions(back)) {
		t.Errorf("saved proportions %v, loaded proportions %v", proportions(m), proportions(back))
	}
}

// TestEmbeddingsAreSaved checks that training against a loaded embedding gives the same generator,
// and that truncated files are refused.
func TestEmbeddingsAreSaved(t *testing.T) {
	e := embedded(t, 100)
	var b bytes.Buffer
	if err := e.Save(&b); err != nil {
		t.Fatal(err)
	}
	file := b.Bytes()
	back := must(merf.LoadEmbedding(bytes.NewReader(file)))(t)
	one, err1 := merf.Train(context.Background(), e, quick)
	two, err2 := merf.Train(context.Background(), back, quick)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(encoded(t, one), encoded(t, two)) {
		t.Error("training against the loaded embedding gives another generator")
	}
	for i := range file {
		if _, err := merf.LoadEmbedding(bytes.NewReader(file[:i])); err == nil {
			t.Fatalf("a file of %d of %d bytes was loaded, want an error", i, len(file))
		}
	}
}

// TestUserDefinedKernel checks that a user-defined kernel is not in the file and must be given to
// LoadEmbedding.
func TestUserDefinedKernel(t *testing.T) {
	data, kernel := drawTable(t, 20, 1), kernels()["too long"]
	e := mustEmbed(t, mustPlan(t, small(data.Schema(), accountant.AddOrRemoveOne, kernel)), data)
	var b bytes.Buffer
	if err := e.Save(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := merf.LoadEmbedding(bytes.NewReader(b.Bytes())); !errors.Is(err, synth.ErrFormat) {
		t.Errorf("without its kernel: got %v, want ErrFormat", err)
	}
	back, err := merf.LoadEmbedding(&b, kernel)
	if err != nil || !reflect.DeepEqual(back.Sum(0), e.Sum(0)) {
		t.Errorf("with its kernel: other sums, or error %v", err)
	}
}

type userDefined struct{ models.MLP }

func (userDefined) Name() string { return "user-defined" }

// TestUserDefinedDecoding checks that a file with a user-defined architecture can be read if the
// reader gets an architecture of the same name.
func TestUserDefinedDecoding(t *testing.T) {
	g := quick
	g.Architecture = userDefined{models.MLP{Hidden: []int{4}}}
	gen := trained(t, g)
	f := encoded(t, gen)
	if _, err := decoded(f); !errors.Is(err, synth.ErrFormat) {
		t.Errorf("an unknown architecture: got %v, want ErrFormat", err)
	}
	if _, err := decoded(f, g.Architecture); err != nil {
		t.Error(err)
	}
	var b bytes.Buffer
	if err := gen.Save(&b); err != nil {
		t.Fatal(err)
	}
	back := must(synth.Systems{merf.System()}.Load(&b, synth.WithDecoding(g.Architecture)))(t)
	rows := func(g *synth.Generator) string { return text(t, collectAll(t, g, 5, synth.Seed(1))) }
	if rows(back) != rows(gen) {
		t.Error("the loaded generator draws other records")
	}
}

// TestHeadersThatLieAreRefused checks that a false header is an error, and that no memory is
// allocated for the sizes it claims. The files in this test have valid checksums, because the
// author of a hostile file can compute one.
func TestHeadersThatLieAreRefused(t *testing.T) {
	f := encoded(t, trained(t, quick))
	for name, change := range map[string][2]string{
		"a huge layer":           {`"hidden":[8]`, `"hidden":[2000000000]`},
		"many layers":            {`"hidden":[8]`, `"hidden":[8,8]`},
		"without batch norm":     {`"batch_norm":true`, `"batch_norm":false`},
		"huge codes":             {`"latent":2`, `"latent":1000000`},
		"no codes":               {`"latent":2`, `"latent":0`},
		"an unknown network":     {`"name":"mlp"`, `"name":"gpt"`},
		"too few classes":        {`"shares":[`, `"shares":[0.5],"x":[`},
		"impossible proportions": {`"shares":[`, `"shares":[-1,1,1],"x":[`},
		"proportions of nothing": {`"shares":[`, `"shares":[0,0,0],"x":[`},
	} {
		refused(t, name, f, change, func(lie *synth.File) error {
			_, err := decoded(lie)
			return err
		})
	}
}

// TestEmbeddingHeadersThatLie is TestHeadersThatLieAreRefused for embeddings.
func TestEmbeddingHeadersThatLie(t *testing.T) {
	var b bytes.Buffer
	if err := embedded(t, 20).Save(&b); err != nil {
		t.Fatal(err)
	}
	f := must(synth.DecodeFile(&b))(t)
	for name, change := range map[string][2]string{
		"many features":      {`"dim":12`, `"dim":100000000`},
		"no features":        {`"dim":12`, `"dim":0`},
		"no noise":           {`"sum_std":`, `"sum_std":-1,"x":`},
		"an unknown kernel":  {`"kernel":"rbf"`, `"kernel":"none"`},
		"a negative nominal": {`"seed":`, `"nominal":-1,"seed":`},
	} {
		refused(t, name, f, change, func(lie *synth.File) error {
			var b bytes.Buffer
			if err := lie.Write(&b); err != nil {
				t.Fatal(err)
			}
			_, err := merf.LoadEmbedding(&b)
			return err
		})
	}
}

// TestFilesWithoutAGuarantee: a missing guarantee must not be read as one of ε = 0, and neither is
// one without entries: every fit reserves its noise.
func TestFilesWithoutAGuarantee(t *testing.T) {
	for what, save := range map[string]func(io.Writer) error{
		"generator": trained(t, quick).Save, "embedding": embedded(t, 20).Save} {
		var b bytes.Buffer
		if err := save(&b); err != nil {
			t.Fatal(err)
		}
		f := must(synth.DecodeFile(&b))(t)
		for _, with := range []string{"", "null", "of nothing", "whole"} {
			var head map[string]json.RawMessage
			if err := json.Unmarshal(f.Header, &head); err != nil {
				t.Fatal(err)
			}
			switch with {
			case "":
				delete(head, "guarantee")
			case "null":
				head["guarantee"] = json.RawMessage(with)
			case "of nothing":
				head["guarantee"] = must(json.Marshal(ledger.Guarantee{Delta: 1e-5}))(t)
			}
			changed := *f
			changed.Header = must(json.Marshal(head))(t)
			var b bytes.Buffer
			if err := changed.Write(&b); err != nil {
				t.Fatal(err)
			}
			var err error
			if what == "embedding" {
				_, err = merf.LoadEmbedding(&b)
			} else {
				_, err = synth.Systems{merf.System()}.Load(&b)
			}
			if (err == nil) != (with == "whole") || err != nil && !errors.Is(err, synth.ErrFormat) {
				t.Errorf("%s, guarantee %q: got %v", what, with, err)
			}
		}
	}
}

func refused(t *testing.T, name string, f *synth.File, change [2]string,
	read func(*synth.File) error) {
	t.Helper()
	lie := *f
	lie.Header = bytes.Replace(f.Header, []byte(change[0]), []byte(change[1]), 1)
	if bytes.Equal(lie.Header, f.Header) {
		t.Errorf("%s: the header does not contain %s:\n%s", name, change[0], f.Header)
		return
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := read(&lie)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, synth.ErrFormat) {
		t.Errorf("%s: got %v, want ErrFormat", name, err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 8<<20 {
		t.Errorf("%s: %d bytes were allocated, want at most 8 MiB", name, got)
	}
}

// FuzzDecode checks that every header gives either an error or a model that can draw records.
func FuzzDecode(f *testing.F) {
	good := encoded(f, trained(f, quick))
	f.Add([]byte(good.Header))
	f.Fuzz(func(t *testing.T, header []byte) {
		if !json.Valid(header) {
			return
		}
		g, err := decoded(&synth.File{Header: header, Sections: good.Sections})
		if err != nil {
			return
		}
		if _, err := g.Sample(context.Background(), 3); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzLoadEmbedding checks that every header gives either an error or an embedding that a generator
// can be trained on.
func FuzzLoadEmbedding(f *testing.F) {
	var b bytes.Buffer
	if err := embedded(f, 20).Save(&b); err != nil {
		f.Fatal(err)
	}
	good, err := synth.DecodeFile(&b)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(good.Header))
	f.Fuzz(func(t *testing.T, header []byte) {
		if !json.Valid(header) {
			return
		}
		var b bytes.Buffer
		lie := synth.File{Kind: "merf embedding", Header: header, Sections: good.Sections}
		if err := lie.Write(&b); err != nil {
			t.Fatal(err)
		}
		e, err := merf.LoadEmbedding(&b)
		if err != nil || e.Schema().Dim() > 1000 {
			return
		}
		g := merf.GeneratorConfig{Architecture: models.MLP{}, Latent: 1, Steps: 1, Batch: 2}
		if _, err := merf.Train(context.Background(), e, g); err != nil {
			t.Fatal(err)
		}
	})
}

// TestPlansAreSaved checks that a loaded plan has the price of the saved plan. A file with a false
// budget must be refused, because the price is computed again.
func TestPlansAreSaved(t *testing.T) {
	systems := synth.Systems{merf.System()}
	for _, r := range relations {
		c := small(records.Image(4, 4).WithLabels("a", "b"), r,
			rff.RBF{Dim: 8, Bandwidth: 2, Phase: true})
		c.Batches, c.CountShare = merf.Batches{Probability: 0.1, Steps: 3}, 0.3
		p := mustPlan(t, c)
		text := must(json.Marshal(p))(t)
		read := must(systems.ReadPlan(text))(t)
		back := read.(*merf.Plan)
		if !reflect.DeepEqual(back.Config, p.Config) || back.Total() != p.Total() ||
			back.SumStd != p.SumStd || back.CountStd != p.CountStd {
			t.Errorf("the plan %s was read as %+v", text, back)
		}
		cheap := bytes.Replace(text, []byte(`"epsilon":4`), []byte(`"epsilon":1`), 1)
		if _, err := systems.ReadPlan(cheap); !errors.Is(err, accountant.ErrBudgetExceeded) {
			t.Errorf("a plan with a budget smaller than its price: got %v, want ErrBudgetExceeded", err)
		}
	}
}
