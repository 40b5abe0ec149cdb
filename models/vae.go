package models

import (
	"math"
	"math/rand/v2"
	"sync"

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

// klWeight returns β.
func (a VAE) klWeight() float64 {
	if a.KLWeight == 0 {
		return 1
	}
	return a.KLWeight
}

// logStdRange bounds the absolute value of the latent log standard deviation.
const logStdRange = 8

type vae struct{ *vaeState }

type vaeState struct {
	arch    VAE
	visible Visible
	layout  *layout // layout of the blocks; nil if records have no blocks
	be      device.Backend
	params  device.Params
	enc     *stack
	dec     *stack

	stage      staging
	encT, decT *trace
	rows       int
	room       int
	normals    []float32
	eps        device.Matrix // reparametrisation draws
	squashed   device.Matrix // tanh(r/8)
	std        device.Matrix
	z, dz, tmp device.Matrix
	scratch    sync.Pool
}

func newVAE(a VAE, be device.Backend, v Visible, seed uint64) *vae {
	n := layersOfVAE(a, be, v)
	n.params = device.NewParams(be, append(n.enc.shapes("encoder"), n.dec.shapes("decoder")...)...)
	n.rebind()
	rng := rand.New(rand.NewPCG(seed, 0x766165))
	n.enc.initialise(rng, a.Activation.gain())
	n.dec.initialise(rng, a.Activation.gain())
	// Zero weights make the code of every record a draw from the prior at first. So training covers
	// every region from which samples will come, from the first step on.
	be.Fill(n.enc.weights[n.enc.layers()-1], 0)
	n.spread(rng)
	be.Fill(n.dec.biases[n.dec.layers()-1], float32(a.OutputBias))
	return n
}

// layersOfVAE returns an autoencoder without parameters.
func layersOfVAE(a VAE, be device.Backend, v Visible) *vae {
	n := &vae{&vaeState{arch: a, visible: v, layout: newLayout(be, v), be: be, stage: newStaging(be)}}
	n.enc = newStack(be, encoderWidths(a, v.Dim),
		hiddenFuncs(a.Activation, len(a.Hidden), device.Identity))
	n.dec = newStack(be, decoderWidths(a, v.Dim), hiddenFuncs(a.Activation, len(a.Hidden), v.output()))
	n.encT, n.decT = newTrace(n.enc), newTrace(n.dec)
	return n
}

// Replica implements [Replicable].
func (n *vae) Replica(be device.Backend) Network {
	r := layersOfVAE(n.arch, be, n.visible)
	r.params = n.params
	r.rebind()
	return r
}

// spread gives the decoder's first hidden layer standard Gaussian biases. With zero biases the kink
// of every rectifier would pass through the origin, where the density of the prior is largest. The
// decoder could then distinguish codes near the origin only after learning the biases, which it
// hardly does under privacy noise.
func (n *vae) spread(rng *rand.Rand) {
	if n.dec.layers() > 1 {
		uploadNormals(n.be, n.dec.biases[0], rng, 1)
	}
}

func encoderWidths(a VAE, dim int) []int {
	w := append([]int{dim}, a.Hidden...)
	return append(w, 2*a.Latent)
}

func decoderWidths(a VAE, dim int) []int {
	w := []int{a.Latent}
	for i := len(a.Hidden) - 1; i >= 0; i-- {
		w = append(w, a.Hidden[i])
	}
	return append(w, dim)
}

func hiddenFuncs(a Activation, hidden int, last device.Func) []device.Func {
	fs := make([]device.Func, hidden+1)
	for i := range fs {
		fs[i] = a.fn()
	}
	fs[hidden] = last
	return fs
}

func (n *vae) rebind() {
	n.enc.bind(n.params, 0)
	n.dec.bind(n.params, 2*n.enc.layers())
}

// Dim returns the number of coordinates of a record.
func (n *vae) Dim() int { return n.visible.Dim }

// Params returns the encoder's blocks followed by the decoder's.
func (n *vae) Params() device.Params { return n.params }

// Bind moves the parameters into p.
func (n *vae) Bind(p device.Params) {
	n.be.Apply(device.Identity, p.Flat, n.params.Flat)
	n.params = p
	n.rebind()
}

func (n *vae) resize(rows int) {
	if rows > n.room {
		n.room = roomFor(rows)
		for _, m := range []*device.Matrix{&n.eps, &n.squashed, &n.std, &n.z, &n.dz, &n.tmp} {
			*m = n.be.New(n.room, n.arch.Latent)
		}
	}
	n.rows = rows
}

// Gradients returns the gradients of the negative evidence lower bound, with one draw of the latent
// variables for each example. The draw depends only on the example's key, or on its position in the
// batch if the batch has no keys.
func (n *vae) Gradients(b device.Batch) Gradients {
	n.resize(b.Rows)
	x := n.stage.record(b)
	n.encT.forward(x, b.Rows)
	if b.Rows == 0 {
		n.decT.forward(record{}, 0)
		return n
	}
	n.draw(b)
	n.decT.forward(record{dense: n.cut(n.z)}, b.Rows)
	n.layout.means(n.decT.last())
	// For both likelihoods, and for the cross-entropy of a softmax, the derivative with respect to the
	// sums before the output function is mean − record. The output itself is not needed again, so the
	// delta overwrites it.
	n.decT.deltas[n.dec.layers()-1] = n.decT.last()
	n.stage.subtract(n.decT.last(), x)
	n.layout.dropMissing(n.decT.last(), x.dense)
	n.decT.backward()
	n.decT.inputDelta(n.cut(n.dz))
	n.latentDelta()
	n.encT.backward()
	return n
}

func (n *vae) cut(m device.Matrix) device.Matrix { return m.RowRange(0, n.rows) }

// head returns the columns of m for the encoder's mean and raw log standard deviation, or for their
// deltas.
func (n *vae) head(m device.Matrix) (mean, raw device.Matrix) {
	l := n.arch.Latent
	return m.Slice(0, n.rows, 0, l), m.Slice(0, n.rows, l, 2*l)
}

// draw sets z = μ + σε with σ = exp(8·tanh(r/8)).
func (n *vae) draw(b device.Batch) {
	n.drawNormals(b)
	mean, raw := n.head(n.encT.last())
	squashed, std, z := n.cut(n.squashed), n.cut(n.std), n.cut(n.z)
	n.be.Fill(squashed, 0)
	n.be.Axpy(1.0/logStdRange, raw, squashed)
	n.be.Apply(device.Tanh, squashed, squashed)
	n.be.Fill(std, 0)
	n.be.Axpy(logStdRange, squashed, std)
	n.be.Apply(device.Exp, std, std)
	n.be.Mul(z, std, n.cut(n.eps))
	n.be.Axpy(1, mean, z)
}

func (n *vae) drawNormals(b device.Batch) {
	l := n.arch.Latent
	n.normals = grow(n.normals, n.rows*l)
	for i := range n.rows {
		key := uint64(i)
		if b.Keys != nil {
			key = b.Keys[i]
		}
		keyedNormals(n.normals[i*l:(i+1)*l], key)
	}
	n.be.Upload(n.cut(n.eps), n.normals)
}

// latentDelta computes the delta of the encoder's output from dz = ∂loss/∂z. With KL = Σ ½(μ²+σ²−1)
// − ρ, weighted by β, the derivatives are ∂/∂μ = dz + βμ and ∂/∂r = (dz·ε·σ + β(σ² − 1))·(1−tanh²).
func (n *vae) latentDelta() {
	mean, _ := n.head(n.encT.last())
	dMean, dRaw := n.head(n.encT.lastDelta())
	dz, std, tmp := n.cut(n.dz), n.cut(n.std), n.cut(n.tmp)
	n.be.Apply(device.Identity, dMean, dz)
	beta := float32(n.arch.klWeight())
	n.be.Axpy(beta, mean, dMean)
	n.be.Mul(dRaw, dz, n.cut(n.eps))
	n.be.Mul(dRaw, dRaw, std)
	n.be.Mul(tmp, std, std)
	n.be.Axpy(beta, tmp, dRaw)
	n.be.Fill(tmp, -beta)
	n.be.Axpy(1, tmp, dRaw)
	n.be.Gradient(device.Tanh, dRaw, n.cut(n.squashed))
}

// SquaredNorms sets dst to the squared norms over encoder and decoder together, which are clipped
// as one gradient.
func (n *vae) SquaredNorms(dst []float64) {
	clear(dst[:n.rows])
	n.encT.addSquaredNorms(dst)
	n.decT.addSquaredNorms(dst)
}

// AddWeightedSum adds Σ wᵢ gᵢ to dst.
func (n *vae) AddWeightedSum(dst device.Params, weights []float32) {
	n.encT.addWeightedSum(dst, 0, weights)
	n.decT.addWeightedSum(dst, 2*n.enc.layers(), weights)
}

// Losses sets dst to −ELBO of each example, up to the constant of a Gaussian
// likelihood.
func (n *vae) Losses(dst []float64) {
	mean, _ := n.head(n.encT.last())
	mean = toHost(n.be, mean, nil)
	squashed := toHost(n.be, n.cut(n.squashed), nil)
	delta := toHost(n.be, n.decT.lastDelta(), nil)
	for i := range n.rows {
		dst[i] = n.arch.klWeight() * klRow(mean.Row(i), squashed.Row(i))
	}
	n.addReconstruction(dst, delta)
}

func klRow(mean, squashed []float32) float64 {
	kl := 0.0
	for j, m := range mean {
		rho := logStdRange * float64(squashed[j])
		kl += 0.5*(float64(m)*float64(m)+math.Expm1(2*rho)) - rho
	}
	return kl
}

// addReconstruction adds the reconstruction loss of every example to dst. It computes the means as
// delta + record.
func (n *vae) addReconstruction(dst []float64, delta device.Matrix) {
	x := make([]float32, n.visible.Dim)
	for i := range n.rows {
		n.hostRecord(x, i)
		if n.layout != nil {
			dst[i] += n.layout.loss(n.visible.Likelihood, delta.Row(i), x)
			continue
		}
		for j, d := range delta.Row(i) {
			dst[i] += n.visible.Likelihood.loss(float64(d)+float64(x[j]), float64(x[j]))
		}
	}
}

func (n *vae) hostRecord(x []float32, i int) {
	if s := n.encT.x.sparse; s != nil {
		clear(x)
		for _, item := range s.Row(i) {
			x[item]++
		}
		return
	}
	n.be.Download(x, n.encT.x.dense.RowRange(i, i+1))
}

// loss returns the loss of one coordinate, with probabilities kept away from 0 and 1.
func (l Likelihood) loss(mean, x float64) float64 {
	if l == GaussianUnit {
		return 0.5 * (mean - x) * (mean - x)
	}
	p := min(max(mean, 1e-7), 1-1e-7)
	return -x*math.Log(p) - (1-x)*math.Log1p(-p)
}

// sampleRows is the number of records that are decoded at a time.
const sampleRows = 256

type vaeScratch struct {
	normals []float32
	z, out  device.Matrix
	hidden  []device.Matrix
}

func (n *vae) newScratch() *vaeScratch {
	s := &vaeScratch{normals: make([]float32, sampleRows*n.arch.Latent),
		z: n.be.New(sampleRows, n.arch.Latent)}
	for l := 1; l < n.dec.layers(); l++ {
		s.hidden = append(s.hidden, n.be.New(sampleRows, n.dec.widths[l]))
	}
	if n.stage.remote {
		s.out = n.be.New(sampleRows, n.visible.Dim)
	}
	return s
}

// Sample decodes fresh draws from the standard Gaussian prior.
func (n *vae) Sample(rng *rand.Rand, dst device.Matrix) {
	s, _ := n.scratch.Get().(*vaeScratch)
	if s == nil {
		s = n.newScratch()
	}
	defer n.scratch.Put(s)
	for lo := 0; lo < dst.Rows; lo += sampleRows {
		n.sampleBlock(s, rng, dst.RowRange(lo, min(lo+sampleRows, dst.Rows)))
	}
}

func (n *vae) sampleBlock(s *vaeScratch, rng *rand.Rand, dst device.Matrix) {
	normals := s.normals[:dst.Rows*n.arch.Latent]
	for i := range normals {
		normals[i] = float32(rng.NormFloat64())
	}
	z := s.z.RowRange(0, dst.Rows)
	n.be.Upload(z, normals)
	if !n.stage.remote || dst.Mem != nil {
		n.decode(s, z, dst)
		return
	}
	out := s.out.RowRange(0, dst.Rows)
	n.decode(s, z, out)
	downloadRows(n.be, dst, out)
}

// decode sets dst to the means of records whose latent variables are z.
func (n *vae) decode(s *vaeScratch, z, dst device.Matrix) {
	n.dec.infer(s.hidden, z, dst)
	n.layout.means(dst)
}

func downloadRows(be device.Backend, dst, src device.Matrix) {
	for i := range dst.Rows {
		be.Download(dst.Row(i), src.RowRange(i, i+1))
	}
}
