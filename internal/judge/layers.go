package judge

import (
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
)

// Layers returns the classifier as layers, for use in other programs; see connect/onnx. Their input
// is a record within the schema's bounds. Their output is Probabilities, or Scores for a classifier
// that has margins only. Networks and linear classifiers consist of layers. Trees, ensembles of
// trees and naive Bayes do not.
//
// Guarantee: none; see the package. The layers hold the same parameters as the classifier.
//
// Errors: *[param.Error], with the classifier's name, for a classifier that does not consist of
// layers.
func (c *Classifier) Layers() ([]models.Layer, error) {
	var list []models.Layer
	switch s := c.scorer.(type) {
	case network:
		list = s.net.Layers()
	case Linear:
		list = s.layers()
	case *LogLinear:
		list = s.layers()
		list = append(list, models.Layer{Kind: models.HeadsLayer, In: list[0].Out, Out: list[0].Out,
			Heads: []models.Head{{Width: list[0].Out, Out: models.SoftmaxHead}}})
	default:
		if l, ok := c.scorer.(models.Layered); ok {
			return l.Layers(), nil
		}
		return nil, param.New("classify.Classifier.Layers", c.name, "a network or a linear classifier")
	}
	return append(c.unitLayer(), list...), nil
}

// unitLayer returns a layer that scales records to [0,1], or none if records need no scaling.
func (c *Classifier) unitLayer() []models.Layer {
	lo, hi := c.schema.Bounds()
	if c.schema.Sparse() || lo == 0 && hi == 1 {
		return nil
	}
	one := func(v float64) device.Matrix {
		return device.HostMatrix(1, 1, []float32{float32(v)})
	}
	dim := c.schema.Dim()
	return []models.Layer{{Kind: models.ScaleLayer, In: dim, Out: dim, Centre: one(lo),
		Weight: one(1 / (hi - lo)), Bias: one(0)}}
}

// layers returns the affine function with an output for each class.
func (m Linear) layers() []models.Layer {
	in, classes := m.Weights.Rows, max(len(m.Bias), 2)
	l := models.Layer{Kind: models.DenseLayer, In: in, Out: classes,
		Weight: device.HostMatrix(in, classes, make([]float32, in*classes)),
		Bias:   device.HostMatrix(1, classes, make([]float32, classes))}
	bias := slices.Clone(m.Bias)
	if len(bias) == 1 { // the margin of the second of two classes
		bias = []float64{-bias[0] / 2, bias[0] / 2}
		for i, w := range m.Weights.Data {
			l.Weight.Data[2*i], l.Weight.Data[2*i+1] = -w/2, w/2
		}
	} else {
		copy(l.Weight.Data, m.Weights.Data)
	}
	for i, v := range bias {
		l.Bias.Data[i] = float32(v)
	}
	return []models.Layer{l}
}
