package models

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/device"
)

// VAE describes a variational autoencoder with a dense encoder and a dense decoder.
//
// Shapes: the encoder goes Dim → Hidden… → 2·Latent, the decoder
// Latent → Hidden reversed → Dim.
//
// Source: Kingma and Welling, "Auto-Encoding Variational Bayes", 2014. The encoder computes the
// logarithm ρ of the latent standard deviation from the output r of its last layer as ρ =
// 8·tanh(r/8). Near zero, ρ is about r, and exp(ρ) never overflows, even for very noisy parameters.
type VAE struct {
	Hidden     []int      `json:"hidden"`     // widths of the encoder's hidden layers
	Latent     int        `json:"latent"`     // latent coordinates
	Activation Activation `json:"activation"` // of hidden layers
	// OutputBias is the initial bias of every output, a public constant: for Bernoulli the logit of
	// the expected fraction of ones.
	OutputBias float64 `json:"output_bias,omitempty"`
	// KLWeight is β, the weight of the divergence from the prior; 0 means 1. Noise in the encoder's
	// weights moves the codes of records away from the prior, from which samples are drawn. With β
	// above 1, codes stay closer to the prior. Source: Higgins et al., "beta-VAE", 2017.
	KLWeight float64 `json:"kl_weight,omitempty"`
}

// Name returns "vae".
func (VAE) Name() string { return "vae" }

// Validate reports every mistake in the description, or nil if there is none.
//
// Errors: *param.Error values, joined.
func (a VAE) Validate() error {
	var c checker
	c.widths("models.VAE.Hidden", a.Hidden)
	c.positive("models.VAE.Latent", a.Latent)
	c.OK(a.Activation.known(), "models.VAE.Activation", int(a.Activation),
		"a constant of type models.Activation")
	c.finite("models.VAE.OutputBias", a.OutputBias)
	c.finite("models.VAE.KLWeight", a.KLWeight)
	c.OK(!(a.KLWeight < 0), "models.VAE.KLWeight", a.KLWeight, "a non-negative number")
	return c.Err()
}

// New builds the autoencoder with weights drawn from a public seed.
//
// Errors: joined *param.Error values.
func (a VAE) New(be device.Backend, v Visible, seed uint64) (Density, error) {
	var c checker
	c.OK(be != nil, "models.VAE.New", be, "a backend")
	c.Add(a.Validate())
	c.Add(v.Validate())
	if err := c.Err(); err != nil {
		return nil, err
	}
	return newVAE(a, be, v, seed), nil
}

type vae struct{ *vaeState }

type vaeState struct {
	*built
	arch    VAE
	visible Visible
	layout  *layout // layout of the blocks; nil if records have no blocks
	latent  *node
}

// sketch returns the computation: encoder, draw of the latent variables, decoder, loss.
func (a VAE) sketch(v Visible) (g *graph, latent *node, l *layout) {
	s := newSketch("encoder")
	x := s.input(v.Dim)
	h := s.dense(a.Activation.hidden(s, x, a.Hidden), device.Identity, 2*a.Latent)
	latent = s.add(&latentUnit{latent: a.Latent, beta: cmp.Or(a.KLWeight, 1)}, h)
	s.prefix, s.count = "decoder", 0
	widths := slices.Clone(a.Hidden)
	slices.Reverse(widths)
	sums := s.dense(a.Activation.hidden(s, latent, widths), v.output(), v.Dim)
	sums.unit.(*denseUnit).slope = device.Identity // the loss states the derivative before the output
	l = newLayout(v)
	s.end(&reconstruction{visible: v, layout: l}, sums, x)
	return s.done(), latent, l
}

func newVAE(a VAE, be device.Backend, v Visible, seed uint64) *vae {
	g, latent, l := a.sketch(v)
	rng := rand.New(rand.NewPCG(seed, 0x766165))
	n := &vae{&vaeState{built: newBuilt(be, g, newWeights(be, g, rng)), arch: a, visible: v, layout: l,
		latent: latent}}
	// Zero weights make the code of every record a draw from the prior at first. So training covers
	// every region from which samples will come, from the first step on.
	be.Fill(n.blocks[latent.from[0].first], 0)
	n.spread(rng)
	be.Fill(n.blocks[n.output().first+1], float32(a.OutputBias))
	return n
}

// output returns the decoder's last layer.
func (n *vae) output() *node { return n.g.last().from[0] }

// Replica implements [Replicable].
func (n *vae) Replica(be device.Backend) Network {
	if !alike(be, n.be) {
		return nil
	}
	r := *n.vaeState
	r.built = n.replica(be)
	return &vae{&r}
}

// spread gives the decoder's first hidden layer standard Gaussian biases. With zero biases the kink
// of every rectifier would pass through the origin, where the density of the prior is largest. The
// decoder could then distinguish codes near the origin only after learning the biases, which it
// hardly does under privacy noise.
func (n *vae) spread(rng *rand.Rand) {
	if len(n.arch.Hidden) > 0 {
		uploadNormals(n.be, n.blocks[n.g.nodes[n.latent.id+1].first+1], rng, 1)
	}
}

// Gradients returns the gradients of the negative evidence lower bound, with one draw of the latent
// variables for each example. The draw depends only on the example's key, or on its position in the
// batch if the batch has no keys.
func (n *vae) Gradients(b device.Batch) Gradients { return n.gradients(b) }

// sampleRows is the number of records that are decoded at a time.
const sampleRows = 256

// Sample decodes fresh draws from the standard Gaussian prior.
func (n *vae) Sample(rng *rand.Rand, dst device.Matrix) {
	t := n.idle()
	defer n.pool.Put(t)
	for lo := 0; lo < dst.Rows; lo += sampleRows {
		n.sampleBlock(t, rng, dst.RowRange(lo, min(lo+sampleRows, dst.Rows)))
	}
}

func (n *vae) sampleBlock(t *tape, rng *rand.Rand, dst device.Matrix) {
	t.begin(record{}, dst.Rows)
	z, out := t.keep(n.latent, 1, n.arch.Latent), n.output()
	t.host = grow(t.host, dst.Rows*n.arch.Latent)
	for i := range t.host {
		t.host[i] = float32(rng.NormFloat64())
	}
	n.be.Upload(z, t.host)
	t.set(n.latent, z)
	direct := !t.stage.remote || dst.Mem != nil
	if direct {
		t.dst = dst
	}
	t.forward(n.latent.id+1, out.id+1)
	n.layout.means(n.be, t.value(out))
	if !direct {
		downloadRows(n.be, dst, t.value(out))
	}
	t.dst = device.Matrix{}
	t.set(out, device.Matrix{}) // dst is the caller's
}

func downloadRows(be device.Backend, dst, src device.Matrix) {
	for i := range dst.Rows {
		be.Download(dst.Row(i), src.RowRange(i, i+1))
	}
}
