package sgd

import (
	"reflect"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
)

// crew computes the clipped sum of a batch on several cores, each of which takes some rows through
// all layers with its own replica of the network. If the cores shared every operation of one
// network instead, they would wait for each other after each, and read what others had just
// written.
//
// Guarantee: sums and norms have the bits that the network itself gives. The replicas give the same
// bits for a row (see models.Replicable), and sums in fixed point do not depend on the order of
// their terms.
type crew struct {
	share   func(pieces int, do func(piece int)) // the backend's
	members []*member
	form    models.FixedForm

	// operands of the current call
	batch   device.Batch
	norms   []float64
	weights []float32
	sum     device.Fixed
	adding  bool // whether a call of AddFixedSum has begun and not returned

	// made once, so that a step allocates nothing
	gradients, squares, add, take func(i int)
}

// member is one core's part.
type member struct {
	net    models.Network
	lo, hi int
	of     models.Gradients
	sum    device.Fixed // zero between calls that return
}

// leastRows is the number of rows from which a core takes its own rows. With fewer rows, packing
// the parameters once for each core costs more than sharing operations does.
const leastRows = 96

// mostUnits bounds the size of all members' sums together: 256 MiB.
const mostUnits = 1 << 26

// takePiece is the number of units that are moved from one sum to another at a time.
const takePiece = 8192

// newCrew returns a crew for t, or nil if the backend or the network does not allow one: the
// network must be replicable and have no work once per step and no state, which replicas would not
// share, and its sums must be exact.
//
// The size of a sample decides whether the crew or the network computes its gradients. If the two
// differed, one more record would change the gradients of all others. So a crew needs replicas of
// the network's own type. A type that embeds a network has the Replica of this network, which
// knows nothing of methods that the type overrides.
func newCrew(t *Trainer) *crew {
	net, ok := t.net.(models.Replicable)
	_, steps := t.net.(models.Stepper)
	_, state := t.net.(models.Stateful)
	if !ok || steps || state || t.exact == nil || t.exact.alone() || t.share == nil ||
		t.groups != nil || t.be.Workers() < 2 {
		return nil
	}
	c := &crew{share: t.share, form: t.exact.form}
	for i, be := range device.Divide(t.be, min(t.be.Workers(), 1+mostUnits/t.params.Len())) {
		m := &member{net: net.Replica(be)}
		if m.net == nil || reflect.TypeOf(m.net) != reflect.TypeOf(t.net) || !m.reads(t.params) {
			return nil
		}
		g, ok := m.net.Gradients(device.Batch{}).(models.FixedGradients)
		if _, parts := g.(models.FixedFinisher); !ok || parts || g.FixedForm() != c.form {
			return nil
		}
		if i > 0 {
			m.sum = device.NewFixed(t.be, t.params.Shapes...)
		}
		c.members = append(c.members, m)
	}
	if len(c.members) < 2 {
		return nil
	}
	c.gradients = func(i int) {
		m := c.members[i]
		m.of = m.net.Gradients(c.batch.Slice(m.lo, m.hi))
	}
	c.squares = func(i int) { m := c.members[i]; m.of.SquaredNorms(c.norms[m.lo:m.hi]) }
	c.add = c.addMember
	c.take = c.takeUnits
	return c
}

// reads reports whether the parameters of the member's network are stored in p.
func (m *member) reads(p device.Params) bool {
	own := m.net.Params().Flat.Data
	return len(own) > 0 && len(own) == len(p.Flat.Data) && &own[0] == &p.Flat.Data[0]
}

// replicates reports whether the replicas still read the parameters of net. They do not if a caller
// of Bind has moved the parameters.
func (c *crew) replicates(net models.Network) bool { return c.members[0].reads(net.Params()) }

// takes reports whether the crew computes the gradients of a batch of the given number of rows.
func (c *crew) takes(rows int) bool { return c != nil && rows >= leastRows*len(c.members) }

// Gradients returns the gradients of b, which the members compute.
func (c *crew) Gradients(b device.Batch) models.Gradients {
	c.batch = b
	for i, m := range c.members {
		m.lo, m.hi = i*b.Rows/len(c.members), (i+1)*b.Rows/len(c.members)
	}
	c.share(len(c.members), c.gradients)
	return c
}

// SquaredNorms implements models.Gradients.
func (c *crew) SquaredNorms(dst []float64) {
	c.norms = dst
	c.share(len(c.members), c.squares)
}

// AddWeightedSum implements models.Gradients.
func (c *crew) AddWeightedSum(dst device.Params, weights []float32) {
	for _, m := range c.members {
		m.of.AddWeightedSum(dst, weights[m.lo:m.hi])
	}
}

// FixedForm implements models.FixedGradients. It returns the zero form if the gradients of a member
// have another form than those of an empty batch.
func (c *crew) FixedForm() models.FixedForm {
	for _, m := range c.members {
		if g, ok := m.of.(models.FixedGradients); !ok || g.FixedForm() != c.form {
			return models.FixedForm{}
		}
	}
	return c.form
}

// AddFixedSum implements models.FixedGradients.
func (c *crew) AddFixedSum(dst device.Fixed, weights []float32) {
	if c.adding { // a call panicked, and its caller recovered
		for _, m := range c.members[1:] {
			clear(m.sum.Units)
		}
	}
	c.adding = true
	c.sum, c.weights = dst, weights
	c.share(len(c.members), c.add)
	c.share((len(dst.Units)+takePiece-1)/takePiece, c.take)
	c.adding = false
}

func (c *crew) addMember(i int) {
	m, sum := c.members[i], c.sum
	if i > 0 {
		m.sum.Unit, m.sum.Chain, m.sum.Limit = sum.Unit, sum.Chain, sum.Limit
		sum = m.sum
	}
	m.of.(models.FixedGradients).AddFixedSum(sum, c.weights[m.lo:m.hi])
}

func (c *crew) takeUnits(piece int) {
	lo := piece * takePiece
	for _, m := range c.members[1:] {
		c.sum.Take(m.sum, lo, min(lo+takePiece, len(c.sum.Units)))
	}
}
