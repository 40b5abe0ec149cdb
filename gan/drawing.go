package gan

import (
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
)

// A drawing draws the levels of fakes of tables.
type drawing struct {
	be     device.Backend
	blocks []network.Block
	told   *distributions // nil without Marginals
	flat   []float32
}

func newDrawing(be device.Backend, c Config) *drawing {
	return &drawing{be: be, blocks: network.TableBlocks(c.Schema)}
}

// show replaces each row's probabilities by drawn levels, in place. A nil drawing leaves rows
// unchanged.
func (d *drawing) show(rng *rand.Rand, x device.Matrix) {
	if d == nil {
		return
	}
	n := x.Rows * x.Cols
	if cap(d.flat) < n {
		d.flat = make([]float32, n)
	}
	flat := d.flat[:n]
	d.be.Download(flat, x)
	network.Levels(rng, d.blocks, flat)
	if d.told != nil {
		for lo := 0; lo < n; lo += x.Cols {
			d.told.snap(flat[lo : lo+x.Cols])
		}
	}
	d.be.Upload(x, flat)
}
