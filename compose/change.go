package compose

import (
	"fmt"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// A Change is one way to change synthetic images. The zero value changes nothing.
type Change struct {
	// Contrast stretches grey levels; the zero value does not.
	Contrast Contrast `json:"contrast,omitzero"`
	// Distortion is the strength of a [Distortion]; 0 means none.
	Distortion float64 `json:"distortion,omitempty"`
	// Normalize normalises the distortion; see [Distortion].
	Normalize bool `json:"normalize,omitempty"`
}

// defaultChanges returns the default candidates for images of a schema. Levels of colours are not
// stretched. defaultChanges returns nil for binary images and for records that are not images.
func defaultChanges(s records.Schema) []Change {
	switch {
	case !levels(s):
		return nil
	case s.Channels() > 1:
		return []Change{{}, {Distortion: 0.5}, {Distortion: 1}}
	}
	return []Change{{}, {Contrast: DefaultContrast}, {Distortion: 0.5},
		{Contrast: DefaultContrast, Distortion: 0.5},
		{Contrast: DefaultContrast, Distortion: 1}}
}

// String describes the change in words.
func (c Change) String() string {
	text := ""
	if c.Distortion != 0 {
		text = fmt.Sprintf("distorted by %g", c.Distortion)
		if c.Normalize {
			text += " and normalised"
		}
	}
	if (c.Contrast != Contrast{}) {
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("grey levels %g to %g stretched", c.Contrast.Black, c.Contrast.White)
	}
	if text == "" {
		return "unchanged"
	}
	return text
}

// Apply returns changed copies of synthetic records. The seed draws the distortions.
//
// Errors: *[param.Error] for a change that is not valid or does not fit the records.
func (c Change) Apply(rows records.Data, seed uint64) (records.Data, error) {
	if c == (Change{}) {
		return rows, nil
	}
	t, err := tableOf(rows)
	if err != nil {
		return nil, err
	}
	if c.Distortion != 0 {
		d := Distortion{Strength: c.Distortion, Seed: seed, Normalize: c.Normalize}
		if t, err = d.Apply(t); err != nil {
			return nil, err
		}
	}
	if (c.Contrast != Contrast{}) {
		if t, err = c.Contrast.Apply(t); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// tableOf returns the records as a table. Generators of user-defined systems may return other
// types.
func tableOf(rows records.Data) (*records.Table, error) {
	if t, ok := rows.(*records.Table); ok && t != nil {
		return t, nil
	}
	if rows != nil {
		rows = records.Clamped(rows)
		all, err := records.Concat(rows.Schema(), rows)
		if t, ok := all.(*records.Table); ok && err == nil && !records.Failed(rows) {
			return t, nil
		}
	}
	return nil, param.New("compose.Change.Apply.rows", fmt.Sprintf("%T", rows),
		"images, as a *records.Table or other data")
}

// check finds every mistake in a candidate for records of a schema.
func (c Change) check(k *param.Checker, path string, s records.Schema) {
	k.OK(!c.Normalize || c.Distortion != 0, path+".Normalize", c.Normalize,
		"false without a distortion")
	if c == (Change{}) {
		return
	}
	k.OK(levels(s), path, c.String(), "no change of records that are not images with levels")
	k.OK(!c.Normalize || s.IsImage() && s.Channels() == 1, path+".Normalize", c.Normalize,
		"false for images in colour")
	k.OK(c.Distortion >= 0 && c.Distortion <= mostDistortion, path+".Distortion", c.Distortion,
		fmt.Sprintf("a strength from 0 to %d", mostDistortion))
	if (c.Contrast != Contrast{}) {
		k.Add(c.Contrast.validate())
		k.OK(s.Kind() == records.GreyImage, path+".Contrast", c.Contrast,
			"no contrast for records that are not grey images")
	}
}

// levels reports whether the records are images whose pixels have levels between black and white.
func levels(s records.Schema) bool { return s.IsImage() && !s.IsBinary() }
