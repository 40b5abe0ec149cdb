package compose_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

// TestFilesBoundTheFirstDraw checks that a small file of labels is refused before the first draw
// if its features take much memory, or much time because of the number of tries, and that wide
// records take little memory to draw. Limits for trusted files allow what is refused.
func TestFilesBoundTheFirstDraw(t *testing.T) {
	s := records.Interval(8192, 0, 1).WithLabels("low", "high")
	c := compose.Labels{Nominal: 20, Features: rff.RBF{Dim: 4, Bandwidth: 1}, Of: merf.Config{
		Kernel: rff.RBF{Dim: 4, Bandwidth: 1}, Generator: merf.GeneratorConfig{Steps: 1, Batch: 2,
			Latent: 1, Architecture: models.MLP{Hidden: []int{1}}}}}
	p := must(c.PlanFor(s, budgetUnder(0)))(t)
	g := must(p.Fit(t.Context(), lowAndHigh(t, s, 20)))(t)
	var file bytes.Buffer
	if err := g.Save(&file); err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		dim, tries int
		refused    bool
	}{{16384, 20, true}, {600, 1000, true}, {600, 20, false}, {4, 50, false}} {
		changed := labelFile(t, file.Bytes(), of.dim, of.tries)
		before := allocatedBytes()
		back, err := compose.Systems(systems).Load(bytes.NewReader(changed))
		if err == nil {
			_, err = back.Sample(context.Background(), 3)
		}
		var limit *records.LimitError
		if got := allocatedBytes() - before; got > 37<<20 || errors.As(err, &limit) != of.refused ||
			err != nil && !errors.Is(err, synth.ErrFormat) {
			t.Errorf("%+v: %d MB for %d bytes, %v", of, got>>20, len(changed), err)
		}
		if _, err := compose.Systems(systems).Load(bytes.NewReader(changed),
			synth.WithLimits(records.Limits{Parameters: 1 << 30})); err != nil {
			t.Errorf("%+v: a trusted file is refused: %v", of, err)
		}
	}
}

