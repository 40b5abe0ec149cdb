package models

import (
	"cmp"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/seed7ba64551/privgen/device"
)

// RBM describes a restricted Boltzmann machine of binary visible and hidden units, trained by
// persistent contrastive divergence. A one-hot block of a record is one visible unit, a softmax
// unit, with one state for each level of the block.
//
// Source: Tieleman, "Training Restricted Boltzmann Machines using Approximations to the Likelihood
// Gradient", 2008. The chains start from a public seed and depend on released parameters only, so
// their statistics are post-processing. They serve as a public centre: they are subtracted from
// each example's statistic before clipping.
//
// The DPGM papers (see PaperVAE) use 200 hidden units, weights from N(0, 0.01²) and a learning rate
// of 0.01. They leave the number of chains open; 100 is a good one. Gradients have large norms,
// about 140 before training. So with a fixed clip norm C, the size of a step depends on C times the
// learning rate.
type RBM struct {
	Hidden int `json:"hidden"` // hidden units
	Chains int `json:"chains"` // persistent chains, a public number
	Sweeps int `json:"sweeps"` // Gibbs sweeps of the chains before each step; 0 means 1
	// SampleSweeps is the number of Gibbs sweeps from the state of a random chain to a
	// sample; 0 means 200.
	SampleSweeps int `json:"sample_sweeps,omitempty"`
	// WeightStd is the standard deviation of the initial weights; 0 means 0.01.
	WeightStd float64 `json:"weight_std,omitempty"`
	// VisibleBias is the initial bias of every visible unit: a public constant, typically the logit
	// of the expected fraction of ones.
	VisibleBias float64 `json:"visible_bias,omitempty"`
}

// Name returns "rbm".
func (RBM) Name() string { return "rbm" }

// Validate reports every mistake in the description, or nil if there is none.
//
// Errors: *param.Error values, joined.
func (a RBM) Validate() error {
	var c checker
	c.positive("models.RBM.Hidden", a.Hidden)
	c.positive("models.RBM.Chains", a.Chains)
	c.nonNegative("models.RBM.Sweeps", a.Sweeps)
	c.nonNegative("models.RBM.SampleSweeps", a.SampleSweeps)
	c.finite("models.RBM.WeightStd", a.WeightStd)
	c.OK(!(a.WeightStd < 0), "models.RBM.WeightStd", a.WeightStd, "a non-negative number")
	c.finite("models.RBM.VisibleBias", a.VisibleBias)
	return c.Err()
}

// New builds the machine with weights and chains drawn from a public seed.
//
// Errors: joined *param.Error values.
func (a RBM) New(be device.Backend, v Visible, seed uint64) (Density, error) {
	var c checker
	c.OK(be != nil, "models.RBM.New", be, "a backend")
	c.Add(a.Validate())
	c.Add(v.Validate())
	c.OK(v.Likelihood == Bernoulli, "models.RBM.New: Visible.Likelihood", v.Likelihood,
		"Bernoulli: the machine's units are binary")
	if err := c.Err(); err != nil {
		return nil, err
	}
	return newRBM(a.withDefaults(), be, v, seed), nil
}

func (a RBM) withDefaults() RBM {
	a.Sweeps, a.SampleSweeps = cmp.Or(a.Sweeps, 1), cmp.Or(a.SampleSweeps, 200)
	a.WeightStd = cmp.Or(a.WeightStd, 0.01)
	return a
}

// The blocks of an RBM's parameters.
const (
	rbmWeights = iota // visible × hidden
	rbmVisible        // 1 × visible
	rbmHidden         // 1 × hidden
)

type rbm struct{ *rbmState }

type rbmState struct {
	arch    RBM
	visible Visible
	layout  *layout // layout of the blocks; nil if records have no blocks
	be      device.Backend
	params  device.Params
	w, b, c device.Matrix

	chains *chains
	stage  staging

	x       record
	rows    int
	room    int
	hidden  device.Matrix // [h | 1] of each example, where h is the mean field
	work    device.Matrix // scratch of the same shape
	vv, hh  []float64
	negated []float32
	total   shares
	scratch sync.Pool
}

