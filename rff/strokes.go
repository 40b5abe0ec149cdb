package rff

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

// Strokes describes grey images by the positions and orientations of their edges. For each cell of
// a grid it computes a histogram of the orientations of grey-level gradients. Each gradient is
// divided among the nearest cells and orientations. Before that, an image can be made upright. It
// is then centred, its slant is removed, and it is scaled to a fixed size. These changes follow
// from the moments of its grey levels. The features are meant for clustering, where two images of
// the same symbol should be close; a generator cannot be trained against them.
//
// Rows have norm 1, or 0 for an image of only one grey level, so a private sum of rows has
// sensitivity 1. A row depends on its image only.
//
// Source: Dalal and Triggs 2005 (histograms of oriented gradients), without their blocks; Casey
// 1970 (slant and size from moments).
type Strokes struct {
	Cells        int `json:"cells"`        // number along each side
	Orientations int `json:"orientations"` // number of angles between 0 and π
	// Blur is the standard deviation, in pixels, of the smoothing before gradients are taken.
	Blur float64 `json:"blur"`
	// Upright centres images and removes their slant. If Spread is not 0, upright images are also
	// scaled such that the standard deviation of the ink along the height is this fraction of the
	// height.
	Upright bool    `json:"upright,omitempty"`
	Spread  float64 `json:"spread,omitempty"`
}

// StrokesFor returns the settings that gave the best results for handwriting, scaled to the size of
// the images. They give 150 features: five by five cells with six orientations. The settings were
// chosen on generated digits of 28×28 pixels, not on records.
func StrokesFor(height, width int) Strokes {
	side := math.Sqrt(max(float64(height)*float64(width), 1)) / 28
	return Strokes{Cells: 5, Orientations: 6, Blur: side, Upright: true, Spread: 6.0 / 28}
}

const (
	mostCells        = 1 << 10 // along a side
	mostOrientations = 1 << 10
)

// Features implements [FeatureKernel]. Errors: *param.Error, also for a layout that does not
// describe grey images.
func (c Strokes) Features(l Layout, _ uint64) (Features, error) {
	return orNil[Features](c.new(l))
}

func (c Strokes) new(l Layout) (*strokeMap, error) {
	var k param.Checker
	l.validate(&k)
	if c.validate(&k, l); k.Err() != nil {
		return nil, k.Err()
	}
	return &strokeMap{config: c, in: l.In, height: l.Height, width: l.Width}, nil
}

func (c Strokes) validate(k *param.Checker, l Layout) {
	k.OK(l.image() && l.In == l.Height*l.Width, "rff.Strokes: layout",
		fmt.Sprintf("%d numbers of %d×%d pixels", l.In, l.Height, l.Width), "images in grey")
	k.OK(c.Cells >= 1 && c.Cells <= mostCells, "rff.Strokes.Cells", c.Cells, "from 1 to 1024")
	k.OK(c.Orientations >= 1 && c.Orientations <= mostOrientations, "rff.Strokes.Orientations",
		c.Orientations, "from 1 to 1024")
	k.OK(c.Blur >= 0 && c.Blur <= 1e3, "rff.Strokes.Blur", c.Blur, "from 0 to 1000 pixels")
	k.OK(c.Spread >= 0 && c.Spread <= 1, "rff.Strokes.Spread", c.Spread, "a fraction of the height")
	k.OK(c.Upright || c.Spread == 0, "rff.Strokes.Spread", c.Spread, "0 unless Upright")
}

// strokeMap computes the features of [Strokes] for images of one size. It is safe for concurrent
// use.
//
// Guarantee: the float32 row that Transform writes has a Euclidean norm of at most 1 for every
// record, even if values of the record are not finite.
type strokeMap struct {
	config            Strokes
	in, height, width int
}

// In returns the width of a record.
func (m *strokeMap) In() int { return m.in }

// Dim returns the number of features.
func (m *strokeMap) Dim() int { return m.config.Cells * m.config.Cells * m.config.Orientations }

// NormBound returns 1.
func (m *strokeMap) NormBound() float64 { return 1 }

// Transform writes the features of the batch's records into dst. It computes on the host for every
// device.
//
// Shapes: dst is b.Rows × Dim in be's memory; records have width In.
func (m *strokeMap) Transform(be device.Backend, b device.Batch, dst device.Matrix) {
	x, out := hostRows(be, b), hostDst(be, dst)
	parallel(be, b.Rows, 32*m.in, func(lo, hi int) {
		d := newDrawing(m)
		for i := lo; i < hi; i++ {
			d.features(x.Row(i), out.Row(i))
		}
	})
	toDevice(be, dst, out)
}

type strokeFile struct {
	Strokes Strokes `json:"strokes"`
	In      int     `json:"in"`
	Height  int     `json:"height"`
	Width   int     `json:"width"`
}

// MarshalJSON writes the description and the size of the images.
func (m *strokeMap) MarshalJSON() ([]byte, error) {
	return json.Marshal(strokeFile{m.config, m.in, m.height, m.width})
}

// UnmarshalJSON reads a map that MarshalJSON wrote. Errors: [ErrFormat], [*param.Error].
func (m *strokeMap) UnmarshalJSON(data []byte) error {
	var f strokeFile
	if err := param.Decode(data, &f); err != nil {
		return fmt.Errorf("%w: %v", ErrFormat, err)
	}
	read, err := f.Strokes.new(Layout{In: f.In, Height: f.Height, Width: f.Width})
	if err != nil {
		return err
	}
	*m = *read
	return nil
}
