package main

import (
	"context"
	"fmt"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/evaluate"
	"github.com/seed7ba64551/privgen/evaluate/classify"
	"github.com/seed7ba64551/privgen/internal/examples/grid"
	"github.com/seed7ba64551/privgen/internal/examples/images"
	"github.com/seed7ba64551/privgen/records"
)

// report measures the quality of samples. The report is not private, and every line says so.
func report(ctx context.Context, c config, gen *privgen.Generator, d data) error {
	synthetic, err := gen.Sample(ctx, c.samples, privgen.Seed(c.seed))
	if err != nil {
		return err
	}
	fmt.Println("\nclassifiers trained on synthetic and on real images, tested on held-out real images")
	method := classify.Convolutional{}
	var u evaluate.Utility
	judge, err := method.Fit(d.private)
	if err != nil {
		return err
	}
	if u.Real, err = judge.Test(d.test); err != nil {
		return err
	}
	if u.Synthetic, err = testOn(method, synthetic, d.test); err != nil {
		return err
	}
	fmt.Printf("%-22s %v\n", method.Name(), u)
	score, err := evaluate.Inception(judge, synthetic, d.test)
	if err != nil {
		return err
	}
	fmt.Println(score)
	apart, err := evaluate.JensenShannon(classify.NeuralNetwork{Hidden: []int{64}}, synthetic,
		d.private, d.test)
	if err != nil {
		return err
	}
	fmt.Println(apart)
	return nil
}

func testOn(m classify.Method, train records.Data,
	test *records.Table) (classify.Classification, error) {
	judge, err := m.Fit(train)
	if err != nil {
		return classify.Classification{}, err
	}
	return judge.Test(test)
}

// across is the number of images in a row of the picture: two of each class.
const across = 20

// film collects a row of samples of the same codes at regular intervals.
type film struct {
	real *records.Table
	rows []grid.Row
}

func (f *film) take(step int, g *privgen.Generator) {
	var row [][]float32
	for class := range g.Schema().Classes() {
		two, err := g.Sample(context.Background(), across/g.Schema().Classes(), privgen.OfClass(class),
			privgen.Seed(uint64(class)))
		if err != nil {
			return
		}
		row = append(row, images.First(two, two.Len())...)
	}
	f.rows = append(f.rows, grid.Row{Caption: fmt.Sprint(step), Images: row})
}

func (f *film) save(path string) error {
	sheet := grid.Sheet{Height: side, Width: side,
		Rows: append([]grid.Row{{Caption: "real", Images: images.First(f.real, across)}}, f.rows...)}
	if err := sheet.Save(path); err != nil {
		return err
	}
	fmt.Println("wrote", path)
	return nil
}
