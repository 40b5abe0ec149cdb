package dpgm

import (
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// A router finds the cluster of a record. It uses released centres only.
type router struct {
	features kmeans.Features
	clusters *kmeans.Model // nil if there is only one cluster
}

// newFeatures returns the space in which records are clustered.
func newFeatures(c Config) (kmeans.Features, error) {
	if c.Features == nil {
		return kmeans.Raw(c.Schema), nil
	}
	m, err := c.Features.Features(layout(c.Schema), c.Seed)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// layout describes encoded records to feature maps.
func layout(s records.Schema) rff.Layout {
	l := rff.Layout{In: s.Dim()}
	if s.IsImage() {
		l.Height, l.Width = s.Height(), s.Width()
	}
	return l
}

// assign sets dst to the cluster of every record of the batch.
func (r *router) assign(be device.Backend, b device.Batch, dst []int32) {
	if r.clusters == nil {
		clear(dst)
		return
	}
	r.clusters.Assign(be, r.features, b, dst)
}

// weights returns the probabilities of the clusters, which are proportional to their noisy sizes.
// Negative sizes are set to zero.
func (r *router) weights() []float64 {
	if r.clusters == nil {
		return []float64{1}
	}
	return r.clusters.Weights()
}
