package judge

import (
	"cmp"
	"errors"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// Convolutional trains a convolutional network on images. The zero value has two strided
// convolutions and one dense hidden layer.
type Convolutional struct {
	Convolutions []models.Convolution // nil for 16 and 32 maps of 5×5 windows, stride 2
	Hidden       []int                // widths of the dense hidden layers; nil for 128
	Training     NeuralNetwork        // Hidden is not used; 0 epochs for 5, rate 0 for 0.002
}

// Name returns "convolutional network".
func (Convolutional) Name() string { return "convolutional network" }

// Validate reports every setting that is invalid for all records.
//
// Errors: *[param.Error], joined.
func (m Convolutional) Validate() error { return m.Training.Validate() }

// Fit trains a classifier; see [NeuralNetwork.Fit] for guarantee.
//
// Errors: all errors of [NeuralNetwork.Fit]; *[param.Error] for records that are not images, and
// for mistakes in the description of the network.
func (m Convolutional) Fit(d records.Data) (*Classifier, error) { return Fit(m, d) }

// Learn trains on records that have been read.
func (m Convolutional) Learn(x *Design) (Scorer, error) {
	if !x.Schema.IsImage() {
		return nil, param.New("classify.Convolutional", x.Schema, "images")
	}
	m = m.withDefaults()
	height, width := x.Schema.Height(), x.Schema.Width()
	cnn := models.CNN{
		Height: height, Width: width, Channels: x.Dim / (height * width),
		Convolutions: m.Convolutions, Hidden: m.Hidden,
	}
	l := m.Training.withDefaults(x.Rows())
	net, err := cnn.Classifier(l.Backend, x.Dim, x.Classes, l.Seed)
	if err != nil {
		return nil, errors.Join(param.New("classify.Convolutional", x.Schema,
			"a network that fits the images"), err)
	}
	l.train(net, x)
	return network{net}, nil
}

func (m Convolutional) withDefaults() Convolutional {
	if m.Convolutions == nil {
		m.Convolutions = []models.Convolution{{Maps: 16, Size: 5, Stride: 2, Pad: 2},
			{Maps: 32, Size: 5, Stride: 2, Pad: 2}}
	}
	if m.Hidden == nil {
		m.Hidden = []int{128}
	}
	m.Training.Epochs = cmp.Or(m.Training.Epochs, 5)
	m.Training.LearningRate = cmp.Or(m.Training.LearningRate, 2e-3)
	return m
}
