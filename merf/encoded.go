package merf

import (
	"fmt"
	"sync"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/rff"
)

// Encoded is a kernel on codes: a public encoder maps each record to a code, and Kernel maps the
// code to features. It replaces the paper's auto-encoder variant, whose guarantee does not hold.
//
// Guarantee: the bounds of Kernel hold if the encoder is public. It must be trained on public
// records only and must not change. If an encoder is trained on the private records without noise,
// the features of every record depend on all records, and no guarantee holds.
type Encoded struct {
	Encoder models.Generator // maps records with coordinates in [0,1] to codes; without batch norm
	// Kernel is the feature map of codes. Its bounds must hold for any numbers that the encoder
	// computes, because codes are not clamped to [0,1]. The bounds of package rff's kernels do
	// hold.
	Kernel rff.EmbeddingKernel
}

// Embedding implements rff.EmbeddingKernel. Errors: *param.Error; all errors of Kernel.
func (k Encoded) Embedding(l rff.Layout, seed uint64) (rff.Embedding, error) {
	var c param.Checker
	c.OK(k.Kernel != nil, "merf.Encoded.Kernel", nil, "a feature map of codes")
	c.OK(k.Encoder != nil, "merf.Encoded.Encoder", nil, "a public network")
	if k.Encoder != nil {
		in := k.Encoder.Latent()
		c.OK(in == l.In, "merf.Encoded.Encoder", in,
			fmt.Sprintf("a network that takes records of %d coordinates", l.In))
		c.OK(len(k.Encoder.AppendState(nil)) == 0, "merf.Encoded.Encoder", "state",
			"an encoder without batch norm, which mixes records")
	}
	if err := c.Err(); err != nil {
		return nil, err
	}
	inner, err := k.Kernel.Embedding(rff.Layout{In: k.Encoder.Dim()}, seed)
	if err != nil {
		return nil, err
	}
	return &encoded{encoder: k.Encoder, inner: inner}, nil
}

// encoded is the embedding of an Encoded kernel.
type encoded struct {
	encoder models.Generator
	inner   rff.Embedding

	mu   sync.Mutex // guards the encoder's training mode
	grad device.Params
	pull device.Matrix
}

func (e *encoded) In() int              { return e.encoder.Latent() }
func (e *encoded) Dim() int             { return e.inner.Dim() }
func (e *encoded) NormBound() float64   { return e.inner.NormBound() }
func (e *encoded) ChangeBound() float64 { return e.inner.ChangeBound() }

// Transform computes the features of each record's code. Sets are first converted to rows of zeros
// and ones.
func (e *encoded) Transform(be device.Backend, b device.Batch, dst device.Matrix) {
	if b.Rows == 0 {
		return
	}
	x := b.Dense
	if b.Sparse != nil {
		x = spread01(be, b)
	}
	codes := be.New(b.Rows, e.encoder.Dim())
	e.encoder.Generate(x, codes)
	e.inner.Transform(be, device.Batch{Rows: b.Rows, Dense: codes}, dst)
}

// spread01 returns sets as rows of zeros and ones.
func spread01(be device.Backend, b device.Batch) device.Matrix {
	host := make([]float32, b.Rows*b.Sparse.Cols)
	for i := range b.Rows {
		for _, item := range b.Sparse.Items[b.Sparse.Offsets[i]:b.Sparse.Offsets[i+1]] {
			host[i*b.Sparse.Cols+int(item)] = 1
		}
	}
	x := be.New(b.Rows, b.Sparse.Cols)
	be.Upload(x, host)
	return x
}

// Backward propagates derivatives through the features and then through the encoder. The encoder's
// parameters do not change.
func (e *encoded) Backward(be device.Backend, x, delta, dx device.Matrix) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.pull.Rows < x.Rows {
		e.pull = be.New(x.Rows, e.encoder.Dim())
		e.grad = device.NewParams(be, e.encoder.Params().Shapes...)
	}
	pull := e.pull.RowRange(0, x.Rows)
	codes := e.encoder.Forward(x)
	e.inner.Backward(be, codes, delta, pull)
	e.encoder.Backward(pull, e.grad, dx)
}
