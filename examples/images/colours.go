package images

import (
	"errors"
	"flag"
	"strings"

	cifar "github.com/seed7ba64551/privgen/connect/images"
	"github.com/seed7ba64551/privgen/examples/images/shapes"
	"github.com/seed7ba64551/privgen/records"
)

// Colours names files of images in colour, in CIFAR-10's binary format. Shapes are drawn instead if
// Drawn is true.
type Colours struct {
	Drawn       bool
	Train, Test string // paths, separated by commas
}

// Flags defines the flags -shapes, -cifar and -cifar-test.
func (c *Colours) Flags(f *flag.FlagSet) {
	f.BoolVar(&c.Drawn, "shapes", false, "draw shapes in colour, of 32×32 pixels, instead of digits")
	f.StringVar(&c.Train, "cifar", "",
		"CIFAR-10's binary files of training images, plain or gz, separated by commas: 32×32 in colour")
	f.StringVar(&c.Test, "cifar-test", "",
		"CIFAR-10's binary files of held-out images (default: a tenth of the training images is held out)")
}

// Wanted reports whether images in colour are wanted.
func (c Colours) Wanted() bool { return c.Drawn || c.Train != "" || c.Test != "" }

// Schema describes the images.
func (c Colours) Schema() records.Schema {
	if c.Train != "" {
		return cifar.CIFAR10Schema()
	}
	return shapes.ColourSchema()
}

// Load reads the files, or draws shapes. If no file of held-out images is named, the last tenth of
// the training images is held out.
func (c Colours) Load(d Drawing) (train, test *records.Table, err error) {
	if c.Train == "" {
		return c.draw(d)
	}
	if c.Drawn {
		return nil, nil, errors.New("-shapes draws images, and -cifar reads them: give one of them")
	}
	if train, err = openCIFAR(c.Train); err != nil {
		return nil, nil, err
	}
	if c.Test != "" {
		test, err = openCIFAR(c.Test)
		return train, test, err
	}
	train, test = lastTenth(train)
	return train, test, nil
}

func (c Colours) draw(d Drawing) (train, test *records.Table, err error) {
	if c.Test != "" {
		return nil, nil, errors.New("-cifar-test needs -cifar")
	}
	if train, err = shapes.DrawColour(d.Train, d.TrainSeed); err != nil {
		return nil, nil, err
	}
	test, err = shapes.DrawColour(max(d.Test, 1), d.TestSeed)
	return train, test, err
}

func openCIFAR(paths string) (*records.Table, error) {
	return cifar.OpenCIFAR(cifar.CIFAR10Schema(), strings.Split(paths, ","))
}

// lastTenth holds out the last tenth of the images.
func lastTenth(all *records.Table) (train, held *records.Table) {
	cut := all.Len() - all.Len()/10
	return all.Slice(0, cut), all.Slice(cut, all.Len())
}
