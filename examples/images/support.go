package images

import (
	"slices"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// support holds the pixels of grey images that are light in the images of each class. Distortions
// move a little light to pixels that are always black in undistorted images of the class. Some
// classifiers, in particular Gaussian naive Bayes, then learn wrong properties.
type support struct {
	schema records.Schema
	dark   [][]bool // by class, or one entry for images without classes
}

// supportOf returns the pixels that are not black (grey level 0) in more than the fraction rare of
// the images of a class. Use it on undistorted images after compose.Contrast, because
// generated images are never quite black without it. The support of a class without images is all
// pixels.
//
// Guarantee: post-processing of synthetic images. The support of private images is not private.
//
// Errors: *[param.Error] for records that are not grey images, or a fraction outside [0, 1).
func supportOf(t *records.Table, rare float64) (*support, error) {
	s := t.Schema()
	var k param.Checker
	k.OK(rare >= 0 && rare < 1, "images.supportOf.rare", rare, "a fraction in [0, 1)")
	k.OK(s.Kind() == records.GreyImage, "images.supportOf.t", s, "images of grey levels")
	if err := k.Err(); err != nil {
		return nil, err
	}
	classes := max(s.Classes(), 1)
	images, light := make([]int, classes), make([][]int, classes)
	for c := range light {
		light[c] = make([]int, s.Dim())
	}
	flat, _ := t.Flat()
	labels := t.Labels()
	for i := range t.Len() {
		c := class(labels, i)
		images[c]++
		for j, v := range flat[i*s.Dim() : (i+1)*s.Dim()] {
			if v > 0 {
				light[c][j]++
			}
		}
	}
	out := &support{schema: s, dark: make([][]bool, classes)}
	for c := range out.dark {
		out.dark[c] = make([]bool, s.Dim())
		for j, n := range light[c] {
			out.dark[c][j] = images[c] > 0 && float64(n) <= rare*float64(images[c])
		}
	}
	return out, nil
}

// apply returns copies of grey images, with their labels. Pixels outside the support of an image's
// class are black.
//
// Errors: *[param.Error] for images of another schema.
func (p *support) apply(t *records.Table) (*records.Table, error) {
	var k param.Checker
	k.OK(p.schema.Equal(t.Schema()), "images.support.apply.t", t.Schema(),
		"images of the schema of the support")
	if err := k.Err(); err != nil {
		return nil, err
	}
	flat, _ := t.Flat()
	out := slices.Clone(flat)
	labels := t.Labels()
	for i := range t.Len() {
		dark := p.dark[class(labels, i)]
		for j := range dark {
			if dark[j] {
				out[i*len(dark)+j] = 0
			}
		}
	}
	return records.FromFlat(t.Schema(), out, labels...)
}

// class returns the class of image i, or 0 for images without classes.
func class(labels []int32, i int) int {
	if len(labels) == 0 {
		return 0
	}
	return int(labels[i])
}
