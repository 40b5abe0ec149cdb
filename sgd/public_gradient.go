package sgd

import (
	"fmt"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
)

// publicPart is the gradient of the part of a network's loss that does not depend on records. It is
// added to the noised sum after the division by the nominal batch.
type publicPart struct {
	be     device.Backend
	net    models.PublicGradient
	sum    device.Params
	host   []float32
	joined []float64
}

// newPublicPart returns nil for a network without a public gradient.
func newPublicPart(be device.Backend, cfg Config, net models.Network) (*publicPart, error) {
	n, ok := net.(models.PublicGradient)
	if !ok {
		return nil, nil
	}
	if _, segmented := net.(Segmented); cfg.NominalBatch == 0 && !segmented {
		return nil, &param.Error{Path: "sgd.Config.NominalBatch", Value: cfg.NominalBatch,
			Want: fmt.Sprintf("a positive public number, since %T adds a public gradient to the mean", net)}
	}
	p := &publicPart{be: be, net: n, sum: device.NewParams(be, net.Params().Shapes...)}
	p.host, p.joined = p.sum.Flat.Data, make([]float64, p.sum.Len())
	if p.sum.Flat.Mem != nil {
		p.host = make([]float32, p.sum.Len())
	}
	return p, nil
}

// refresh computes the public gradient; it is called once in every step.
func (p *publicPart) refresh() {
	if p == nil {
		return
	}
	p.be.Fill(p.sum.Flat, 0)
	p.net.AddPublicGradient(p.sum)
	if p.sum.Flat.Mem != nil {
		p.be.Download(p.host, p.sum.Flat)
	}
}

// added returns the noised sum plus the public gradient ÷ scale, since the caller multiplies the
// result by scale. Concurrent calls are for disjoint ranges.
func (p *publicPart) added(lo int, noisy []float64, scale float64) []float64 {
	if p == nil {
		return noisy
	}
	out := p.joined[lo : lo+len(noisy)]
	for i, x := range noisy {
		out[i] = x + float64(p.host[lo+i])/scale
	}
	return out
}
