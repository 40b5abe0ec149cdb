package judge

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// NeuralNetwork trains a network by stochastic gradient descent. The zero value is
// multinomial logistic regression; Hidden makes it a multilayer perceptron.
//
// Training is ordinary: no clipping, no noise, no ledger.
type NeuralNetwork struct {
	Hidden       []int   // widths of the hidden layers; none for logistic regression
	Epochs       int     // passes over the records; 0 for 10, or for 2000 steps if that is more
	Batch        int     // records per step; 0 for 100
	LearningRate float64 // learning rate of Adam, which falls to 0 during training; 0 for 0.005
	Seed         uint64  // seed of the initial weights and of the order of records
	Backend      device.Backend
}

// leastSteps is the number of steps that suffices for a linear classifier of few records.
const leastSteps = 2000

// withDefaults replaces zero settings by the defaults for n records.
func (l NeuralNetwork) withDefaults(n int) NeuralNetwork {
	l.Batch = cmp.Or(l.Batch, 100)
	if l.Epochs == 0 {
		l.Epochs = max(10, leastSteps/l.stepsOf(max(n, 1)))
	}
	l.LearningRate = cmp.Or(l.LearningRate, 5e-3)
	if l.Backend == nil {
		l.Backend = device.CPU()
	}
	return l
}

// stepsOf returns the number of steps of one pass over n records.
func (l NeuralNetwork) stepsOf(n int) int { return 1 + (n-1)/max(l.Batch, 1) }

// Validate reports every invalid setting.
//
// Errors: *[param.Error], joined.
func (l NeuralNetwork) Validate() error {
	const path = "classify.NeuralNetwork."
	l = l.withDefaults(1)
	var k param.Checker
	k.OK(l.Epochs > 0, path+"Epochs", l.Epochs, "a positive number")
	k.OK(l.Batch > 0, path+"Batch", l.Batch, "a positive number")
	k.OK(l.LearningRate > 0 && l.LearningRate < 1e6, path+"LearningRate", l.LearningRate,
		"a positive finite number")
	for i, w := range l.Hidden {
		k.OK(w > 0, fmt.Sprintf("%sHidden[%d]", path, i), w, "a positive width")
	}
	return k.Err()
}

// Name returns the usual name of the network.
func (l NeuralNetwork) Name() string {
	if len(l.Hidden) == 0 {
		return "logistic regression"
	}
	return fmt.Sprintf("multilayer perceptron %v", l.Hidden)
}

// Fit trains a classifier on labelled records.
//
// Errors: *[param.Error] for invalid settings, records without classes, or no records. Guarantee:
// none; see the package. The classifier's parameters may reveal the records that it was trained on.
func (l NeuralNetwork) Fit(d records.Data) (*Classifier, error) { return Fit(l, d) }

// Learn trains on records that have been read.
func (l NeuralNetwork) Learn(x *Design) (Scorer, error) {
	l = l.withDefaults(x.Rows())
	net, err := models.MLP{Hidden: l.Hidden}.Classifier(l.Backend, x.Dim, x.Classes, l.Seed)
	if err != nil {
		return nil, err
	}
	l.train(net, x)
	return network{net}, nil
}

// train runs minibatch Adam with a learning rate that falls linearly to 0.
func (l NeuralNetwork) train(net *models.Classifier, x *Design) {
	var (
		b       device.Batch
		n       = x.Rows()
		order   = make([]int32, n)
		descent = net.Descent(l.Backend, l.LearningRate, l.Epochs*l.stepsOf(n))
		rng     = rand.New(rand.NewPCG(l.Seed, 0x6c6561726e))
	)
	for i := range order {
		order[i] = int32(i)
	}
	for range l.Epochs {
		rng.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
		for lo := 0; lo < n; lo += l.Batch {
			x.gather(order[lo:min(lo+l.Batch, n)], &b)
			descent(net.Gradients(b), b.Rows)
		}
	}
}

// network is a trained network as a Scorer.
type network struct{ net *models.Classifier }

func (n network) Scores(b device.Batch, dst []float64) {
	p := make([]float32, len(dst))
	n.net.Predict(b, device.HostMatrix(b.Rows, n.net.Classes(), p))
	for i, v := range p {
		dst[i] = float64(v)
	}
}

func (n network) Probabilities(b device.Batch, dst []float64) { n.Scores(b, dst) }
