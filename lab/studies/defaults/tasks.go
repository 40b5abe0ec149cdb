package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/examples/images"
	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/demo"
	"github.com/seed7ba64551/privgen/report/evaluate"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
)

// task holds private records, records for the scores, and a nominal size.
type task struct {
	name          string
	private, held records.Data
	nominal       int
}

// tableShapes returns the shapes of tables on which the rules were fitted.
func tableShapes() (names []string, shapes map[string]demo.TableSource) {
	names = []string{"adult-like", "numbers", "five classes", "few", "bits"}
	return names, map[string]demo.TableSource{
		"adult-like": {Records: 20_000, Numbers: 6, Choices: 8, Levels: 16, Flags: 1, Classes: 2,
			Minority: 0.25, Seed: 1},
		"numbers": {Records: 20_000, Numbers: 25, Choices: 3, Levels: 6, Classes: 2, Minority: 0.1,
			Seed: 2},
		"five classes": {Records: 20_000, Numbers: 3, Choices: 12, Levels: 8, Flags: 4, Classes: 5,
			Seed: 3},
		"few": {Records: 1_500, Numbers: 4, Choices: 4, Levels: 5, Flags: 2, Classes: 2,
			Minority: 0.3, Seed: 4},
		"bits": {Records: 50_000, Flags: 20, Classes: 2, Minority: 0.4, Seed: 5},
	}
}

func setShapes() (names []string, shapes map[string]demo.SetSource) {
	names = []string{"transit", "shop", "clicks", "pages"}
	transit := demo.TransitRecords()
	transit.Records = 60_000
	return names, map[string]demo.SetSource{
		"transit": transit,
		"shop": {Records: 60_000, Universe: 12_000, MeanItems: 10, MaxItems: 76, Skew: 1.1,
			Communities: 60, Affinity: 0.5, Seed: 6},
		"clicks": {Records: 60_000, Universe: 497, MeanItems: 2.5, MaxItems: 200, Skew: 0.8,
			Communities: 20, Affinity: 0.5, Seed: 7},
		"pages": {Records: 200_000, Universe: 17, MeanItems: 3, MaxItems: 17, Skew: 0.8,
			Communities: 4, Affinity: 0.5, Seed: 8},
	}
}

// tasks returns the tasks that the flags name.
func (c config) tasks() ([]task, error) {
	switch {
	case c.train != "":
		return c.table()
	case c.sets != "":
		s := records.Sets(c.universe, c.maxItems)
		data, err := records.OpenTransactions(c.sets, s)
		return []task{{c.sets, data, data, c.nominal}}, err
	case c.files.Images != "":
		return c.pictures(images.Drawing{}, c.nominal)
	}
	return c.madeUp()
}

func (c config) wants(name string) bool {
	return c.shapes == "" || strings.Contains(","+c.shapes+",", ","+name+",")
}

func (c config) madeUp() (list []task, err error) {
	names, tables := tableShapes()
	for _, name := range names {
		if !c.wants(name) {
			continue
		}
		source := tables[name]
		private, err := source.Make()
		if err != nil {
			return nil, err
		}
		source.Draw, source.Records = 1, 8000
		held, err := source.Make()
		if err != nil {
			return nil, err
		}
		list = append(list, task{name, private, held, private.Len()})
	}
	names, sets := setShapes()
	for _, name := range names {
		if !c.wants(name) {
			continue
		}
		data, err := sets[name].Make()
		if err != nil {
			return nil, err
		}
		list = append(list, task{name, data, data, data.Len()})
	}
	if c.wants("digits") {
		digits, err := c.pictures(images.Drawing{Train: 20_000, TrainSeed: 1, Test: 4000, TestSeed: 1001},
			20_000)
		return append(list, digits...), err
	}
	return list, nil
}

// pictures returns grey images for systems that model classes, and black and white images without
// classes for DPGM.
func (c config) pictures(d images.Drawing, nominal int) ([]task, error) {
	train, test, err := c.files.Load(d)
	if err != nil {
		return nil, err
	}
	list := []task{{"digits", train, test, nominal}}
	if c.systems == "" || strings.Contains(c.systems, "dpgm") {
		black := records.Binarize(train, 0.5)
		list = append(list, task{"black digits", unlabelled{black}, black, nominal})
	}
	return list, nil
}

// unlabelled hides the classes of records. The records for the scores keep their classes.
type unlabelled struct{ *records.Table }

func (u unlabelled) Schema() records.Schema { return u.Table.Schema().WithoutLabels() }

