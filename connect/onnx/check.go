package onnx

import (
	"fmt"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
)

// check returns an error for layers that cannot be written as a graph, since user-defined networks
// may have any layers.
func check(layers []models.Layer) error {
	var c param.Checker
	c.OK(len(layers) > 0, "onnx.Network.Layers", 0, "at least one")
	numbers := 0
	for i, l := range layers {
		path := fmt.Sprintf("onnx.Network.Layers[%d]", i)
		c.OK(l.In > 0 && l.Out > 0, path, fmt.Sprintf("from %d to %d numbers", l.In, l.Out),
			"positive widths")
		c.OK(i == 0 || l.In == layers[i-1].Out, path+".In", l.In,
			"the size of the previous layer's output")
		_, known := functions[l.Func]
		c.OK(known || l.Func == device.Identity, path+".Func", int(l.Func), "a known function")
		c.OK(fits(l), path, l.Kind.String(), "a known kind with parameters and sizes that match it")
		for _, m := range []device.Matrix{l.Weight, l.Bias, l.Centre} {
			numbers += m.Rows * m.Cols
			c.OK(m.Mem == nil && len(m.Data) >= m.Rows*m.Cols, path, "a matrix on a device",
				"matrices on the host")
		}
	}
	c.OK(numbers <= mostNumbers, "onnx.Network.Layers", numbers,
		fmt.Sprintf("at most %d parameters", mostNumbers))
	return c.Err()
}

func fits(l models.Layer) bool {
	is := func(m device.Matrix, rows, cols int) bool { return m.Rows == rows && m.Cols == cols }
	switch w := l.Window; l.Kind {
	case models.DenseLayer:
		return is(l.Weight, l.In, l.Out) && is(l.Bias, 1, l.Out)
	case models.ConvolutionLayer:
		return slides(w) && l.In == w.Len() && l.Out == w.Places()*l.Maps &&
			is(l.Weight, w.Patch(), l.Maps) && is(l.Bias, 1, l.Maps)
	case models.TransposedLayer:
		return slides(w) && l.Out == w.Len() && l.In == w.Places()*l.Maps &&
			is(l.Weight, l.Maps, w.Patch()) && is(l.Bias, 1, w.Channels)
	case models.EnlargingLayer:
		return l.In == l.Image.Len() && l.Out == l.Image.Doubled().Len()
	case models.ScaleLayer:
		channels := l.Weight.Cols
		return l.In == l.Out && channels > 0 && l.In%channels == 0 && is(l.Weight, 1, channels) &&
			is(l.Bias, 1, channels) && is(l.Centre, 1, channels)
	case models.FunctionLayer:
		return l.In == l.Out
	case models.HeadsLayer:
		total := 0
		for _, h := range l.Heads {
			if h.Width < 1 || h.Out < models.Linear || h.Out > models.SoftmaxHead {
				return false
			}
			total += h.Width
		}
		return total == l.In && total == l.Out
	}
	return false
}

func slides(w device.Window) bool {
	return w.Size > 0 && w.Stride > 0 && w.Pad >= 0 && w.Places() > 0
}
