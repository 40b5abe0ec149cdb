package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/examples/grid"
	"github.com/seed7ba64551/privgen/examples/images"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
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
	rates, err := compose.Agreement(unchanged(gen))
	if err != nil {
		return // no classifier
	}
	fmt.Println("the private classifier agrees with the labels of generated images, by class:")
	var poor []string
	for class, rate := range rates {
		fmt.Printf("  %d: %.0f %%\n", class, 100*rate)
		if rate < rarely {
			poor = append(poor, strconv.Itoa(class))
		}
	}
	if len(poor) > 0 {
		fmt.Printf("warning: most images of the classes %s are kept although the classifier "+
			"disagrees, and drawing them takes long\n", strings.Join(poor, ", "))
	}
}

// rarely is a rate of agreement below which most kept images have labels with which the classifier
// disagrees.
const rarely = 0.1

// shown returns the generator of the picture's images.
func (c config) shown(gen *privgen.Generator) *privgen.Generator {
	gen = unchanged(gen)
	if !c.keep {
		return gen
	}
	strict, err := compose.WithMargin(gen, certain)
	if err != nil {
		return gen
	}
	if rates, err := compose.Agreement(strict); err != nil || slices.Min(rates) < rarely {
		return gen // the classifier is hardly ever certain of some class
	}
	return strict
}

// unchanged returns the generator of images without the chosen change, if there is one.
func unchanged(gen *privgen.Generator) *privgen.Generator {
	if _, err := compose.Chosen(gen); err == nil {
		if of, err := compose.Part(gen, 0); err == nil {
			return of
		}
	}
	return gen
}

// across is the number of images in a row of the picture.
const across = 16

// certain is the margin by which the private classifier must prefer the label of an image in the
// picture. Among images of smaller margins, some look like two digits.
const certain = 0.9

// picture writes one row of synthetic images for each class, and no real image, so it may be
// published. It shows them without the chosen change, which is made for classifiers. Grey levels
// are stretched, and if the private classifier chooses images, it must be certain. Both are
// post-processing.
func picture(ctx context.Context, c config, gen *privgen.Generator) error {
	gen = c.shown(gen)
	s := gen.Schema()
	sheet := grid.Sheet{Height: s.Height(), Width: s.Width(), Colours: s.Channels()}
	for class := range s.Classes() {
		rows, err := gen.Sample(ctx, across, privgen.OfClass(class), privgen.Means(),
			privgen.Seed(c.seed))
		if err != nil {
			return err
		}
		table, ok := rows.(*records.Table)
		if !ok {
			return fmt.Errorf("samples are %T, not a table of images", rows)
		}
		drawn, err := images.Finish{Contrast: s.Channels() == 1}.Apply(table, c.seed)
		if err != nil {
			return err
		}
		sheet.Rows = append(sheet.Rows,
			grid.Row{Caption: s.ClassName(class), Images: images.First(drawn, across)})
	}
	path := filepath.Join(c.out, "synthetic.png")
	if err := sheet.Save(path); err != nil {
		return err
	}
	fmt.Println("wrote", path)
	return nil
}
