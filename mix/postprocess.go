package mix

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// Project returns the rows with features clamped to a schema's bounds and labels projected to the
// nearest shares, which are not negative and add up to 1.
//
// Guarantee: post-processing.
// Source of the projection to shares: Duchi, Shalev-Shwartz, Singer and Chandra 2008.
func Project(r *Rows, s records.Schema) *Rows {
	out := r.clone()
	s.Clamp(out.features)
	for i := range out.Len() {
		toShares(out.Labels(i))
	}
	return out
}

// toShares projects y to shares. It subtracts one number from all coordinates and sets negative
// results to zero. The number is chosen such that the results add up to 1.
func toShares(y []float32) {
	lo, hi := -1.0, 1.0
	for _, v := range y {
		lo, hi = min(lo, float64(v)-1), max(hi, float64(v))
	}
	off := bisect(lo, hi, 60, func(x float64) bool {
		sum := 0.0
		for _, v := range y {
			sum += max(0, float64(v)-x)
		}
		return sum > 1
	})
	for k, v := range y {
		y[k] = float32(max(0, float64(v)-off))
	}
}

// bisect returns the point of [lo, hi] at which below changes from true to false, approximated by
// the given number of bisections.
func bisect(lo, hi float64, rounds int, below func(x float64) bool) float64 {
	for range rounds {
		if mid := (lo + hi) / 2; below(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// Denoise returns rows of images smoothed by a Gaussian filter of the given standard deviation in
// pixels (the paper uses 1). Pixels beyond an edge are copies of the nearest pixel.
//
// Guarantee: post-processing.
//
// Errors: *param.Error for rows that are not images of the schema, and for a width outside (0,
// 100].
func Denoise(r *Rows, s records.Schema, width float64) (*Rows, error) {
	if r == nil {
		return nil, mistake("Denoise.r", nil, "rows")
	}
	if !s.IsImage() || s.Dim() != r.dim {
		return nil, mistake("Denoise.schema", s.String(),
			fmt.Sprintf("a schema of images with %d numbers, like the rows", r.dim))
	}
	if !positive(width) || width > 100 {
		return nil, mistake("Denoise.width", width, "a positive number of pixels, at most 100")
	}
	out := r.clone()
	down, across := normalFilter(s.Height(), width), normalFilter(s.Width(), width)
	be := device.CPU()
	half, image := be.New(s.Height(), s.Width()), be.New(s.Height(), s.Width())
	channels := s.Channels()
	for i := range out.Len() {
		for c := range channels {
			pixels := out.Features(i)[c:]
			for p := range image.Data {
				image.Data[p] = pixels[p*channels]
			}
			be.Gemm(false, false, 1, down, image, 0, half)
			be.Gemm(false, true, 1, half, across, 0, image)
			for p, v := range image.Data {
				pixels[p*channels] = v
			}
		}
	}
	return out, nil
}

// normalFilter returns the n×n matrix of a Gaussian filter with repeated edge pixels. Each row adds
// up to 1.
func normalFilter(n int, width float64) device.Matrix {
	m := device.HostMatrix(n, n, make([]float32, n*n))
	reach := int(math.Ceil(4 * width))
	for i := range n {
		weights, sum := make([]float64, n), 0.0
		for d := -reach; d <= reach; d++ {
			w := math.Exp(-float64(d*d) / 2 / width / width)
			weights[min(max(i+d, 0), n-1)] += w
			sum += w
		}
		for j, w := range weights {
			m.Data[i*n+j] = float32(w / sum)
		}
	}
	return m
}

// Whiten multiplies the deviations of features and labels from their means by √ℓ. The spread of
// mixtures is then about the spread of single records. A network trained on mixtures thus gets
// inputs on the scale of the records that it will classify.
//
// Guarantee: post-processing.
func (m *Model) Whiten() *Rows {
	out := m.Rows().clone()
	if m.made() != nil {
		return out
	}
	stretch(out.features, out.dim, m.work.degree())
	stretch(out.labels, out.classes, m.work.degree())
	return out
}

// stretch multiplies the deviations of columns from their means by √degree.
func stretch(flat []float32, cols, degree int) {
	if cols == 0 {
		return
	}
	n := len(flat) / cols
	mean := make([]float64, cols)
	for i, v := range flat {
		mean[i%cols] += float64(v) / float64(n)
	}
	f := math.Sqrt(float64(degree))
	for i, v := range flat {
		c := mean[i%cols]
		flat[i] = float32(c + f*(float64(v)-c))
	}
}

// Prepared projects and clips records in the same way as the mixed records, as a model trained on
// the release expects. The result is not private: use it to evaluate models, and do not release it.
//
// Errors: *param.Error for the zero value, for no records, and for records of another dimension.
func (m *Model) Prepared(t *records.Table) (*records.Table, error) {
	if err := m.made(); err != nil {
		return nil, err
	}
	c := m.work.config
	if t == nil {
		return nil, mistake("Prepared.t", nil, "records")
	}
	if t.Schema().Dim() != c.Schema.Dim() {
		return nil, mistake("Prepared.t", t.Schema().Dim(),
			fmt.Sprintf("records with %d coordinates, like the mixed ones", c.Schema.Dim()))
	}
	var flat []float32
	source := newSource(Config{Schema: c.Schema.WithoutLabels(), ClipNorm: c.ClipNorm,
		Projection: c.Projection}, t)
	source.reader().each(0, source.parts[0], func(_ int32, x []float32) {
		flat = append(flat, x...)
	})
	s := m.Schema().WithoutLabels()
	if t.Schema().Classes() > 0 {
		s = s.WithLabels(t.Schema().ClassNames()...)
	}
	return records.FromFlat(s, flat, t.Labels()...)
}