func newRBM(a RBM, be device.Backend, v Visible, seed uint64) *rbm {
	n := &rbm{rbmState: &rbmState{arch: a, visible: v, layout: newLayout(v), be: be,
		stage: newStaging(be)}}
	n.params = device.NewParams(be,
		device.Shape{Name: "weight", Rows: v.Dim, Cols: a.Hidden},
		device.Shape{Name: "visible.bias", Rows: 1, Cols: v.Dim},
		device.Shape{Name: "hidden.bias", Rows: 1, Cols: a.Hidden})
	n.rebind()
	if checksOnly(be) {
		return n
	}
	uploadNormals(be, n.w, rand.New(rand.NewPCG(seed, 0x72626d)), a.WeightStd)
	be.Fill(n.b, float32(a.VisibleBias))
	n.chains = newChains(be, a, n.layout, v.Dim, seed)
	n.chains.refresh(n)
	return n
}

func (n *rbm) rebind() {
	n.w, n.b, n.c = n.params.Block(rbmWeights), n.params.Block(rbmVisible), n.params.Block(rbmHidden)
}

// Dim returns the number of visible units.
func (n *rbm) Dim() int { return n.visible.Dim }

// Params returns the weights, the visible biases and the hidden biases.
func (n *rbm) Params() device.Params { return n.params }

// Bind moves the parameters into p.
func (n *rbm) Bind(p device.Params) {
	n.be.Apply(device.Identity, p.Flat, n.params.Flat)
	n.params = p
	n.rebind()
}

// BeginStep advances the persistent chains at the current, released parameters. Their statistics
// are the negative phase of this step.
func (n *rbm) BeginStep() {
	n.chains.advance(n, n.arch.Sweeps)
	n.chains.refresh(n)
}

// AppendState appends the state of the chains.
func (n *rbm) AppendState(dst []byte) []byte { return n.chains.appendState(dst) }

// SetState restores the state of the chains.
func (n *rbm) SetState(state []byte) error {
	if err := n.chains.setState(state); err != nil {
		return err
	}
	n.chains.refresh(n)
	return nil
}

func (n *rbm) resize(rows int) {
	if rows > n.room {
		n.room = roomFor(rows)
		n.hidden = n.be.New(n.room, n.arch.Hidden+1)
		n.work = n.be.New(n.room, n.arch.Hidden+1)
		n.be.Fill(n.hidden, 1)
		n.vv, n.hh, n.negated = make([]float64, n.room), make([]float64, n.room), make([]float32, n.room)
	}
	n.rows = rows
}

// units returns the columns of m that belong to hidden units; m has one more column.
func (n *rbm) units(m device.Matrix) device.Matrix { return m.Slice(0, n.rows, 0, n.arch.Hidden) }

// Gradients returns the gradients of the negative log-likelihood; the chains estimate the partition
// function's part. The gradients are N − vᵢhᵢᵀ for the weights, and n_v − vᵢ and n_h − hᵢ for the
// biases. Here hᵢ = σ(vᵢW + c), and N, n_v and n_h are the chains' means. Add a constant unit to
// the visible and to the hidden units: v′ = [v, 1] and h′ = [h, 1]. Then the gradient is one matrix
// N′ − v′h′ᵀ. Its corner is 0.
func (n *rbm) Gradients(b device.Batch) Gradients {
	n.resize(b.Rows)
	n.x = n.stage.record(b)
	if b.Rows > 0 {
		h := n.units(n.hidden)
		n.visibleTimes(n.w, h)
		n.be.BiasApply(device.Sigmoid, h, n.c)
	}
	return n
}

// meanVisible sets v to the means of the visible units given the hidden units; column is scratch.
//
// The states of a one-hot block are its levels. The states of a block of numbers that can be
// missing are all choices of zeros and ones, and one more state, "missing". Energy and gradient are
// the same as for binary units; only the sum over states has fewer terms.
func (n *rbm) meanVisible(h, v, column device.Matrix) {
	n.be.Gemm(false, true, 1, h, n.w, 0, v)
	if n.layout == nil {
		n.be.BiasApply(device.Sigmoid, v, n.b)
		return
	}
	n.be.BiasApply(device.Identity, v, n.b)
	n.layout.compete(n.be, v, column)
	n.layout.means(n.be, v)
}

// visibleTimes sets dst = V·m.
func (n *rbm) visibleTimes(m, dst device.Matrix) {
	if n.x.sparse != nil {
		n.be.SparseGemm(n.x.sparse, m, 0, dst)
		return
	}
	n.be.Gemm(false, false, 1, n.x.dense, m, 0, dst)
}

// visibleNorms sets dst to the squared norms of the records.
func (n *rbm) visibleNorms(dst []float64) {
	if n.x.sparse != nil {
		sparseSquaredNorms(dst, n.x.sparse)
		return
	}
	n.be.RowSquaredNorms(dst, n.x.dense)
}

