package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/examples/grid"
	"github.com/seed7ba64551/privgen/examples/images"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
)

// report writes samples and measures their quality. The report is not private, and every line says
// so.
func report(ctx context.Context, c config, gen *privgen.Generator, d data) error {
	drawn, err := c.draw(ctx, gen, d)
	if err != nil {
		return err
	}
	written, err := c.finish.Write(filepath.Join(c.out, "synthetic.npz"), drawn, c.seed)
	if err != nil {
		return err
	}
	fmt.Println("\nclassifiers trained on synthetic and on real images, tested on held-out real images")
	method := classify.Convolutional{}
	if err := compare(method, "synthetic", drawn, written, d.test); err != nil {
		return err
	}
	if d.public != nil {
		if err := publicAlone(c, method, d); err != nil {
			return err
		}
	}
	if c.brief {
		return nil
	}
	judge, err := method.Fit(d.private)
	if err != nil {
		return err
	}
	real, err := classify.Test(judge, d.test)
	if err != nil {
		return err
	}
	fmt.Printf("%-24s %v\n", "real", real)
	score, err := evaluate.Inception(judge, drawn, d.test)
	if err != nil {
		return err
	}
	fmt.Println(score)
	apart, err := evaluate.JensenShannon(classify.NeuralNetwork{Hidden: []int{64}}, drawn,
		d.private, d.test)
	if err != nil {
		return err
	}
	fmt.Println(apart)
	return nil
}

// compare prints the accuracy of classifiers trained on images as they are, and on images changed
// as the flags say.
func compare(m classify.Method, name string, drawn, written records.Data,
	test *records.Table) error {
	for i, train := range []records.Data{drawn, written} {
		got, err := testOn(m, train, test)
		if err != nil {
			return err
		}
		fmt.Printf("%-24s %v\n", name+[]string{", as drawn", ", changed"}[i], got)
	}
	return nil
}

// publicAlone prints the accuracy of classifiers that learn from public images only. The images are
// repeated up to the number of synthetic images, so that the number of training steps is the same.
// Every copy is distorted in another way.
func publicAlone(c config, m classify.Method, d data) error {
	drawn := copies(d.public, max(c.samples, d.public.Len()))
	changed, err := c.finish.Apply(drawn, c.seed)
	if err != nil {
		return err
	}
	return compare(m, fmt.Sprintf("%d public", d.public.Len()), drawn, changed, d.test)
}

func testOn(m classify.Method, train records.Data,
	test *records.Table) (classify.Classification, error) {
	judge, err := m.Fit(train)
	if err != nil {
		return classify.Classification{}, err
	}
	return classify.Test(judge, test)
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
