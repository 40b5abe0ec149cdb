// Package images provides images for the examples. They come from idx files named on the command
// line, such as the files of MNIST. If no files are named, the program draws digits.
package images

import (
	"errors"
	"flag"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/examples/digits"
	"github.com/seed7ba64551/privgen/records"
)

// Files names idx files, plain or gz, of images of 28×28 pixels and of their labels. If Images is
// empty, digits are drawn.
type Files struct {
	Images, Labels         string
	TestImages, TestLabels string
}

// Flags defines flags that name the files. about describes the labels in the help text.
func (s *Files) Flags(f *flag.FlagSet, about string) {
	f.StringVar(&s.Images, "images", "",
		"idx file of 28×28 training images, plain or gz (default: digits drawn by the program)")
	f.StringVar(&s.Labels, "labels", "", "idx file of their labels, "+about)
	f.StringVar(&s.TestImages, "test-images", "",
		"idx file of held-out images (default: a tenth of the training images is held out)")
	f.StringVar(&s.TestLabels, "test-labels", "", "idx file of their labels")
}

// Drawing sets the numbers of digits to draw if no files are named, and the seeds.
type Drawing struct {
	Train, Test         int
	TrainSeed, TestSeed uint64
}

// Load reads the files, or draws digits if none are named. If no file of held-out images is named,
// the last tenth of the training images is held out.
func (s Files) Load(d Drawing) (train, test *records.Table, err error) {
	if s.Images == "" {
		return d.draw()
	}
	if train, err = open(s.Images, s.Labels); err != nil {
		return nil, nil, err
	}
	if s.TestImages != "" {
		test, err = open(s.TestImages, s.TestLabels)
		return train, test, err
	}
	train, test = lastTenth(train)
	return train, test, nil
}

func (d Drawing) draw() (train, test *records.Table, err error) {
	if train, err = digits.Draw(d.Train, d.TrainSeed); err != nil {
		return nil, nil, err
	}
	test, err = digits.Draw(max(d.Test, 1), d.TestSeed)
	return train, test, err
}

func open(images, labels string) (*records.Table, error) {
	if labels == "" {
		return nil, errors.New("-images needs -labels, and -test-images needs -test-labels")
	}
	return records.OpenIDX(images, labels, digits.Schema())
}

// First returns the pixels of the first n records, or of all records if there are fewer.
func First(data records.Data, n int) [][]float32 {
	var b device.Batch
	data.Range(0, min(n, data.Len()), &b)
	out := make([][]float32, b.Rows)
	for i := range out {
		out[i] = append([]float32(nil), b.Dense.Row(i)...)
	}
	return out
}

// Accuracy returns the fraction of records for which predict returns the label.
func Accuracy(data records.Data, predict func(device.Batch, []int32)) float64 {
	const chunk = 500
	right, named := 0, make([]int32, chunk)
	var b device.Batch
	for lo := 0; lo < data.Len(); lo += chunk {
		hi := min(lo+chunk, data.Len())
		data.Range(lo, hi, &b)
		predict(b, named[:hi-lo])
		for i, label := range b.Labels {
			if named[i] == label {
				right++
			}
		}
	}
	return float64(right) / float64(max(data.Len(), 1))
}
