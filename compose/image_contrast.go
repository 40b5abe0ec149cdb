package compose

import (
	"slices"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// Contrast stretches grey levels: levels up to Black become 0, and levels from White upwards become
// 1. Generated images are never quite black or white where real images are.
type Contrast struct {
	Black float64 `json:"black"`
	White float64 `json:"white"`
}

// validate reports levels that are not in [0, 1], or less than a hundredth apart.
//
// Errors: *[param.Error].
func (c Contrast) validate() error {
	var k param.Checker
	k.OK(c.Black >= 0 && c.White <= 1 && c.White-c.Black >= 0.01, "compose.Contrast", c,
		"two levels in [0, 1], with White at least 0.01 above Black")
	return k.Err()
}

// Apply returns stretched copies of grey images, with their labels.
//
// Errors: *[param.Error] for records that are not grey images.
func (c Contrast) Apply(t *records.Table) (*records.Table, error) {
	var k param.Checker
	k.Add(c.validate())
	k.OK(t.Schema().Kind() == records.GreyImage, "compose.Contrast.Apply.t", t.Schema(),
		"images of grey levels")
	if err := k.Err(); err != nil {
		return nil, err
	}
	flat, _ := t.Flat()
	out := slices.Clone(flat)
	c.stretch(out)
	return records.FromFlat(t.Schema(), out, t.Labels()...)
}

// stretch changes grey levels in place.
func (c Contrast) stretch(levels []float32) {
	black, width := float32(c.Black), float32(c.White-c.Black)
	for i, v := range levels {
		levels[i] = min(max((v-black)/width, 0), 1)
	}
}
