package augment

import (
	"fmt"

	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/records/retouch"
)

// A Candidate is one way to change synthetic images. The zero value changes nothing.
type Candidate struct {
	// Contrast stretches grey levels; the zero value does not.
	Contrast retouch.Contrast `json:"contrast,omitzero"`
	// Distortion is the strength of a [retouch.Distortion]; 0 means none.
	Distortion float64 `json:"distortion,omitempty"`
	// Normalize normalises the distortion; see [retouch.Distortion].
	Normalize bool `json:"normalize,omitempty"`
}

// usual has levels that were chosen on drawn digits.
var usual = retouch.Contrast{Black: 0.2, White: 0.8}

// Defaults returns the default candidates for images of a schema. Levels of colours are not
// stretched. Defaults returns nil for binary images and for records that are not images.
func Defaults(s records.Schema) []Candidate {
	switch {
	case !levels(s):
		return nil
	case s.Channels() > 1:
		return []Candidate{{}, {Distortion: 0.5}, {Distortion: 1}}
	}
	return []Candidate{{}, {Contrast: usual}, {Distortion: 0.5}, {Contrast: usual, Distortion: 0.5},
		{Contrast: usual, Distortion: 1}}
}

// String describes the change in words.
func (c Candidate) String() string {
	text := ""
	if c.Distortion != 0 {
		text = fmt.Sprintf("distorted by %g", c.Distortion)
		if c.Normalize {
			text += " and normalised"
		}
	}
	if (c.Contrast != retouch.Contrast{}) {
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
func (c Candidate) Apply(rows records.Data, seed uint64) (records.Data, error) {
	if c == (Candidate{}) {
		return rows, nil
	}
	t, ok := rows.(*records.Table)
	if !ok {
		return nil, param.New("augment.Candidate.Apply.rows", fmt.Sprintf("%T", rows),
			"a *records.Table of images")
	}
	var err error
	if c.Distortion != 0 {
		d := retouch.Distortion{Strength: c.Distortion, Seed: seed, Normalize: c.Normalize}
		if t, err = d.Apply(t); err != nil {
			return nil, err
		}
	}
	if (c.Contrast != retouch.Contrast{}) {
		if t, err = c.Contrast.Apply(t); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// check finds every mistake in a candidate for records of a schema.
func (c Candidate) check(k *param.Checker, path string, s records.Schema) {
	k.OK(!c.Normalize || c.Distortion != 0, path+".Normalize", c.Normalize,
		"false without a distortion")
	if c == (Candidate{}) {
		return
	}
	k.OK(levels(s), path, c.String(), "no change of records that are not images with levels")
	k.OK(!c.Normalize || s.IsImage() && s.Channels() == 1, path+".Normalize", c.Normalize,
		"false for images in colour")
	k.OK(c.Distortion >= 0 && c.Distortion <= mostDistortion, path+".Distortion", c.Distortion,
		fmt.Sprintf("a strength from 0 to %d", mostDistortion))
	if (c.Contrast != retouch.Contrast{}) {
		k.Add(c.Contrast.Validate())
		k.OK(s.Kind() == records.GreyImage, path+".Contrast", c.Contrast,
			"no contrast for records that are not grey images")
	}
}

// levels reports whether the records are images whose pixels have levels between black and white.
func levels(s records.Schema) bool { return s.IsImage() && !s.IsBinary() }

const mostDistortion = 10