// labelFile returns a file of labels with another number of features and of tries.
func labelFile(t *testing.T, file []byte, dim, tries int) []byte {
	t.Helper()
	f := must(synth.DecodeFile(bytes.NewReader(file)))(t)
	header := strings.Replace(string(f.Header), `"dim":4,`, fmt.Sprintf(`"dim":%d,`, dim), 1)
	header = strings.Replace(header, `"tries":20`, fmt.Sprintf(`"tries":%d`, tries), 1)
	f.Header, f.Sections[0].Data = []byte(header), make([]byte, 4*(dim+1)*2)
	var out bytes.Buffer
	if err := f.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func allocatedBytes() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// TestPlannedLabelsCanBeRead checks that labels are planned only if their plan can be read, also
// as a part of another composition, and that the draws which they describe take no more than about
// a second for a record.
func TestPlannedLabelsCanBeRead(t *testing.T) {
	grey, colour := records.Image(28, 28), records.RGBImage(64, 64)
	var many []string
	for i := range 400 {
		many = append(many, fmt.Sprint(i))
	}
	for _, of := range []struct {
		schema  records.Schema
		tries   int
		refused bool
	}{{grey.WithLabels("a", "b"), 250, false}, {grey.WithLabels("a", "b"), 1000, true},
		{colour.WithLabels("a", "b"), 20, false}, {colour.WithLabels("a", "b"), 50, true},
		{colour.WithLabels(many...), 5, true}} {
		labels := compose.Labels{Nominal: 20, Tries: of.tries, Of: merf.Config{
			Kernel: rff.RBF{Dim: 4, Bandwidth: 1}, Generator: merf.GeneratorConfig{Latent: 1,
				Architecture: models.MLP{Hidden: []int{1}}}}}
		for _, d := range []synth.Design{labels, compose.Changes{Of: labels}} {
			p, err := d.PlanFor(of.schema, budgetUnder(0))
			if (err != nil) != of.refused || err != nil && !errors.As(err, new(*param.Error)) {
				t.Errorf("%T of %v, %d tries: %v", d, of.schema, of.tries, err)
			}
			if err != nil {
				continue
			}
			text, err := p.MarshalJSON()
			if err == nil {
				_, err = compose.Systems(systems).ReadPlan(text)
			}
			if err != nil {
				t.Errorf("%T of %v, %d tries cannot be read: %v", d, of.schema, of.tries, err)
			}
		}
	}
}

// TestTriesMultiplyTheCostOfNetworks checks that the limits for a network in a file of labels are
// divided by the number of tries, since every try draws from the network.
func TestTriesMultiplyTheCostOfNetworks(t *testing.T) {
	s := records.Interval(64, 0, 1).WithLabels("low", "high")
	c := compose.Labels{Nominal: 20, Features: rff.RBF{Dim: 4, Bandwidth: 1}, Of: merf.Config{
		Kernel: rff.RBF{Dim: 4, Bandwidth: 1}, Generator: merf.GeneratorConfig{Steps: 1, Batch: 2,
			Latent: 1, Architecture: models.ConvDecoder{Height: 8, Width: 8, Channels: 1, Maps: []int{8},
				Size: 3, Output: device.Sigmoid}}}}
	p, err := c.PlanFor(s, budgetUnder(0))
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Fit(t.Context(), lowAndHigh(t, s, 20))
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := g.Save(&file); err != nil {
		t.Fatal(err)
	}
	for tries, refused := range map[int]bool{20: false, 900: false, 1000: true} {
		_, err := compose.Systems(systems).Load(bytes.NewReader(labelFile(t, file.Bytes(), 4, tries)),
			synth.WithLimits(records.Limits{Parameters: 130_000})) // 2784 for each 20 tries
		var limit *records.LimitError
		if errors.As(err, &limit) != refused || err != nil && !refused {
			t.Errorf("%d tries: %v", tries, err)
		}
	}
}

// TestRejectedRecordsLeaveLittleBehind checks that a small file whose classifier accepts no record
// allocates little for each try: neither copies of the records kept so far, nor lists of levels.
func TestRejectedRecordsLeaveLittleBehind(t *testing.T) {
	vectors := records.Interval(1024, 0, 1).WithLabels("a", "b")
	var levels []string
	for i := range 500 {
		levels = append(levels, fmt.Sprint(i))
	}
	table := must(records.NewSchema(records.Label("c", "a", "b"), records.Categorical("x", levels...),
		records.Categorical("y", levels...), records.Categorical("z", levels...)))(t)
	rows := must(records.FromValues(table, []any{"a", "0", "1", "2"}, []any{"b", "3", "1", "2"}))(t)
	for _, of := range []struct {
		data records.Data
		of   synth.Design
		most uint64
	}{
		{must(records.FromFlat(vectors, make([]float32, 4*1024), 0, 1, 0, 1))(t), merf.Config{
			Kernel: rff.RBF{Dim: 4, Bandwidth: 1}, Generator: merf.GeneratorConfig{Steps: 1, Batch: 2,
				Latent: 1, Architecture: models.MLP{Hidden: []int{1}}}}, 64 << 20},
		{rows, tables.AIM{Rounds: 3, Common: tables.Common{Bins: 4}}, 40 << 20},
	} {
		c := compose.Labels{Nominal: 20, Tries: 1000, Margin: 0.9, Share: 0.5,
			Features: rff.RBF{Dim: 2, Bandwidth: 1}, Of: of.of}
		g := must(must(c.PlanFor(of.data.Schema(), budgetUnder(0)))(t).Fit(t.Context(), of.data))(t)
		var file, hostile bytes.Buffer
		if err := g.Save(&file); err != nil {
			t.Fatal(err)
		}
		f := must(synth.DecodeFile(&file))(t)
		clear(f.Sections[0].Data) // the classifier's parameters
		if err := f.Write(&hostile); err != nil {
			t.Fatal(err)
		}
		before := allocatedBytes()
		back := must(compose.Systems(append(tables.Systems(), systems...)).Load(&hostile))(t)
		_ = must(back.Sample(t.Context(), 3))(t)
		if got := allocatedBytes() - before; got > of.most {
			t.Errorf("%v: %d MB, want at most %d", of.data.Schema(), got>>20, of.most>>20)
		}
	}
}