// SquaredNorms sets dst to ‖N′ − v′h′ᵀ‖² = ‖v′‖²‖h′‖² − 2 v′ᵀN′h′ + ‖N′‖², plus a bound of the
// rounding error. The bound is needed because the terms nearly cancel for an example that the
// machine models well. With a norm that is too small, the clipped gradient would exceed the clip
// norm.
//
// Everything is computed in float64 except the product V·N. Its elements are sums of k float32
// products. Each has an error of at most γ Σ|v||N| with γ = k·2⁻²⁴/(1 − k·2⁻²⁴), for every order of
// the additions (Higham 2002, section 3.1). By the Cauchy–Schwarz inequality, the error of v′ᵀN′h′
// is at most γ‖v′‖‖N′‖‖h′‖. This bound is added.
func (n *rbm) SquaredNorms(dst []float64) {
	if n.rows == 0 {
		return
	}
	k, vv, hh := n.chains, n.vv[:n.rows], n.hh[:n.rows]
	h, work := n.hidden.RowRange(0, n.rows), n.work.RowRange(0, n.rows)
	n.visibleNorms(vv)
	n.be.RowSquaredNorms(hh, h)
	n.visibleTimes(k.inner, work)
	n.be.BiasApply(device.Identity, work, k.border)
	n.be.RowDots(dst[:n.rows], work, h)
	for i, cross := range dst[:n.rows] {
		product := (bounded(vv[i]) + 1) * bounded(hh[i])
		dst[i] = distanceBound(product, cross, k.squared, n.visible.Dim+2, n.arch.Hidden+1)
	}
}

// distanceBound returns an upper bound of product − 2·cross + squared. cross was computed with
// float32 sums of `terms` products, and the other numbers with float64 sums of at most terms +
// others products. For 2²³ terms or more, the error bound of the float32 sums is useless, and the
// Cauchy–Schwarz bound replaces cross.
func distanceBound(product, cross, squared float64, terms, others int) float64 {
	rounding := (product + squared) * max(0x1p-40, float64(terms+others)*0x1p-51)
	root := math.Sqrt(product * squared)
	ku := float64(terms) * 0x1p-24
	if !(ku < 0.5) {
		return product + 2*root + squared + rounding
	}
	gamma := ku / (1 - ku)
	return max(product-2*cross+squared, 0) + 2*gamma*root + rounding
}

// AddWeightedSum adds (Σw)·N′ − Σ wᵢ v′ᵢh′ᵢᵀ to the three blocks of dst.
func (n *rbm) AddWeightedSum(dst device.Params, weights []float32) {
	if n.rows == 0 {
		return
	}
	n.dropNonFinite(weights)
	total := 0.0
	for i, w := range weights[:n.rows] {
		n.negated[i] = -w
		total += float64(w)
	}
	negated, h := n.negated[:n.rows], n.units(n.hidden)
	if total != 0 { // 0·NaN is not 0
		n.chains.addMeans(dst, float32(total))
	}
	n.be.ColSums(negated, h, 1, dst.Block(rbmHidden))
	work := n.units(n.work)
	n.be.Apply(device.Identity, work, h)
	n.be.ScaleRows(work, negated)
	if n.x.sparse != nil {
		n.be.SparseGemmT(n.x.sparse, work, 1, dst.Block(rbmWeights))
		n.sparseVisibleSum(dst.Block(rbmVisible))
		return
	}
	n.be.Gemm(true, false, 1, n.x.dense, work, 1, dst.Block(rbmWeights))
	n.be.ColSums(negated, n.x.dense, 1, dst.Block(rbmVisible))
}

// sparseVisibleSum adds −Σ wᵢvᵢ to dst: the transpose of the sparse records times the column of
// negated weights.
func (n *rbm) sparseVisibleSum(dst device.Matrix) {
	column := n.work.Slice(0, n.rows, 0, 1)
	n.be.Fill(column, 1)
	n.be.ScaleRows(column, n.negated[:n.rows])
	dst.Rows, dst.Cols, dst.Stride = dst.Cols, 1, 1
	n.be.SparseGemmT(n.x.sparse, column, 1, dst)
}

// dropNonFinite clears examples of weight zero that hold NaN or infinities. It does not clear the
// constant unit, which later batches use.
func (n *rbm) dropNonFinite(w []float32) {
	for i, wi := range w[:n.rows] {
		if wi != 0 {
			continue
		}
		if n.x.sparse == nil {
			clearNonFinite(n.be, n.x.dense.RowRange(i, i+1), n.vv[:1])
		}
		clearNonFinite(n.be, n.units(n.hidden).RowRange(i, i+1), n.vv[:1])
	}
}
