package merf_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"runtime"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/artefact"
	"github.com/seed7ba64551/privgen/internal/release"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

func embedded(t testing.TB, n int) *merf.Embedding {
	data := drawTable(t, n, 1)
	return mustEmbed(t, mustPlan(t, small(data.Schema(), accountant.AddOrRemoveOne, kernels()["rbf"])), data)
}

func trained(t testing.TB, g merf.GeneratorConfig) *merf.Model {
	t.Helper()
	m, err := merf.Train(context.Background(), embedded(t, 100), g)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func collectAll(t testing.TB, m *merf.Model, n int, d merf.Draw) *records.Frame {
	t.Helper()
	var parts []records.Data
	for chunk, err := range m.Chunks(context.Background(), n, d) {
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, chunk)
	}
	all, err := records.Concat(m.DrawSchema(d), parts...)
	if err != nil {
		t.Fatal(err)
	}
	return all.(*records.Frame)
}

func text(t testing.TB, f *records.Frame) string {
	t.Helper()
	var b bytes.Buffer
	if err := (records.CSV{}).WriteFrame(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestModelsAreSaved: the model read back draws the same records.
func TestModelsAreSaved(t *testing.T) {
	g := quick
	g.Labels = merf.UniformLabels
	m := trained(t, g)
	f, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := merf.Decode(f, release.Loading{})
	if err != nil {
		t.Fatal(err)
	}
	d := merf.Draw{Cluster: -1, Class: -1, Seed: 9}
	if a, b := text(t, collectAll(t, m, 1500, d)), text(t, collectAll(t, back, 1500, d)); a != b {
		t.Error("another model comes back")
	}
	if !reflect.DeepEqual(m.Proportions(), back.Proportions()) || back.Guarantee().Epsilon != m.Guarantee().Epsilon {
		t.Errorf("proportions %v, %v", m.Proportions(), back.Proportions())
	}
}

// TestEmbeddingsAreSaved: the embedding read back trains the same generator.
func TestEmbeddingsAreSaved(t *testing.T) {
	e := embedded(t, 100)
	var b bytes.Buffer
	if err := e.Save(&b); err != nil {
		t.Fatal(err)
	}
	file := b.Bytes()
	back, err := merf.LoadEmbedding(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	one, err1 := merf.Train(context.Background(), e, quick)
	two, err2 := merf.Train(context.Background(), back, quick)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	f, _ := one.Encode()
	g, _ := two.Encode()
	if !reflect.DeepEqual(f, g) {
		t.Error("another generator is trained against what was read back")
	}
	for i := range file {
		if _, err := merf.LoadEmbedding(bytes.NewReader(file[:i])); err == nil {
			t.Fatalf("%d of %d bytes are read", i, len(file))
		}
	}
}

// TestSomebodyElsesKernel is not in the file and has to be given again.
func TestSomebodyElsesKernel(t *testing.T) {
	data, kernel := drawTable(t, 20, 1), kernels()["too long"]
	e := mustEmbed(t, mustPlan(t, small(data.Schema(), accountant.AddOrRemoveOne, kernel)), data)
	var b bytes.Buffer
	if err := e.Save(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := merf.LoadEmbedding(bytes.NewReader(b.Bytes())); !errors.Is(err, artefact.ErrFormat) {
		t.Errorf("without its kernel: %v", err)
	}
	if back, err := merf.LoadEmbedding(&b, kernel); err != nil || !reflect.DeepEqual(back.Sum(0), e.Sum(0)) {
		t.Errorf("with its kernel: %v", err)
	}
}

type theirs struct{ models.MLP }

func (theirs) Name() string { return "theirs" }

// TestSomebodyElsesDecoding comes back by the name it was saved under.
func TestSomebodyElsesDecoding(t *testing.T) {
	g := quick
	g.Architecture = theirs{models.MLP{Hidden: []int{4}}}
	f, err := trained(t, g).Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := merf.Decode(f, release.Loading{}); !errors.Is(err, artefact.ErrFormat) {
		t.Errorf("an unknown architecture: %v", err)
	}
	if _, err := merf.Decode(f, release.Loading{Decodings: []models.DecodingArchitecture{g.Architecture}}); err != nil {
		t.Error(err)
	}
}

// TestHeadersThatLieAreRefused before memory is given to what they claim. The checksum of such a file is right:
// whoever writes a hostile file can compute it.
func TestHeadersThatLieAreRefused(t *testing.T) {
	f, err := trained(t, quick).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"a huge layer":            {`"hidden":[8]`, `"hidden":[2000000000]`},
		"many layers":             {`"hidden":[8]`, `"hidden":[8,8]`},
		"no batch norm":           {`"batch_norm":true`, `"batch_norm":false`},
		"huge codes":              {`"latent":2`, `"latent":1000000`},
		"no codes":                {`"latent":2`, `"latent":0`},
		"an unknown network":      {`"name":"mlp"`, `"name":"gpt"`},
		"too few classes":         {`"shares":[`, `"shares":[0.5],"x":[`},
		"impossible proportions":  {`"shares":[`, `"shares":[-1,1,1],"x":[`},
		"proportions of nothing":  {`"shares":[`, `"shares":[0,0,0],"x":[`},
		"another way with labels": {`"labels":"proportions"`, `"labels":"all"`},
	} {
		refused(t, name, f, change, func(lie *artefact.File) error {
			_, err := merf.Decode(lie, release.Loading{})
			return err
		})
	}
}

// TestEmbeddingHeadersThatLie likewise.
func TestEmbeddingHeadersThatLie(t *testing.T) {
	var b bytes.Buffer
	if err := embedded(t, 20).Save(&b); err != nil {
		t.Fatal(err)
	}
	f, err := artefact.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"many features":      {`"dim":12`, `"dim":100000000`},
		"no features":        {`"dim":12`, `"dim":0`},
		"no noise":           {`"sumStd":`, `"sumStd":-1,"x":`},
		"an unknown kernel":  {`"kernel":"rbf"`, `"kernel":"none"`},
		"a negative nominal": {`"seed":`, `"nominal":-1,"seed":`},
	} {
		refused(t, name, f, change, func(lie *artefact.File) error {
			var b bytes.Buffer
			if err := artefact.Write(&b, lie); err != nil {
				t.Fatal(err)
			}
			_, err := merf.LoadEmbedding(&b)
			return err
		})
	}
}

func refused(t *testing.T, name string, f *artefact.File, change [2]string, read func(*artefact.File) error) {
	t.Helper()
	lie := *f
	lie.Header = bytes.Replace(f.Header, []byte(change[0]), []byte(change[1]), 1)
	if bytes.Equal(lie.Header, f.Header) {
		t.Errorf("%s: the header has no %s:\n%s", name, change[0], f.Header)
		return
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := read(&lie)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, artefact.ErrFormat) {
		t.Errorf("%s: %v", name, err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 8<<20 {
		t.Errorf("%s: %d bytes allocated", name, got)
	}
}

// FuzzDecode: whatever the header says, an error or a model that samples.
func FuzzDecode(f *testing.F) {
	good, err := trained(f, quick).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(good.Header))
	f.Fuzz(func(t *testing.T, header []byte) {
		if !json.Valid(header) {
			return
		}
		m, err := merf.Decode(&artefact.File{Kind: merf.Kind, Header: header, Sections: good.Sections}, release.Loading{})
		if err != nil {
			return
		}
		for _, err := range m.Chunks(context.Background(), 3, merf.All()) {
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

// FuzzLoadEmbedding: whatever the header says, an error or an embedding that a generator can be trained against.
func FuzzLoadEmbedding(f *testing.F) {
	var b bytes.Buffer
	if err := embedded(f, 20).Save(&b); err != nil {
		f.Fatal(err)
	}
	good, err := artefact.Read(&b)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(good.Header))
	f.Fuzz(func(t *testing.T, header []byte) {
		if !json.Valid(header) {
			return
		}
		var b bytes.Buffer
		if err := artefact.Write(&b, &artefact.File{Kind: merf.KindEmbedding, Header: header, Sections: good.Sections}); err != nil {
			t.Fatal(err)
		}
		e, err := merf.LoadEmbedding(&b)
		if err != nil || e.Schema().Dim() > 1000 {
			return
		}
		if _, err := merf.Train(context.Background(), e, merf.GeneratorConfig{Architecture: models.MLP{}, Latent: 1, Steps: 1, Batch: 2}); err != nil {
			t.Fatal(err)
		}
	})
}

// TestPlansAreSaved: a plan read back has the same bill, and one that lies about it is worked out again.
func TestPlansAreSaved(t *testing.T) {
	for _, r := range relations {
		c := small(records.Image(4, 4).WithLabels("a", "b"), r, rff.RBF{Dim: 8, Bandwidth: 2, Orthogonal: true})
		c.Batches, c.CountShare = merf.Batches{Probability: 0.1, Steps: 3}, 0.3
		p := mustPlan(t, c)
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var back merf.Plan
		if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back.Config, p.Config) || back.Total != p.Total || back.SumStd != p.SumStd {
			t.Errorf("%s became %+v, %v", text, back, err)
		}
		cheap := bytes.Replace(text, []byte(`"epsilon":4`), []byte(`"epsilon":1`), 1)
		if err := json.Unmarshal(cheap, &back); !errors.Is(err, accountant.ErrBudgetExceeded) {
			t.Errorf("a plan that claims to fit a smaller budget: %v", err)
		}
	}
}
