package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/augment"
	"github.com/seed7ba64551/privgen/evaluate"
	"github.com/seed7ba64551/privgen/evaluate/classify"
	"github.com/seed7ba64551/privgen/internal/examples/grid"
	"github.com/seed7ba64551/privgen/internal/examples/images"
	"github.com/seed7ba64551/privgen/labelling"
	"github.com/seed7ba64551/privgen/records"
)

// report trains classifiers on synthetic and on real images and tests both on held-out real images.
// The report is not private, and every line says so.
func report(synthetic, train, test *records.Table) error {
	fmt.Println("\nclassifiers trained on synthetic and on real images, tested on held-out real images")
	suite := evaluate.Suite{Methods: []classify.Method{classify.Convolutional{},
		classify.NeuralNetwork{}}}
	all, err := suite.Compare(synthetic, train, test)
	if err != nil {
		return err
	}
	for _, u := range all.Methods {
		fmt.Printf("%-22s %v\n", u.Real.Model, u)
	}
	return nil
}

// agreement prints how often the private classifier agrees with the labels of generated images, and
// the classes in which it hardly does. Both are released, so this costs no privacy. It prints
// nothing without a classifier.
func agreement(gen *privgen.Generator) {
	if of, err := augment.Of(gen); err == nil {
		gen = of
	}
	m, ok := gen.Model().(*labelling.Model)
	if !ok {
		return
	}
	fmt.Println("the private classifier agrees with the labels of generated images, by class:")
	var poor []string
	for class, rate := range m.Agreement() {
		fmt.Printf("  %d: %.0f %%\n", class, 100*rate)
		if rate < 0.1 {
			poor = append(poor, strconv.Itoa(class))
		}
	}
	if len(poor) > 0 {
		fmt.Printf("warning: with the rule keep, most images of the classes %s are kept although the "+
			"classifier disagrees, and drawing them takes long\n", strings.Join(poor, ", "))
	}
}

// across is the number of images in a row of the picture.
const across = 16

// picture writes real images, and below them one row of synthetic images for each class. It shows
// them without the chosen change, which is made for classifiers.
func picture(ctx context.Context, c config, gen *privgen.Generator, real *records.Table) error {
	if of, err := augment.Of(gen); err == nil {
		gen = of
	}
	s := gen.Schema()
	sheet := grid.Sheet{Height: s.Height(), Width: s.Width(), Colours: s.Channels(),
		Rows: []grid.Row{{Caption: "real", Images: images.First(real, across)}}}
	for class := range s.Classes() {
		rows, err := gen.Sample(ctx, across, privgen.OfClass(class), privgen.Means(),
			privgen.Seed(c.seed))
		if err != nil {
			return err
		}
		sheet.Rows = append(sheet.Rows,
			grid.Row{Caption: s.ClassName(class), Images: images.First(rows, across)})
	}
	path := filepath.Join(c.out, "synthetic.png")
	if err := sheet.Save(path); err != nil {
		return err
	}
	fmt.Println("wrote", path)
	return nil
}
