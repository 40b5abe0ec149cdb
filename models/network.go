package models

import (
	"math/rand/v2"
	"reflect"

	"github.com/seed7ba64551/privgen/device"
)

// A Network has parameters and per-example gradients.
//
// Its gradient for one example must be a function of that example (its record, label and key), of
// the current parameters and of state that BeginStep fixed. It must never depend on the other
// examples in the batch. Private training bounds the effect of one record by clipping that record's
// own gradient. So a network that mixes records, for example by batch normalisation or a mean over
// the batch, has no guarantee at all.
type Network interface {
	// Params returns the parameters being trained. Writing them changes the network.
	Params() device.Params
	// Gradients computes the per-example gradients of the loss at the current
	// parameters. The result is valid until the next call. b.Rows may be 0.
	Gradients(b device.Batch) Gradients
}

// Gradients are the per-example gradients of one batch, in any form.
type Gradients interface {
	// SquaredNorms sets dst[i] to ‖gᵢ‖² or to an upper bound of it, computed in float64. NaN or +Inf
	// marks an example that must be left out.
	//
	// Guarantee: private training relies on dst[i] ≥ ‖gᵢ‖² for the rows that
	// AddWeightedSum adds. A larger bound only clips more.
	SquaredNorms(dst []float64)
	// AddWeightedSum adds Σ wᵢ gᵢ to dst, where gᵢ is the gradient of the loss for example i. An
	// example of weight 0 contributes exactly nothing, even if its gradient is not finite.
	// AddWeightedSum may be called several times for one batch.
	AddWeightedSum(dst device.Params, weights []float32)
}

// Gradients may also have a method Losses(dst []float64), which sets dst[i] to the loss of example
// i. A loss is a private statistic of the records, so private training does not call Losses.

// A Replicable network can compute gradients on several cores at a time.
type Replicable interface {
	Network
	// Replica returns a network that computes on be. It reads the original network's parameters in
	// place, and has its own memory for a batch. So the network and its replicas may compute gradients
	// at the same time, but not while the parameters change. After a call of Bind, earlier replicas
	// still read the former parameters. Replica returns nil if be may give other bits than the
	// network's backend.
	//
	// A type that embeds a Replicable and overrides its Gradients must override Replica too. Private
	// training uses replicas of the network's own type only.
	//
	// Guarantee: for a batch with keys, the gradient and the norm of a record have the same bits on
	// the network and on its replicas.
	Replica(be device.Backend) Network
}

// alike reports whether a and b give the same bits: whether they are of the same type and have the
// same name, which for a CPU contains the kernels.
func alike(a, b device.Backend) bool {
	return reflect.TypeOf(a) == reflect.TypeOf(b) && a.Name() == b.Name()
}

// A Stepper has work to do once per step that does not depend on the batch, such as advancing the
// persistent chains of a Boltzmann machine. Training calls BeginStep before the first call of
// Gradients in that step. BeginStep must depend on released parameters and public randomness only.
type Stepper interface{ BeginStep() }

// A Density is a network that models the distribution of records. It is trained on records
// privately and can be sampled.
type Density interface {
	Network
	// Sample fills every row of dst with the mean of one record given a fresh draw of the latent
	// variables. For Bernoulli likelihoods, means are probabilities. Sample is safe for concurrent use
	// if each caller has its own rng and the network is not being trained.
	Sample(rng *rand.Rand, dst device.Matrix)
}

// A Binder can move its parameters into the caller's storage. Several networks can then share one
// contiguous vector.
type Binder interface {
	// Bind copies the current parameters into p and uses p from then on.
	// The shapes of p must be the shapes of Params.
	Bind(p device.Params)
}

// A Stateful network has public state in addition to its parameters. The state is derived from
// released parameters and public randomness only. Sampling and further training start from the
// state, so a saved model should include it.
type Stateful interface {
	// AppendState appends the state to dst.
	AppendState(dst []byte) []byte
	// SetState restores the state that AppendState wrote for a network of the same shape. Errors: an
	// error for state of another length or form.
	SetState(state []byte) error
}

// Visible describes the records that a Density models. All its fields are public.
type Visible struct {
	Dim        int        `json:"dim"`        // coordinates of an encoded record
	Likelihood Likelihood `json:"likelihood"` // how a record is distributed given its mean
	Sparse     bool       `json:"sparse"`     // records are sets of items
	// Blocks group the coordinates of a record; nil means that coordinates are independent. With
	// blocks, Density.Sample returns the probabilities of the levels of a one-hot block. For numbers
	// it returns the means given that they are not missing, and the probabilities of missing
	// indicators. Likelihood applies to numbers.
	Blocks []Block `json:"blocks,omitempty"`
}

// Validate reports every mistake in the description.
//
// Errors: *param.Error values, joined.
func (v Visible) Validate() error {
	var c checker
	c.positive("models.Visible.Dim", v.Dim)
	c.OK(v.Likelihood.known(), "models.Visible.Likelihood", int(v.Likelihood),
		"Bernoulli or GaussianUnit")
	c.OK(!v.Sparse ||
		v.Likelihood == Bernoulli, "models.Visible.Likelihood", v.Likelihood,
		"Bernoulli for sparse binary records")
	v.checkBlocks(&c)
	return c.Err()
}

// A DensityArchitecture is a public description of a Density that can be written as JSON.
type DensityArchitecture interface {
	// New builds the network with fresh parameters from a public seed.
	// Errors: joined *param.Error values, one for each mistake.
	New(be device.Backend, v Visible, seed uint64) (Density, error)
	// Name returns a short stable name, such as "vae".
	Name() string
}