func (c config) table() ([]task, error) {
	text, err := os.ReadFile(c.schema)
	if err != nil {
		return nil, err
	}
	var s records.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	csv := records.CSV{Header: c.header, Limits: program.Trusted()}
	for _, r := range c.comment {
		csv.Comment = r
	}
	private, err := csv.OpenFrame(c.train, s)
	if err != nil {
		return nil, err
	}
	if c.test == "" {
		var kept, held []int32
		rng := rand.New(rand.NewPCG(1, 0x73706c6974))
		for i := range private.Len() {
			if rng.Float64() < c.holdout {
				held = append(held, int32(i))
			} else {
				kept = append(kept, int32(i))
			}
		}
		return []task{{c.train, private.Take(kept), private.Take(held), c.nominal}}, nil
	}
	held, err := csv.OpenFrame(c.test, s)
	return []task{{c.train, private, held, c.nominal}}, err
}

// score measures the quality of synthetic records. The scores are not private.
func (t task) score(ctx context.Context, gen *privgen.Generator) (string, error) {
	s := t.private.Schema()
	switch {
	case s.Sparse():
		rows, err := gen.Sample(ctx, t.nominal)
		if err != nil {
			return "", err
		}
		errs, err := evaluate.Queries{}.Compare(t.private, rows)
		return fmt.Sprintf("error of counting queries %.4f", errs.MeanAny()), err
	case s.IsImage() && s.Classes() == 0:
		return t.clustering(gen)
	case s.IsImage():
		return t.pictures(ctx, gen)
	}
	return t.columns(ctx, gen)
}

// columns trains gradient boosting on synthetic rows, and compares the columns of synthetic and
// real rows.
func (t task) columns(ctx context.Context, gen *privgen.Generator) (string, error) {
	rows, err := gen.Sample(ctx, min(t.nominal, 32_561))
	if err != nil {
		return "", err
	}
	text := ""
	if s := t.private.Schema(); s.Kind() == records.MixedTable && rows.Schema().Equal(s) {
		f, err := evaluate.Fidelity{Pairs: 200, Groups: 50}.Compare(rows, t.private, t.held)
		if err != nil {
			return "", err
		}
		text = fmt.Sprintf("shapes %.4f, trends %.4f, ", f.Shapes.Synthetic, f.Trends.Synthetic)
	}
	if rows.Schema().Classes() == 0 {
		return text + "no classes", nil
	}
	model, err := classify.GradientBoosting{}.Fit(rows)
	if err != nil {
		return "", err
	}
	result, err := classify.Test(model, t.held)
	if err != nil {
		return "", err
	}
	return text + fmt.Sprintf("ROC %.4f, weighted F1 %.4f", result.Scores.ROC,
		result.WeightedF1()), nil
}

// pictures trains a convolutional network on synthetic images, or on moments estimated from
// mixtures.
func (t task) pictures(ctx context.Context, gen *privgen.Generator) (string, error) {
	if m, ok := gen.Model().(*mix.Model); ok {
		return t.mixtures(ctx, m)
	}
	rows, err := gen.Sample(ctx, min(t.nominal, 20_000))
	if err != nil {
		return "", err
	}
	model, err := classify.Convolutional{}.Fit(rows)
	if err != nil {
		return "", err
	}
	result, err := classify.Test(model, t.held)
	return fmt.Sprintf("accuracy of a CNN %.4f", result.Accuracy()), err
}

func (t task) mixtures(ctx context.Context, m *mix.Model) (string, error) {
	s := t.private.Schema()
	moments, err := m.Moments()
	if err != nil {
		return "", err
	}
	net, err := models.CNN{Height: s.Height(), Width: s.Width(), Channels: s.Channels(),
		Convolutions: []models.Convolution{{Maps: 16, Size: 5, Stride: 2, Pad: 2},
			{Maps: 32, Size: 5, Stride: 2, Pad: 2}}, Hidden: []int{128}}.
		Classifier(device.CPU(), s.Dim(), s.Classes(), 1)
	if err != nil {
		return "", err
	}
	if err := (mix.Trainer{Epochs: 5, Seed: 1}).FitMoments(ctx, net, moments, 20_000); err != nil {
		return "", err
	}
	shown, err := moments.Described(t.held.(*records.Table))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("accuracy of a CNN %.4f", images.Accuracy(shown, net.PredictClass)), nil
}

// clustering compares the system's clusters, if there are any, with classes that the system has not
// seen.
func (t task) clustering(gen *privgen.Generator) (string, error) {
	if gen.Clusters() < 2 {
		return "no clusters", nil
	}
	held := t.held.(*records.Table)
	assigned := make([]int32, held.Len())
	var b device.Batch
	const chunk = 4096
	for lo := 0; lo < held.Len(); lo += chunk {
		hi := min(lo+chunk, held.Len())
		held.Range(lo, hi, &b)
		gen.Assign(b, assigned[lo:hi])
	}
	c, err := evaluate.ClusteringAccuracy(assigned, held.Labels(), gen.Clusters())
	if err != nil || math.IsNaN(c.Accuracy()) {
		return "", err
	}
	return fmt.Sprintf("clustering accuracy %.3f, purity %.3f", c.Accuracy(), c.Purity()), nil
}
