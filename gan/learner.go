package gan

import (
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/sgd"
)

// A learner trains the generator against the released critic. This is post-processing with public
// randomness.
type learner struct {
	be      device.Backend
	critic  models.Critic
	net     models.Generator
	maker   *network.Maker
	decay   float64
	steps   int
	descent *sgd.Descent
	grad    device.Params
	dx      device.Matrix
	labels  []int32
	params  []float32 // on the host
	flat    []float32
	average []float32
}

func newLearner(be device.Backend, critic models.Critic, net models.Generator, c Config) *learner {
	p := net.Params()
	l := &learner{be: be, critic: critic, net: net, maker: newMaker(be, net, c),
		decay: c.Average, descent: c.GeneratorOptimizer.Descent(p.Len()),
		grad: device.NewParams(be, p.Shapes...), dx: be.New(c.GeneratorBatch, net.Dim()),
		labels: make([]int32, c.GeneratorBatch),
		params: make([]float32, p.Len()), flat: make([]float32, p.Len())}
	be.Download(l.params, p.Flat)
	if l.decay > 0 {
		l.average = append([]float32(nil), l.params...)
	}
	return l
}

// step makes one training step of the generator.
func (l *learner) step(rng *rand.Rand) {
	l.maker.Labels(rng, -1, l.labels)
	x := l.net.Forward(l.maker.Draw(rng, l.labels))
	l.critic.ScoreGradient(l.dx, x, l.labels, -1/float64(len(l.labels)), nil)
	l.be.Fill(l.grad.Flat, 0)
	l.net.Backward(l.dx, l.grad, device.Matrix{})
	l.be.Download(l.flat, l.grad.Flat)
	l.descent.Step(l.params, l.flat, 1)
	l.be.Upload(l.net.Params().Flat, l.params)
	l.steps++
	l.follow()
}

// follow updates the moving average.
func (l *learner) follow() {
	if l.decay == 0 {
		return
	}
	mix := float32(1 - min(l.decay, float64(1+l.steps)/float64(10+l.steps)))
	for i, a := range l.average {
		l.average[i] = a + mix*(l.params[i]-a)
	}
}

// release copies the generator to another network. With an average it copies the averaged
// parameters and computes the statistics of batch norm for them.
func (l *learner) release(into models.Generator, c Config) error {
	if l.decay == 0 {
		l.be.Upload(into.Params().Flat, l.params)
		return into.SetState(l.net.AppendState(nil))
	}
	l.be.Upload(into.Params().Flat, l.average)
	m := newMaker(l.be, into, c)
	rng := rand.New(rand.NewPCG(c.Seed, 0x6e6f726d))
	labels := make([]int32, c.GeneratorBatch)
	for range normBatches {
		m.Labels(rng, -1, labels)
		into.Forward(m.Draw(rng, labels))
	}
	return nil
}

// normBatches is the number of batches from which the batch-norm statistics of an averaged network
// are computed.
const normBatches = 40
